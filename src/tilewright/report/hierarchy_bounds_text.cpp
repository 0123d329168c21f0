#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"

namespace tilewright {

std::string to_text(const BoundStudy& study) {
  std::size_t width = 5;
  for (const LayerFloor& layer : study.layers) width = std::max(width, layer.name.size());
  std::string text = fmt::format("{} on {}: what every mapping costs at least (model {})\n", study.network, study.machine,
                                 name(study.judge));
  text += fmt::format("{:<{}} {:>5} {:>14} {:>12} {:>14}\n", "layer", width, "count", "cycles", "energy uJ", "EDP J*cycles");
  const auto cycles = [](double value) {
    return std::isfinite(value) ? with_thousands(static_cast<std::int64_t>(value)) : std::string("nothing fits");
  };
  for (const LayerFloor& layer : study.layers) {
    text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4f} {:>14.6g}\n", layer.name, width, layer.count, cycles(layer.cycles),
                        layer.energy_pj * 1e-6, layer.edp());
  }
  return text + fmt::format("{:<{}} {:>5} {:>14} {:>12.4f} {:>14.6g}\n", "all", width, "", cycles(study.cycles),
                            study.energy_pj * 1e-6, study.energy_pj * study.cycles * 1e-12);
}

}  // namespace tilewright
