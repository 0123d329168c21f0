#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/mapping.hpp"
#include "tilewright/report/record_text.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

std::string factor_text(const std::optional<double>& factor) { return factor ? fmt::format("{:.2f}x", *factor) : "-"; }

}  // namespace

std::string to_text(const MappingStudy& result) {
  std::size_t width = 5;
  for (const MappedLayer& layer : result.layers) width = std::max(width, layer.name.size());
  std::string text = fmt::format("{} on {}, {} minimised by {} ({} samples per layer, seed {}, model {})\n", result.network,
                                 result.machine.name, name_of(result.objective), result.search,
                                 with_thousands(result.samples), result.seed, name_of(result.model));
  text += fmt::format("{:<{}} {:>5} {:>14} {:>12} {:>12} {:>6} {:>12} {:<12} {:>8}\n", "layer", width, "count", "cycles",
                      "energy nJ", "EDP", "util", "vs dataflow", "", "optimum");
  for (const MappedLayer& layer : result.layers) {
    if (!layer.found) {
      text += fmt::format("{:<{}} {:>5} {:>14}\n", layer.name, width, layer.count, "no mapping");
      continue;
    }
    const Metrics& metrics = layer.found->metrics;
    text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4g} {:>12.4g} {:>5.1f}% {:>12} {:<12} {:>8}{}\n", layer.name, width,
                        layer.count, with_thousands(std::llround(metrics.latency)), metrics.energy, metrics.edp(),
                        100 * utilisation(metrics, result.machine.simd_lanes), factor_text(layer.dataflow_factor),
                        layer.dataflow, factor_text(layer.optimum_factor), is_loss(layer) ? "  LOSS" : "");
  }
  const MappingTotals totals = totals_of(result);
  text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4g} {:>12.4g} {:>5.1f}% {:>12} {:<12}\n", "all", width, "",
                      with_thousands(std::llround(totals.metrics.latency)), totals.metrics.energy, totals.metrics.edp(),
                      100 * utilisation(totals.metrics, result.machine.simd_lanes), factor_text(totals.dataflow_factor),
                      "best of each");
  if (totals.metrics.latency > 0) {
    text += fmt::format("{} and {} per inference: {:.4g} inferences/s, {}, at {:g} GHz\n",
                        time_text(totals.metrics.latency, result.machine), energy_text(totals.metrics.energy),
                        1 / seconds_of(totals.metrics.latency, result.machine), power_text(totals.metrics.power),
                        result.machine.clock_ghz);
  }
  text += record_text(result, totals, "tilings of classic dataflows");
  if (has_front(result)) text += front_text(fronts_of(result));
  for (const std::string& remark : remarks_of(result)) text += remark + "\n";
  return text;
}

}  // namespace tilewright
