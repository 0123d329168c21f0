#include "tilewright/study/hierarchy_explanation.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"
#include "tilewright/study/explanation_parts.hpp"
#include "tilewright/study/hierarchy_job.hpp"
#include "tilewright/study/hierarchy_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
using Candidate = HierarchyCandidate;

Candidate candidate_of(const std::string& dataflow, const hierarchy::Mapping& mapping, const HierarchyLayerJob& layer,
                       const HierarchyEvaluationJob& job) {
  Candidate candidate{dataflow, mapping, relax(mapping, layer.problem, job.machine, job.judge, layer.restriction), {}, {}};
  if (candidate.relaxation) return candidate;
  hierarchy::Evaluator evaluator(layer.problem, job.machine,
                                 {.judge = job.judge, .detail = hierarchy::EvaluateOptions::Detail::All});
  const hierarchy::Evaluation evaluation = evaluator.evaluate(mapping);
  candidate.analysis = evaluator.analysis();
  candidate.analysis->cost = std::get<hierarchy::Cost>(evaluation);
  candidate.metrics = metrics_of(candidate.analysis->cost, computes(layer.problem), job.machine);
  return candidate;
}

// Fitting the machine comes first, then keeping the limits, then being mended by few changes of the machine.
Result<Candidate> nearest(const HierarchyLayerJob& layer, const HierarchyEvaluationJob& job, const Limits& limits) {
  TW_TRY(const std::unique_ptr<HierarchySpace> space,
         HierarchySpace::make(fmt::format("{}/{}", job.network, layer.name), layer.problem, job.machine,
                              {.judge = job.judge, .restriction = layer.restriction}));
  std::vector<HierarchyClassic> known = classics_of(*space, {.limits = limits});
  known.push_back({kOutermost, space->greedy({}, {})});
  std::optional<Candidate> best;
  const auto rank = [&](const Candidate& one) {
    return std::tuple(one.analysis ? 0 : 1,
                      one.analysis ? excess_of(limits, one.metrics) : excess_of(one.relaxation->fitting),
                      one.analysis ? one.metrics.edp() : 0);
  };
  for (const HierarchyClassic& classic : known) {
    Candidate one = candidate_of(std::string(classic.name), space->mapping(classic.point), layer, job);
    if (!best || rank(one) < rank(*best)) best = std::move(one);
  }
  return *std::move(best);
}

Result<Done> check_limits(const LimitOptions& limits) {
  if (!limits.max_pes && !limits.max_l1 && !limits.max_l2) return Done{};
  return invalid("--max-pes, --max-l1 or --max-l2 does not go with machines of memory levels, expected it to be left out");
}

Json change_json(const hierarchy::MachineChange& change, const hierarchy::Machine& machine) {
  const auto number = [&](double value) {
    return change.what == hierarchy::MachineChange::What::Utilization ? Json(value) : Json(std::llround(value));
  };
  return {{"what", name_of(change.what)},
          {"level", level_name(machine, change.level)},
          {"from", number(change.from)},
          {"to", number(change.to)}};
}

Json relaxation_json(const hierarchy::Relaxation& relaxation, const HierarchyExplainedLayer& layer,
                     const hierarchy::Machine& machine) {
  Json json = misfit_json(relaxation.why, machine);
  json["msg"] = to_sentence(relaxation.why, machine);
  json["machine"] = Json::array();
  for (const hierarchy::MachineChange& change : relaxation.fitting.changes) {
    json["machine"].push_back(change_json(change, machine));
  }
  json["moves"] = Json::array();
  for (const hierarchy::LoopMove& move : relaxation.moves) {
    json["moves"].push_back({{"loop", std::string(1, layer.problem.dims[move.dim])},
                             {"factor", move.factor},
                             {"from", level_name(machine, move.from)},
                             {"was_spread", move.was_spread},
                             {"to", level_name(machine, move.to)}});
  }
  if (!relaxation.moves.empty()) json["mapping"] = to_yaml(relaxation.moved, layer.problem, machine);
  return json;
}

Json layer_json(const HierarchyExplainedLayer& layer, const HierarchyExplanationStudy& study) {
  Json json{{"name", layer.name}};
  if (!layer.candidate) {
    json.update({{"status", "error"}, {"reason", "no-mapping"}, {"msg", layer.candidate.error().message}});
    return json;
  }
  const Candidate& candidate = *layer.candidate;
  if (!candidate.dataflow.empty()) json["dataflow"] = candidate.dataflow;
  if (candidate.relaxation) {
    json["status"] = "error";
    json.update(relaxation_json(*candidate.relaxation, layer, study.machine));
    return json;
  }
  json["status"] = broken_limit(study.limits, candidate.metrics) ? "over-limit" : "ok";
  if (!limits_of(study.limits).empty()) json["limits"] = limits_json(study.limits, candidate.metrics);
  return json;
}

}  // namespace

Result<HierarchyExplanationStudy> explain_levels(const EvaluationOptions& options, const LimitOptions& limits) {
  TW_TRY([[maybe_unused]] const Done checked, check_limits(limits));
  TW_TRY(const HierarchyEvaluationJob job, read_hierarchy_evaluation_job(options, NoMapping::Allowed));
  HierarchyExplanationStudy study{
      job.network, job.machine, job.judge, {}, options.mapping.empty() && options.dataflow.empty(), {}};
  TW_TRY(study.limits, limits_from(limits));
  if (study.limits.area && !area_of(job.machine)) {
    return invalid(fmt::format(
        "--max-area needs an area, but {} gives none for every level, expected area in the machine file", options.hardware));
  }
  for (const HierarchyLayerJob& layer : job.layers) {
    if (study.is_nearest) {
      study.layers.push_back({layer.name, layer.problem, nearest(layer, job, study.limits)});
    } else if (layer.mapping) {
      study.layers.push_back({layer.name, layer.problem, candidate_of(options.dataflow, *layer.mapping, layer, job)});
    } else {
      study.layers.push_back({layer.name, layer.problem, layer.mapping.error()});
    }
  }
  return study;
}

bool is_feasible(const HierarchyExplanationStudy& study) {
  return std::ranges::all_of(study.layers, [&](const HierarchyExplainedLayer& layer) {
    return layer.candidate && !layer.candidate->relaxation && !broken_limit(study.limits, layer.candidate->metrics);
  });
}

std::string to_json(const HierarchyExplanationStudy& study) {
  Json layers = Json::array();
  for (const HierarchyExplainedLayer& layer : study.layers) layers.push_back(layer_json(layer, study));
  return Json{{"layers", layers}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<AnyExplanation> explain_any(const EvaluationOptions& options, const LimitOptions& limits) {
  if (options.network.empty()) return invalid("--network is missing, expected zoo:NAME or a file");
  if (options.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  TW_TRY(const bool levels, has_memory_levels(options.hardware, options.levels));
  if (levels) {
    TW_TRY(HierarchyExplanationStudy study, explain_levels(options, limits));
    return AnyExplanation(std::move(study));
  }
  TW_TRY(ExplanationStudy study, explain(options, limits));
  return AnyExplanation(std::move(study));
}

}  // namespace tilewright
