#include <nlohmann/json.hpp>

#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"
#include "tilewright/study/hierarchy_evaluation.hpp"
#include "tilewright/study/hierarchy_json.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {

using Json = nlohmann::ordered_json;

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
      entry["cost"] = cost_json(*result.analysis, layer.problem, study.machine);
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
