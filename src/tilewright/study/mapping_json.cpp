#include <cmath>

#include <nlohmann/json.hpp>

#include "tilewright/base/seal.hpp"
#include "tilewright/cost/area.hpp"
#include "tilewright/study/mapping.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Metrics& metrics) {
  return {{"latency", metrics.latency}, {"energy", metrics.energy},
          {"edp", metrics.edp()},       {"area", metrics.area ? Json(*metrics.area) : Json()},
          {"power", metrics.power},     {"macs", metrics.macs},
          {"l1", metrics.l1},           {"l2", metrics.l2},
          {"pes", metrics.pes}};
}

Json to_json(const Nest& nest) {
  Json json{{"kind", static_cast<int>(nest.kind)}, {"batched", nest.batched}};
  for (std::size_t i = 0; i < kDimCount; ++i) {
    const std::string name(name_of(static_cast<Dim>(i)));
    if (nest.size[i] != 0) json["size"][name] = nest.size[i];
    if (nest.stride[i] != 0) json["stride"][name] = nest.stride[i];
  }
  return json;
}

// Of an area by the machine's own figures; MAESTRO's is no sum of true parts.
std::optional<AreaParts> area_parts(const MappedLayer::Found& found, Model model) {
  if (is_maestro(model)) return std::nullopt;
  return area_of(found.machine, Bytes{std::llround(found.metrics.l1)}, Bytes{std::llround(found.metrics.l2)});
}

Json to_json(const MappedLayer& layer, const MappingStudy& result) {
  Json json{{"name", layer.name}, {"count", layer.count}};
  add_layer(json, layer.layer, layer.members);
  json["nest"] = to_json(layer.nest);
  json["log10_space"] = layer.log10_size;
  json["status"] = layer.found ? "ok" : "failed";
  if (layer.found) {
    const MappedLayer::Found& found = *layer.found;
    json["metrics"] = to_json(found.metrics);
    json["score"] = found.score;
    if (const auto parts = area_parts(found, result.model)) {
      json["area_parts"] = {{"pe", parts->pe.value}, {"l1", parts->l1.value}, {"l2", parts->l2.value}};
    }
    json["utilisation"] = utilisation(found.metrics, result.machine.simd_lanes);
    json["pes"] = found.machine.pes;
    json["mapping"] = to_yaml(found.mapping);
    if (found.exact_factor) json["exact_factor"] = *found.exact_factor;
    if (!found.exact_refusal.empty()) json["exact_refusal"] = found.exact_refusal;
    if (layer.dataflow_factor) {
      json["dataflow"] = layer.dataflow;
      json["dataflow_factor"] = *layer.dataflow_factor;
    }
    if (layer.optimum_factor) json["optimum_factor"] = *layer.optimum_factor;
  }
  add_dataflows(json, layer);
  for (const MappedLayer::Member& member : layer.front) {
    json["pareto"].push_back({{"metrics", to_json(member.metrics)},
                              {"pes", member.machine.pes},
                              {"sample", member.sample},
                              {"mapping", to_yaml(member.mapping)}});
  }
  if (!layer.found) json["explain"] = layer.explain;
  if (layer.nearest) {
    add_limits(json, layer, result.objective.limits);
    json["nearest"] = {{"metrics", to_json(layer.nearest->metrics)},
                       {"factor", layer.ledger.limits->excess},
                       {"pes", layer.nearest->machine.pes},
                       {"mapping", to_yaml(layer.nearest->mapping)}};
  }
  add_samples(json, layer);
  return json;
}

}  // namespace

std::string to_json(const MappingStudy& result) {
  const MappingTotals totals = totals_of(result);
  Json json{{"format", "tilewright-map-1"},
            {"version", TILEWRIGHT_VERSION},
            {"network", result.network},
            {"machine", to_yaml(result.machine)},
            {"model", name_of(result.model)},
            {"constraints", static_cast<int>(result.constraints)},
            {"gamma_rules", result.gamma_rules},
            {"objective", name_of(result.objective)},
            {"space", result.space}};
  add_search(json, result);
  json["totals"] = to_json(totals.metrics);
  add_samples(json["totals"], totals);
  if (totals.dataflow_factor) json["totals"]["dataflow_factor"] = *totals.dataflow_factor;
  json["coverage"] = to_json(result.coverage);
  json["layers"] = Json::array();
  for (const MappedLayer& layer : result.layers) json["layers"].push_back(to_json(layer, result));
  add_agents(json, result);
  if (has_front(result)) {
    json["pareto"] = {{"bound", result.front.bound}, {"network", Json::array()}};
    for (const NetworkMember& member : result.front.members) {
      json["pareto"]["network"].push_back({{"metrics", to_json(member.metrics)}, {"choice", member.choice}});
    }
  }
  json["remarks"] = remarks_of(result);
  return sealed(std::move(json), 1);
}

}  // namespace tilewright
