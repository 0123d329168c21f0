// Any bytes read as a network give a sentence or a network that is safe to sum over and is written and read back unchanged.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/workload/network.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Network> network = network_from_yaml(text, "fuzz.yaml");
  if (!network) {
    if (network.error().message.empty()) std::abort();
    return 0;
  }
  if (macs(*network).value < 1) std::abort();
  for (const NetworkLayer& entry : network->layers) {
    const TensorSizes sizes = tensor_sizes(entry.layer);
    if (sizes.input.value < 1 || sizes.weight.value < 1 || sizes.output.value < 1) std::abort();
  }
  const Result<Network> again = network_from_yaml(to_yaml(*network), "again.yaml");
  if (!again || !(*again == *network)) std::abort();
  return 0;
}
