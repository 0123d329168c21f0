// Any bytes given to the reader of schedules end in one sentence or in schedules that fit a layer or say why not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/vta/schedule_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<vta::Schedules> schedules = vta::schedules_from_json(text, "fuzz.json");
  if (!schedules) {
    const std::string& sentence = schedules.error().message;
    if (!sentence.starts_with("fuzz.json:") || sentence.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  static const Layer layer = convolution("conv", {.out_channels = 64, .in_channels = 64, .in_height = 56, .in_width = 56});
  for (const auto& [name, schedule] : *schedules) {
    const auto misfit = vta::misfit(layer, vta::Machine{}, schedule);
    if (misfit && misfit->sentence().empty()) std::abort();
  }
  return 0;
}
