// Any bytes read as an accelerator, ours or MAESTRO's, give a sentence or a sound machine whose YAML is read back as the
// same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/hardware/accelerator.hpp"

namespace {

void check_result(const tilewright::Result<tilewright::Accelerator>& accelerator) {
  using namespace tilewright;
  if (!accelerator) {
    if (accelerator.error().message.empty()) std::abort();
    return;
  }
  if (fault_of(*accelerator)) std::abort();
  const Result<Accelerator> again = accelerator_from_yaml(to_yaml(*accelerator), "again.yaml");
  if (!again || !(*again == *accelerator)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_result(tilewright::accelerator_from_yaml(text, "fuzz.yaml"));
  check_result(tilewright::accelerator_from_maestro(text, "fuzz.m"));
  return 0;
}
