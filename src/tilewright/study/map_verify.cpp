#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/space/mapping_key.hpp"
#include "tilewright/space/mapping_outcome.hpp"
#include "tilewright/study/mapping.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/study/run_verification.hpp"
#include "tilewright/study/verification_parts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Nest nest_from(const Json& json) {
  Nest nest;
  nest.kind = static_cast<NestKind>(json.at("kind").get<int>());
  nest.batched = json.at("batched");
  for (const char* part : {"size", "stride"}) {
    if (!json.contains(part)) continue;
    auto& numbers = std::string_view(part) == "size" ? nest.size : nest.stride;
    for (const auto& [name, value] : json.at(part).items()) {
      if (const auto dim = dim_named(name)) numbers[static_cast<std::size_t>(*dim)] = value.get<std::int32_t>();
    }
  }
  return nest;
}

// What a search has met and found, without anything that follows from it.
Result<MappedLayer> layer_of(const Json& json, const Accelerator& machine, const Limits& limits) {
  MappedLayer layer;
  read_record(json, layer);
  TW_TRY(layer.layer, layer_from(json, layer.name));
  layer.nest = nest_from(json.at("nest"));
  // Anything with a `mapping` and the `pes` it runs on.
  const auto take = [&machine](const Json& from, auto& to) -> Result<Done> {
    TW_TRY(to.mapping, mapping_from_yaml(from.at("mapping").get<std::string>(), "mapping"));
    to.machine = machine;
    to.machine.pes = from.at("pes").get<std::int64_t>();
    return Done{};
  };
  if (json.contains("pareto")) {
    for (const Json& entry : json.at("pareto")) {
      MappedLayer::Member& member = layer.front.emplace_back();
      TW_TRY([[maybe_unused]] const Done taken, take(entry, member));
      member.sample = entry.at("sample").get<std::int64_t>();
    }
  }
  if (json.contains("nearest")) {
    TW_TRY([[maybe_unused]] const Done taken, take(json.at("nearest"), layer.nearest.emplace(MappedLayer::Found{})));
    read_limits(json, layer, limits);
  }
  if (!json.contains("mapping")) return layer;
  TW_TRY([[maybe_unused]] const Done taken, take(json, layer.found.emplace(MappedLayer::Found{})));
  return layer;
}

Result<MappingStudy> result_of(const Json& json) {
  MappingStudy result;
  TW_TRY([[maybe_unused]] const Done recorded, read_record(json, result));
  TW_TRY(result.machine, accelerator_from_yaml(json.at("machine").get<std::string>(), "machine"));
  TW_TRY(result.model, named<Model>(json.at("model").get<std::string>()));
  const int constraints = json.at("constraints").get<int>();
  if (constraints < 0 || constraints > static_cast<int>(Constraints::Report)) {
    return invalid(fmt::format("constraints is {}, expected 0 to 2", constraints));
  }
  result.constraints = static_cast<Constraints>(constraints);
  result.gamma_rules = is_maestro(result.model);
  result.space = json.at("space").get<std::string>();
  for (const Json& entry : json.at("layers")) {
    TW_TRY(MappedLayer layer, layer_of(entry, result.machine, result.objective.limits));
    result.layers.push_back(std::move(layer));
  }
  return result;
}

std::optional<Metrics> metrics_of(const Mapping& mapping, const Nest& nest, const Accelerator& machine,
                                  const MappingJob& job) {
  const Outcome outcome = outcome_of(evaluate(mapping, nest, machine, job.options.model, job.options.constraints),
                                     macs(nest), machine, is_maestro(job.options.model));
  return outcome.feasible ? std::optional<Metrics>(outcome.metrics) : std::nullopt;
}

// Fills in everything that follows, as the search does; what is impossible is a fault.
void compute(MappingStudy& result, Verdicts& verdicts) {
  MappingJob job;
  job.network_name = result.network;
  job.accelerator = result.machine;
  const Result<MappingOptions> space = space_options(result.space);
  if (!space) {
    verdicts.faults.push_back(fmt::format("space: {}", space.error().message));
    return;
  }
  job.options = *space;
  job.options.model = result.model;
  job.options.constraints = result.constraints;
  job.options.objective = result.objective;
  ThreadPool threads(1);
  for (MappedLayer& layer : result.layers) {
    const auto fault = [&](const std::string& what) {
      verdicts.faults.push_back(fmt::format("layer {}: {}", printable(layer.name), what));
    };
    const Result<Nest> nest = nest_of(layer.layer);
    if (!nest || *nest != layer.nest) fault("the nest is not that of its shape");
    if (!nest) {
      layer.found.reset();
      continue;
    }
    layer.nest = *nest;
    MappingProblem problem;
    problem.name = layer.name;
    problem.nest = layer.nest;
    prepare(problem, job);
    for (MappedLayer::Member& member : layer.front) {
      const auto metrics = metrics_of(member.mapping, layer.nest, member.machine, job);
      if (!metrics) fault("a member of the front is infeasible");
      if (metrics) member.metrics = *metrics;
    }
    if (layer.nearest) {
      const auto metrics = metrics_of(layer.nearest->mapping, layer.nest, layer.nearest->machine, job);
      if (!metrics) fault("the nearest mapping is infeasible");
      if (metrics) layer.nearest->metrics = *metrics;
      layer.ledger.limits->excess = excess_of(job.options.objective.limits, layer.nearest->metrics);
    }
    if (!layer.found) {
      ++verdicts.without;
      judge(layer, problem, job, threads);
      continue;
    }
    if (layer.found->machine.pes < 1 || layer.found->machine.pes > result.machine.pes) {
      fault(fmt::format("uses {} processing elements, the machine has {}", layer.found->machine.pes, result.machine.pes));
      continue;
    }
    if (const auto why = judge(layer, problem, job, threads)) fault(*why);
  }
  if (has_front(result)) result.front = front_of(result);
}

std::vector<StoredAnswer> answers_of(const MappingJob& job, const MappingStudy& result) {
  std::vector<StoredAnswer> answers;
  for (std::size_t i = 0; i < std::min(job.problems.size(), result.layers.size()); ++i) {
    const MappedLayer& layer = result.layers[i];
    const MappingProblem& problem = job.problems[i];
    if (!layer.found || problem.nest != layer.nest) continue;
    StoredAnswer answer{.layer = layer.name,
                        .problem = problem.space->problem_key(),
                        .design = {},
                        .in_space = true,
                        .metrics = layer.found->metrics};
    append_mapping(layer.found->mapping, layer.found->machine.pes, answer.design);
    answer.in_space = problem.space->point_of_design(answer.design).has_value();  // else a classic from outside
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<StoredAnswer> compare_arrays(const AnyJob& any, const MappingStudy& result, RunFacts& facts,
                                         Verdicts& verdicts) {
  facts.found["machine"] = to_yaml(result.machine);
  const auto* job = std::get_if<MappingJob>(&any);
  if (job == nullptr) return {};  // another kind of machine is a difference
  facts.asked["machine"] = to_yaml(job->accelerator);
  for (std::size_t i = 0; i < std::min(job->problems.size(), result.layers.size()); ++i) {
    if (job->problems[i].nest != result.layers[i].nest) {
      verdicts.faults.push_back(fmt::format("layer {}: is not that of the network", printable(result.layers[i].name)));
    }
  }
  return answers_of(*job, result);
}

}  // namespace

Result<Verdicts> verify_map(const Json& json, const std::filesystem::path& directory) {
  try {
    TW_TRY(MappingStudy study, result_of(json));
    Verdicts verdicts = verify_study(study, json, compute);
    std::vector<const LayerRecord*> layers;
    for (const MappedLayer& layer : study.layers) layers.push_back(&layer);
    const CompareKind kind = [&study](const AnyJob& job, RunFacts& facts, Verdicts& into) {
      return compare_arrays(job, study, facts, into);
    };
    compare_with_run(study, layers, std::string(name_of(study.model)), directory, kind, verdicts);
    return verdicts;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("is no result of map ({})", failure.what()));
  }
}

}  // namespace tilewright
