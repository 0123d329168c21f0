// Any bytes read as a GAMMA table give a sentence or a network whose YAML is read back as the same network.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/workload/network.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Network> network = network_from_gamma_csv(text, "fuzz.csv");
  if (!network) {
    if (network.error().message.empty()) std::abort();
    return 0;
  }
  if (macs(*network).value < 1) std::abort();
  const Result<Network> again = network_from_yaml(to_yaml(*network), "again.yaml");
  if (!again || !(*again == *network)) std::abort();
  return 0;
}
