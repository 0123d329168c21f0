#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/report/hierarchy_energy.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"
#include "tilewright/report/record_text.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

double seconds_of(std::int64_t cycles, const hierarchy::Machine& machine) {
  return static_cast<double>(cycles) / (machine.clock_ghz * 1e9);
}

}  // namespace

std::string gap_text(const std::optional<HierarchyLayer::Bound>& bound) {
  if (!bound) return "-";
  if (bound->proven()) return "optimal";
  return bound->gap() < 9.995 ? fmt::format("{:.2f} %", 100 * bound->gap()) : fmt::format("{:.0f}x", 1 + bound->gap());
}

std::string to_text(const HierarchyStudy& study) {
  std::size_t width = 5;
  for (const HierarchyLayer& layer : study.layers) width = std::max(width, layer.name.size());
  std::string text = fmt::format("{} on {}, {} minimised by {} ({} samples per layer, seed {}, model {})\n", study.network,
                                 study.machine.name, name_of(study.objective), study.search, with_thousands(study.samples),
                                 study.seed, name(study.judge));
  text += fmt::format("{:<{}} {:>5} {:>14} {:>12} {:>14} {:>6} {:<10} {:>10} {:>12} {}\n", "layer", width, "count", "cycles",
                      "energy uJ", "EDP J*cycles", "util", "limited by", "gap", "vs dataflow", "");
  const auto factor = [](const std::optional<double>& value) { return value ? fmt::format("{:.2f}x", *value) : "-"; };
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.found) {
      text += fmt::format("{:<{}} {:>5} {:>14}\n", layer.name, width, layer.count, "no mapping");
      continue;
    }
    const hierarchy::Cost& cost = layer.found->analysis.cost;
    text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4f} {:>14.6g} {:>5.1f}% {:<10} {:>10} {:>12} {}{}\n", layer.name, width,
                        layer.count, with_thousands(cost.cycles.value), cost.energy.value * 1e-6, cost.edp(),
                        100 * cost.utilization, level_name(study.machine, cost.bottleneck), gap_text(layer.bound),
                        factor(layer.dataflow_factor), layer.dataflow, is_loss(layer) ? "  LOSS" : "");
  }
  const HierarchyTotals totals = totals_of(study);
  if (totals.cycles.value > 0) {
    text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4f} {:>14.6g} {:>6} {:<10} {:>10} {:>12} {}\n", "all", width, "",
                        with_thousands(totals.cycles.value), totals.energy.value * 1e-6,
                        totals.energy.value * static_cast<double>(totals.cycles.value) * 1e-12, "", "",
                        gap_text(bound_of(study)), factor(totals.dataflow_factor), "best of each");
    const double seconds = seconds_of(totals.cycles.value, study.machine);
    text += fmt::format("{} and {} per inference: {:.4g} inferences/s, {}, at {:g} GHz\n", in_units(seconds, "s"),
                        in_units(totals.energy.value * 1e-12, "J"), 1 / seconds, power_text(totals.metrics.power),
                        study.machine.clock_ghz);
    text += "Energy, with the tensors' shares of the whole:\n" + energy_text(energy_of(study));
  }
  text += record_text(study, totals, "classic dataflows");
  if (has_front(study)) text += front_text(fronts_of(study));
  if (study.layers.size() == 1 && study.layers[0].found) {
    text += to_text(study.layers[0].found->mapping, study.layers[0].problem, study.machine);
  }
  for (const std::string& remark : remarks_of(study)) text += remark + "\n";
  return text;
}

}  // namespace tilewright
