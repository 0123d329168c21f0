#include "tilewright/study/hierarchy_json.hpp"

#include <nlohmann/json.hpp>

namespace tilewright {

using Json = nlohmann::ordered_json;

Json levels_json(const hierarchy::Analysis& analysis, const hierarchy::Problem& problem, const hierarchy::Machine& machine) {
  Json levels = Json::array();
  for (std::size_t index = 0; index < analysis.levels.size(); ++index) {
    const hierarchy::LevelAnalysis& level = analysis.levels[index];
    Json json{{"name", machine.levels[index].name},
              {"cycles", level.cycles},
              {"energy_pj", level.energy.value},
              {"network_energy_pj", level.network_energy.value},
              {"tensors", Json::object()}};
    for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      const hierarchy::TensorCounts& counts = level.tensors[tensor];
      if (!counts.kept) continue;
      json["tensors"][problem.tensors[tensor].name] = {{"tile", counts.tile},
                                                       {"reads", counts.reads},
                                                       {"fills", counts.fills},
                                                       {"updates", counts.updates},
                                                       {"energy_pj", counts.energy.value}};
    }
    levels.push_back(std::move(json));
  }
  return levels;
}

Json cost_json(const hierarchy::Analysis& analysis, const hierarchy::Problem& problem, const hierarchy::Machine& machine) {
  const hierarchy::Cost& cost = analysis.cost;
  return {{"cycles", cost.cycles.value},
          {"milliseconds", static_cast<double>(cost.cycles.value) / (machine.clock_ghz * 1e6)},
          {"energy_pj", cost.energy.value},
          {"edp", cost.edp()},
          {"macs", analysis.computes},
          {"utilisation", cost.utilization},
          {"bottleneck", level_name(machine, cost.bottleneck)},
          {"mac_energy_pj", analysis.mac_energy.value},
          {"levels", levels_json(analysis, problem, machine)}};
}

Json misfit_json(const hierarchy::Infeasible& misfit, const hierarchy::Machine& machine) {
  return {{"reason", name_of(misfit.reason)},
          {"level", level_name(machine, misfit.level)},
          {"need", misfit.need},
          {"limit", misfit.limit}};
}

}  // namespace tilewright
