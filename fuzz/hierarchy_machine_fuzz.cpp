// Any bytes read as a machine with memory levels, ours or Timeloop's, or as tables that price one, give a sentence or a
// sound machine whose YAML is read back as the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::hierarchy;

constexpr const char* kPriced = R"(arch:
  arithmetic: {name: mac, instances: 4}
  storage: [{name: L1, entries: 32, instances: 4, cluster_size: 2}, {name: DRAM, technology: DRAM}]
)";

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
  const Result<EnergyReference> reference = energy_reference_from_yaml(text, "fuzz.yaml");
  if (reference) {
    check_result(machine_from_timeloop(kPriced, "priced.yaml", &*reference));
  } else if (reference.error().message.empty()) {
    std::abort();
  }
  const Result<Machines> machines = machines_from_json(text, "fuzz.json");
  if (machines) {
    for (const auto& [name, machine] : *machines) check_result(machine);
  }
  return 0;
}
