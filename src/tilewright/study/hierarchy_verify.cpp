#include <algorithm>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"
#include "tilewright/study/hierarchy_proof.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/study/run_verification.hpp"
#include "tilewright/study/verification_parts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

// What a search has met and found, without anything that follows from it.
Result<HierarchyLayer> layer_of(const Json& json, const hierarchy::Machine& machine, const Limits& limits) {
  HierarchyLayer layer;
  read_record(json, layer);
  TW_TRY(layer.problem, hierarchy::problem_from(json.at("problem")));
  if (json.contains("pareto")) {
    for (const Json& entry : json.at("pareto")) {
      HierarchyLayer::Member& member = layer.front.emplace_back();
      TW_TRY(member.mapping,
             hierarchy::mapping_from_yaml(entry.at("mapping").get<std::string>(), "mapping", layer.problem, machine));
      member.sample = entry.at("sample").get<std::int64_t>();
    }
  }
  if (json.contains("nearest")) {
    TW_TRY(layer.nearest.emplace(HierarchyLayer::Found{}).mapping,
           hierarchy::mapping_from_yaml(json.at("nearest").at("mapping").get<std::string>(), "mapping", layer.problem,
                                        machine));
    read_limits(json, layer, limits);
  }
  if (json.contains("certificate")) {
    const Json& says = json.at("certificate");
    optimum::Certificate& certificate = layer.certificate.emplace();
    certificate.incumbent =
        says.at("incumbent").is_null() ? std::numeric_limits<double>::infinity() : says.at("incumbent").get<double>();
    certificate.lower_bound = says.at("lower_bound").get<double>();
    TW_TRY(certificate.closed, named<optimum::Closed>(says.at("closed_by").get<std::string>()));
    certificate.nodes = says.at("nodes").get<std::int64_t>();
    certificate.evaluations = says.at("evaluations").get<std::int64_t>();
  }
  if (!json.contains("mapping")) return layer;
  TW_TRY(layer.found.emplace(HierarchyLayer::Found{}).mapping,
         hierarchy::mapping_from_yaml(json.at("mapping").get<std::string>(), "mapping", layer.problem, machine));
  return layer;
}

Result<HierarchyStudy> study_of(const Json& json) {
  HierarchyStudy study;
  TW_TRY([[maybe_unused]] const Done recorded, read_record(json, study));
  TW_TRY(study.machine, hierarchy::machine_from_yaml(json.at("machine").get<std::string>(), "machine"));
  TW_TRY(study.judge, named<hierarchy::Judge>(json.at("model").get<std::string>()));
  study.restriction = json.at("restriction").get<std::string>();
  for (const Json& entry : json.at("layers")) {
    TW_TRY(HierarchyLayer layer, layer_of(entry, study.machine, study.objective.limits));
    study.layers.push_back(std::move(layer));
  }
  return study;
}

Result<std::unique_ptr<HierarchySpace>> space_of(const HierarchyLayer& layer, const HierarchyStudy& study) {
  HierarchySpaceOptions options{.judge = study.judge};
  if (!study.restriction.empty()) {
    TW_TRY(options.restriction,
           hierarchy::restriction_from_timeloop(study.restriction, "restriction", layer.problem, study.machine));
  }
  return HierarchySpace::make(layer.name, layer.problem, study.machine, options);
}

// Nothing when the mapping is not one of the space or does not fit.
std::optional<Metrics> metrics_in(const HierarchySpace& space, const hierarchy::Mapping& mapping) {
  if (violation(space.restriction(), mapping, space.problem(), space.machine())) return std::nullopt;
  hierarchy::Evaluator evaluator(space.problem(), space.machine(), {.judge = space.judge()});
  const Outcome outcome = outcome_of(evaluator.evaluate(mapping), computes(space.problem()), space.machine());
  return outcome.feasible ? std::optional(outcome.metrics) : std::nullopt;
}

// What members of the front and the nearest mapping cost. One that cannot be is said.
std::optional<std::string> judge_others(HierarchyLayer& layer, const HierarchySpace& space, const Objective& objective) {
  std::vector<FrontMember> front;
  for (HierarchyLayer::Member& member : layer.front) {
    const auto metrics = metrics_in(space, member.mapping);
    if (!metrics) return "a member of the front is infeasible";
    member.metrics = *metrics;
    add_to_front(front, {{}, {}, terms_of(objective, *metrics), member.sample});
  }
  if (front.size() < layer.front.size()) return "a member of the front is no better than another in anything";
  if (!layer.nearest) return std::nullopt;
  const auto metrics = metrics_in(space, layer.nearest->mapping);
  if (!metrics) return "the nearest mapping is infeasible";
  layer.nearest->metrics = *metrics;
  layer.ledger.limits->excess = excess_of(objective.limits, *metrics);
  return std::nullopt;
}

// Fills in everything that follows, as the search does; what is impossible is a fault.
void compute(HierarchyStudy& study, Verdicts& verdicts) {
  for (HierarchyLayer& layer : study.layers) {
    const auto fault = [&](const std::string& what) {
      verdicts.faults.push_back(fmt::format("layer {}: {}", printable(layer.name), what));
    };
    if (!layer.found) ++verdicts.without;
    const Result<std::unique_ptr<HierarchySpace>> space = space_of(layer, study);
    if (!space) {
      fault(space.error().message);
      layer.found.reset();
      continue;
    }
    if (const auto why = judge_others(layer, **space, study.objective)) fault(*why);
    const auto classics = classics_of(**space, study.objective);
    if (layer.ledger.classics > 0) layer.ledger.classics = std::ssize(classics);
    if (const auto why = judge(layer, **space, classics, study.objective)) {
      fault(*why);
      layer.found.reset();
    }
    if (const auto why = check_proof(layer, **space, study.objective)) fault(*why);
  }
  if (has_front(study)) study.front = front_of(study);
}

std::vector<StoredAnswer> answers_of(const HierarchyJob& job, const HierarchyStudy& study) {
  std::vector<StoredAnswer> answers;
  for (std::size_t i = 0; i < std::min(job.problems.size(), study.layers.size()); ++i) {
    const HierarchyLayer& layer = study.layers[i];
    const HierarchySpace& space = job.problems[i].mappings();
    if (!layer.found || space.problem().bounds != layer.problem.bounds) continue;
    const auto point = space.point_of(layer.found->mapping);
    StoredAnswer answer{.layer = layer.name, .problem = space.problem_key(), .design = {}, .metrics = layer.found->metrics};
    if (point) space.append_design(*point, answer.design);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<StoredAnswer> compare_levels(const AnyJob& any, const HierarchyStudy& study, RunFacts& facts,
                                         Verdicts& verdicts) {
  facts.found["machine"] = to_yaml(study.machine);
  facts.found["restriction"] = study.restriction;
  const auto* job = std::get_if<HierarchyJob>(&any);
  if (job == nullptr) return {};  // another kind of machine is a difference
  facts.asked["machine"] = to_yaml(job->machine);
  facts.asked["restriction"] = job->restriction;
  for (std::size_t i = 0; i < std::min(job->problems.size(), study.layers.size()); ++i) {
    if (to_json(job->problems[i].mappings().problem()) != to_json(study.layers[i].problem)) {
      verdicts.faults.push_back(fmt::format("layer {}: is not that of the network", printable(study.layers[i].name)));
    }
  }
  return answers_of(*job, study);
}

}  // namespace

Result<Verdicts> verify_hierarchy_map(const Json& json, const std::filesystem::path& directory) {
  try {
    TW_TRY(HierarchyStudy study, study_of(json));
    Verdicts verdicts = verify_study(study, json, compute);
    std::vector<const LayerRecord*> layers;
    for (const HierarchyLayer& layer : study.layers) layers.push_back(&layer);
    const CompareKind kind = [&study](const AnyJob& job, RunFacts& facts, Verdicts& into) {
      return compare_levels(job, study, facts, into);
    };
    compare_with_run(study, layers, std::string(name(study.judge)), directory, kind, verdicts);
    return verdicts;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("is no result of map ({})", failure.what()));
  }
}

}  // namespace tilewright
