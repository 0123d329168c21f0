#include <nlohmann/json.hpp>

#include "tilewright/base/seal.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"
#include "tilewright/study/hierarchy_json.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {

namespace {

using Json = nlohmann::ordered_json;

Json metrics_json(const Metrics& metrics) {
  return {{"latency", metrics.latency}, {"energy", metrics.energy},
          {"edp", metrics.edp()},       {"area", metrics.area ? Json(*metrics.area) : Json()},
          {"power", metrics.power},     {"macs", metrics.macs}};
}

void add_bound(Json& json, const HierarchyLayer::Bound& bound) {
  json["lower_bound"] = bound.lower_bound;
  json["gap"] = bound.gap();
  json["proven"] = bound.proven();
}

Json to_json(const HierarchyLayer& layer, const HierarchyStudy& study) {
  Json json{{"name", layer.name}, {"count", layer.count}, {"members", layer.members}, {"problem", to_json(layer.problem)}};
  json["log10_space"] = layer.log10_size;
  json["status"] = layer.found ? "ok" : "failed";
  if (layer.found) {
    const HierarchyLayer::Found& found = *layer.found;
    const hierarchy::Cost& cost = found.analysis.cost;
    json["cycles"] = cost.cycles.value;
    json["energy_pj"] = cost.energy.value;
    json["edp"] = cost.edp();
    json["utilisation"] = cost.utilization;
    json["bottleneck"] = level_name(study.machine, cost.bottleneck);
    json["metrics"] = metrics_json(found.metrics);
    json["score"] = found.score;
    json["mac_energy_pj"] = found.analysis.mac_energy.value;
    json["levels"] = levels_json(found.analysis, layer.problem, study.machine);
    json["mapping"] = to_yaml(found.mapping, layer.problem, study.machine);
    if (layer.dataflow_factor) {
      json["dataflow"] = layer.dataflow;
      json["dataflow_factor"] = *layer.dataflow_factor;
    }
  }
  if (layer.bound) add_bound(json, *layer.bound);
  if (layer.certificate) {
    json["certificate"] = {{"incumbent", layer.certificate->incumbent},
                           {"lower_bound", layer.certificate->lower_bound},
                           {"closed_by", name(layer.certificate->closed)},
                           {"nodes", layer.certificate->nodes},
                           {"evaluations", layer.certificate->evaluations}};
  }
  if (!layer.found) json["explain"] = layer.explain;
  if (layer.nearest) {
    add_limits(json, layer, study.objective.limits);
    json["nearest"] = {{"metrics", metrics_json(layer.nearest->metrics)},
                       {"excess", layer.ledger.limits->excess},
                       {"mapping", to_yaml(layer.nearest->mapping, layer.problem, study.machine)}};
  }
  add_dataflows(json, layer);
  for (const HierarchyLayer::Member& member : layer.front) {
    json["pareto"].push_back({{"metrics", metrics_json(member.metrics)},
                              {"sample", member.sample},
                              {"mapping", to_yaml(member.mapping, layer.problem, study.machine)}});
  }
  add_samples(json, layer);
  return json;
}

}  // namespace

std::string to_json(const HierarchyStudy& study) {
  const HierarchyTotals totals = totals_of(study);
  Json json{{"format", kHierarchyResultFormat},     {"version", TILEWRIGHT_VERSION}, {"network", study.network},
            {"machine", to_yaml(study.machine)},    {"model", name(study.judge)},    {"restriction", study.restriction},
            {"objective", name_of(study.objective)}};
  add_search(json, study);
  json["totals"] = metrics_json(totals.metrics);
  json["totals"]["cycles"] = totals.cycles.value;
  json["totals"]["energy_pj"] = totals.energy.value;
  json["totals"]["mac_energy_pj"] = totals.mac_energy.value;
  for (std::size_t level = 0; level < totals.levels.size(); ++level) {
    json["totals"]["level_energy_pj"][study.machine.levels[level].name] = totals.levels[level].value;
  }
  add_samples(json["totals"], totals);
  if (totals.dataflow_factor) json["totals"]["dataflow_factor"] = *totals.dataflow_factor;
  if (const auto bound = bound_of(study)) add_bound(json["totals"], *bound);
  json["coverage"] = to_json(study.coverage);
  json["layers"] = Json::array();
  for (const HierarchyLayer& layer : study.layers) json["layers"].push_back(to_json(layer, study));
  add_agents(json, study);
  if (has_front(study)) {
    json["pareto"] = {{"bound", study.front.bound}, {"network", Json::array()}};
    for (const NetworkMember& member : study.front.members) {
      json["pareto"]["network"].push_back({{"metrics", metrics_json(member.metrics)}, {"choice", member.choice}});
    }
  }
  json["remarks"] = remarks_of(study);
  return sealed(std::move(json), 1);
}

}  // namespace tilewright
