#include <nlohmann/json.hpp>

#include "tilewright/base/seal.hpp"
#include "tilewright/study/assignment.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kAgentsFormat = "tilewright-agents-1";

Json dendrogram_json(const Dendrogram& dendrogram) {
  Json merges = Json::array();
  for (const Merge& merge : dendrogram.merges) {
    merges.push_back({{"a", merge.a}, {"b", merge.b}, {"height", merge.height}, {"size", merge.size}});
  }
  return {{"merges", merges}, {"order", dendrogram.order}};
}

Json stability_json(const std::vector<StabilityRow>& rows) {
  Json json = Json::array();
  for (const StabilityRow& row : rows) {
    json.push_back({{"changed", row.varied},
                    {"to", row.to},
                    {"mean", row.mean},
                    {"low", row.low},
                    {"high", row.high},
                    {"n", row.count},
                    {"agents", row.agents}});
  }
  return json;
}

}  // namespace

std::string to_json(const AssignmentStudy& result) {
  const AgentsQuestion& question = result.question;
  Json json{{"format", kAgentsFormat},
            {"verb", "agents"},
            {"version", TILEWRIGHT_VERSION},
            {"command", result.command},
            {"network", result.network},
            {"hardware", result.hardware},
            {"model", model_text(result.options.model, result.options)},
            {"objective", name_of(question.objective)}};
  for (const auto& [fact, value] : space_facts(result.options)) json[fact] = value;
  json.update({{"explore", question.exploration.policy},
               {"seed", question.exploration.seed},
               {"samples", result.samples},
               {"samples_per_layer", question.exploration.samples_per_problem},
               {"feasible", result.feasible},
               {"correlation", name_of(question.correlation.dependence)},
               {"quantile", question.correlation.quantile},
               {"contrast", question.correlation.contrast},
               {"linkage", name_of(question.clustering.linkage)}});
  json["threshold"] = question.clustering.threshold ? Json(*question.clustering.threshold) : Json();
  json["agents_asked"] = question.clustering.agents ? Json(*question.clustering.agents) : Json();
  json["layers"] = Json::array();
  for (const DesignSpace* space : question.spaces) {
    json["layers"].push_back(
        {{"name", space->name()}, {"parameters", space->parameters().size()}, {"log10_size", space->log10_size()}});
  }
  json["parameters"] = Json::array();
  for (const Parameter& parameter : result.parameters) {
    json["parameters"].push_back({{"name", parameter.name},
                                  {"kind", parameter.kind == ParameterKind::Ordinal ? "ordinal" : "categorical"},
                                  {"role", name_of(parameter.role)},
                                  {"most_values", parameter.value_count}});
  }
  json["assignment"] = {{"origin", result.found.assignment.origin},
                        {"silhouette", result.found.silhouette},
                        {"agents", result.found.assignment.agents}};
  json["matrix"] = Json::array();
  const std::size_t count = result.found.matrix.names.size();
  for (std::size_t a = 0; a < count; ++a) {
    Json line = Json::array();
    for (std::size_t b = 0; b < count; ++b) line.push_back(result.found.matrix(a, b));
    json["matrix"].push_back(line);
  }
  json["dendrogram"] = dendrogram_json(result.found.dendrogram);
  json["stability"] = stability_json(result.stability);
  json["stability_samples"] = result.stability_samples;
  json["coverage"] = to_json(result.coverage);
  json["remarks"] = remarks_of(result);
  return sealed(std::move(json), 2);
}

}  // namespace tilewright
