// Any bytes given to the ONNX reader end in one sentence or in a network that YAML can hold.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/workload/network.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto network = tilewright::network_from_onnx(bytes, "fuzz.onnx", {.batch = 3});
  if (!network) {
    const std::string& sentence = network.error().message;
    if (!sentence.starts_with("fuzz.onnx: ") || sentence.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (std::size_t i = 0; i < network->layers.size(); ++i) {
    for (const std::size_t input : network->layers[i].inputs) {
      if (input >= i) std::abort();
    }
  }
  if (macs(*network).value < 0) std::abort();
  if (network->layers.empty()) return 0;
  const auto again = tilewright::network_from_yaml(to_yaml(*network), "again.yaml");
  if (!again || !(*again == *network)) std::abort();
  return 0;
}
