#include <nlohmann/json.hpp>

#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"
#include "tilewright/study/hierarchy_evaluation.hpp"
#include "tilewright/study/hierarchy_json.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json cost_json(const HierarchyEvaluatedLayer& result, const hierarchy::Machine& machine) {
  const hierarchy::Analysis& analysis = *result.analysis;
  const hierarchy::Cost& cost = analysis.cost;
  return {{"cycles", cost.cycles.value},
          {"milliseconds", static_cast<double>(cost.cycles.value) / (machine.clock_ghz * 1e6)},
          {"energy_pj", cost.energy.value},
          {"edp", cost.edp()},
          {"macs", analysis.computes},
          {"utilisation", cost.utilization},
          {"bottleneck", level_name(machine, cost.bottleneck)},
          {"mac_energy_pj", analysis.mac_energy.value},
          {"levels", levels_json(analysis, result.layer.problem, machine)}};
}

}  // namespace

std::string to_json(const HierarchyEvaluationStudy& study) {
  Json json{{"version", TILEWRIGHT_VERSION},       {"network", study.network},
            {"hardware", study.machine.name},      {"model", name(study.judge)},
            {"coverage", to_json(study.coverage)}, {"layers", Json::array()}};
  for (const HierarchyEvaluatedLayer& result : study.layers) {
    const HierarchyLayerJob& layer = result.layer;
    Json entry{{"name", layer.name},
               {"count", layer.count},
               {"members", layer.members},
               {"problem", to_json(layer.problem)},
               {"status", result.analysis ? "ok" : "error"}};
    if (result.analysis) {
      entry["cost"] = cost_json(result, study.machine);
    } else {
      entry.update(result.infeasible ? misfit_json(*result.infeasible, study.machine) : Json{{"reason", "no-mapping"}});
      entry["msg"] = result.failure;
    }
    if (layer.mapping) entry["mapping"] = to_yaml(*layer.mapping, layer.problem, study.machine);
    json["layers"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright
