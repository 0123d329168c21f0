// Any bytes read as a machine with memory levels, ours or Timeloop's, give a sentence or a sound machine whose YAML is read
// back as the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::hierarchy;

void check_result(const Result<Machine>& machine) {
  if (!machine) {
    if (machine.error().message.empty()) std::abort();
    return;
  }
  if (!check(*machine, "checked")) std::abort();
  const Result<Machine> again = machine_from_yaml(to_yaml(*machine), "again.yaml");
  if (!again || !(*again == *machine)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_result(machine_from_yaml(text, "fuzz.yaml"));
  check_result(machine_from_timeloop(text, "fuzz.yaml"));
  const Result<Machines> machines = machines_from_json(text, "fuzz.json");
  if (machines) {
    for (const auto& [name, machine] : *machines) check_result(machine);
  }
  return 0;
}
