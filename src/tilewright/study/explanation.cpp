#include "tilewright/study/explanation.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/space/mapping_outcome.hpp"
#include "tilewright/study/explanation_parts.hpp"
#include "tilewright/study/mapping_job.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Candidate candidate_of(const std::string& dataflow, const Mapping& mapping, const LayerJob& layer,
                       const EvaluationJob& job) {
  Candidate candidate{dataflow, mapping, relax(mapping, layer.nest, job.accelerator, job.model), {}, {}};
  if (candidate.relaxation) return candidate;
  const Evaluation evaluation = evaluate(mapping, layer.nest, job.accelerator, job.model);
  candidate.cost = std::get<Cost>(evaluation);
  candidate.metrics = outcome_of(evaluation, macs(layer.nest), job.accelerator, false).metrics;
  return candidate;
}

// Fitting the machine comes first, then keeping the limits, then being mended by smaller tiles.
Result<Candidate> nearest_classic(const LayerJob& layer, const EvaluationJob& job, const std::string& wanted,
                                  const Limits& limits) {
  std::optional<Candidate> nearest;
  std::optional<Error> error;
  const auto rank = [&](const Candidate& one) {
    return std::pair(one.cost ? 0 : one.relaxation->tiles.empty() ? 2 : 1, one.cost ? excess_of(limits, one.metrics) : 0);
  };
  for (const Dataflow& known : dataflows()) {
    if (!wanted.empty() && known.name != wanted) continue;
    const Result<Mapping> mapping = dataflow(known.name, layer.nest, job.accelerator, StridedTiles::Several);
    if (!mapping) {
      error = mapping.error();
      continue;
    }
    Candidate one = candidate_of(std::string(known.name), *mapping, layer, job);
    if (!nearest || rank(one) < rank(*nearest)) nearest = std::move(one);
  }
  if (nearest) return *std::move(nearest);
  return *error;
}

Result<EvaluationJob> explained_job(const EvaluationOptions& options, const LimitOptions& limits) {
  if (options.network.empty()) return invalid("--network is missing, expected zoo:NAME or a file");
  if (options.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  EvaluationOptions wanted = options;
  const bool brings_mappings = wanted.network.ends_with(".m");
  if (wanted.mapping.empty() && wanted.dataflow.empty() && !brings_mappings) wanted.dataflow = dataflows().front().name;
  TW_TRY(EvaluationJob job, read_evaluation_job(wanted));
  TW_TRY(job.accelerator, within_limits(std::move(job.accelerator), limits, wanted.hardware));
  if (is_maestro(job.model)) {
    return invalid(fmt::format("explain is about the sound and exact models, --model is '{}'", name_of(job.model)));
  }
  return job;
}

Json relaxation_json(const Relaxation& relaxation) {
  Json json;
  json["status"] = "error";
  json["reason"] = name_of(relaxation.why.reason);
  json["msg"] = to_sentence(relaxation.why);
  json["raised_limits"] = Json::array();
  for (const Limit& limit : relaxation.raised_limits) {
    json["raised_limits"].push_back({{"reason", name_of(limit.reason)}, {"need", limit.need}, {"limit", limit.limit}});
  }
  json["tiles"] = Json::array();
  for (const TileChange& change : relaxation.tiles) {
    json["tiles"].push_back({{"level", change.level},
                             {"dim", change.dim ? std::string(name_of(*change.dim)) : "cluster"},
                             {"from", change.from},
                             {"to", change.to}});
  }
  if (relaxation.changed) json["mapping"] = to_maestro(*relaxation.changed);
  return json;
}

Json layer_json(const ExplainedLayer& layer, const ExplanationStudy& study) {
  Json json{{"name", layer.name}};
  if (!layer.candidate) {
    json.update({{"status", "error"}, {"reason", "no-mapping"}, {"msg", layer.candidate.error().message}});
    return json;
  }
  const Candidate& candidate = *layer.candidate;
  if (!candidate.dataflow.empty()) json["dataflow"] = candidate.dataflow;
  if (candidate.relaxation) {
    json.update(relaxation_json(*candidate.relaxation));
    return json;
  }
  json["status"] = broken_limit(study.limits, candidate.metrics) ? "over-limit" : "ok";
  if (!limits_of(study.limits).empty()) json["limits"] = limits_json(study.limits, candidate.metrics);
  return json;
}

}  // namespace

Json limits_json(const Limits& limits, const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [metric, limit] : limits_of(limits)) {
    const double value = value_of(metric, metrics);
    json[std::string(name_of(metric))] = {{"limit", limit}, {"value", value}, {"factor", value / limit}};
  }
  return json;
}

Result<ExplanationStudy> explain(const EvaluationOptions& options, const LimitOptions& limits) {
  TW_TRY(const EvaluationJob job, explained_job(options, limits));
  ExplanationStudy study{job.network, job.accelerator, {}, options.dataflow.empty(), {}};
  TW_TRY(study.limits, limits_from(limits));
  Objective objective;
  objective.limits = study.limits;
  TW_TRY([[maybe_unused]] const Done known, check_area(objective, job.accelerator, options.hardware));
  const bool classic = !options.dataflow.empty() || (options.mapping.empty() && !options.network.ends_with(".m"));
  for (const LayerJob& layer : job.layers) {
    if (classic) {
      study.layers.push_back({layer.name, nearest_classic(layer, job, options.dataflow, study.limits)});
    } else if (layer.mapping) {
      study.layers.push_back({layer.name, candidate_of("", *layer.mapping, layer, job)});
    } else {
      study.layers.push_back({layer.name, layer.mapping.error()});
    }
  }
  return study;
}

bool is_feasible(const ExplanationStudy& study) {
  return std::ranges::all_of(study.layers, [&](const ExplainedLayer& layer) {
    return layer.candidate && !layer.candidate->relaxation && !broken_limit(study.limits, layer.candidate->metrics);
  });
}

std::string to_json(const ExplanationStudy& study) {
  Json layers = Json::array();
  for (const ExplainedLayer& layer : study.layers) layers.push_back(layer_json(layer, study));
  return Json{{"layers", layers}}.dump(2) + "\n";
}

}  // namespace tilewright
