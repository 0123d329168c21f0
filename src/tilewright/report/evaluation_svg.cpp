#include <fmt/format.h>

#include "tilewright/report/energy_svg.hpp"
#include "tilewright/report/evaluation.hpp"
#include "tilewright/report/hierarchy_evaluation.hpp"

namespace tilewright {

std::string to_svg(const EvaluationStudy& study) {
  EnergyPicture picture{
      .title = fmt::format("{} on {}", study.network, study.accelerator.name), .parts = {"MAC", "L1", "L2"}, .rows = {}};
  double cycles = 0;
  for (const EvaluatedLayer& result : study.layers) {
    EnergyPicture::Row& row = picture.rows.emplace_back(
        EnergyPicture::Row{.layer = result.layer.name, .count = result.layer.count, .parts = {}, .failure = result.failure});
    if (!result.cost) continue;
    const Cost& cost = *result.cost;
    const auto count = static_cast<double>(row.count);
    cycles += static_cast<double>(cost.runtime.value * row.count);
    row.microjoules = cost.energy.value / 1000 * count;
    for (const Picojoules& part : {cost.energy_parts.mac, cost.energy_parts.l1, cost.energy_parts.l2}) {
      row.parts.push_back(part.value / 1e6 * count);
    }
    row.utilisation = utilisation(cost, study.accelerator);
  }
  picture.milliseconds = cycles / (study.accelerator.clock_ghz * 1e6);
  return to_svg(picture);
}

std::string to_svg(const HierarchyEvaluationStudy& study) {
  EnergyPicture picture{
      .title = fmt::format("{} on {}", study.network, study.machine.name), .parts = {study.machine.mac.name}, .rows = {}};
  for (const hierarchy::StorageLevel& level : study.machine.levels) picture.parts.push_back(level.name);
  double cycles = 0;
  for (const HierarchyEvaluatedLayer& result : study.layers) {
    EnergyPicture::Row& row = picture.rows.emplace_back(
        EnergyPicture::Row{.layer = result.layer.name, .count = result.layer.count, .parts = {}, .failure = result.failure});
    if (!result.analysis) continue;
    const hierarchy::Analysis& analysis = *result.analysis;
    const auto count = static_cast<double>(row.count);
    cycles += static_cast<double>(analysis.cost.cycles.value) * count;
    row.microjoules = analysis.cost.energy.value / 1e6 * count;
    row.parts.push_back(analysis.mac_energy.value / 1e6 * count);
    for (const hierarchy::LevelAnalysis& level : analysis.levels) {
      row.parts.push_back((level.energy + level.network_energy).value / 1e6 * count);
    }
    row.utilisation = analysis.cost.utilization;
  }
  picture.milliseconds = cycles / (study.machine.clock_ghz * 1e6);
  return to_svg(picture);
}

}  // namespace tilewright
