#include "tilewright/study/hierarchy_evaluation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/study/hierarchy_job.hpp"

namespace tilewright {
namespace {

using hierarchy::Mapping;

Result<Done> check_options(const EvaluationOptions& options, NoMapping without) {
  const bool of_arrays = options.levels.model_of_arrays || options.model != Model::Sound;
  if (of_arrays || options.constraints != Constraints::Hard) {
    return invalid(
        fmt::format("{} does not go with machines of memory levels, expected it to be left out",
                    of_arrays ? fmt::format("--model {}", name_of(options.model)) : std::string("--constraints")));
  }
  if (!options.mapping.empty() && !options.dataflow.empty()) {
    return invalid("--mapping and --dataflow are both given, expected one of them");
  }
  if (without == NoMapping::Refused && options.mapping.empty() && options.dataflow.empty()) {
    return invalid("neither --mapping nor --dataflow is given, expected one of them");
  }
  return Done{};
}

// The text of a file that may be of either form.
struct MappingFile {
  std::string text, where;
  bool is_timeloop = false;
};

Result<Mapping> mapping_in(const MappingFile& file, const hierarchy::Problem& problem, const HierarchyEvaluationJob& job) {
  if (file.is_timeloop) return hierarchy::mapping_from_timeloop(file.text, file.where, problem, job.machine);
  TW_TRY(Mapping mapping, hierarchy::mapping_from_yaml(file.text, file.where, problem, job.machine));
  if (job.judge == hierarchy::Judge::Hierarchy) return mapping;
  return check(std::move(mapping), problem, job.machine, hierarchy::Factors::Exact, file.where);  // ragged is not counted
}

Result<Mapping> classic_mapping(const std::string& name, const LoopLayer& layer, const HierarchyEvaluationJob& job,
                                const HierarchySpaceOptions& options) {
  TW_TRY(const std::unique_ptr<HierarchySpace> space,
         HierarchySpace::make(fmt::format("{}/{}", job.network, layer.name), layer.problem, job.machine, options));
  TW_TRY(const Point point, classic_named(*space, name, {}));
  return space->mapping(point);
}

// What the judge does not count, or the restriction forbids, is no mapping.
Result<Mapping> mapping_of(const LoopLayer& layer, const MappingFile& file, const EvaluationOptions& options,
                           const std::optional<hierarchy::Restriction>& restriction, const HierarchyEvaluationJob& job) {
  if (const auto refused = hierarchy::refusal(job.judge, layer.problem)) return invalid(*refused);
  if (options.mapping.empty() && options.dataflow.empty()) return invalid("no mapping is named");
  if (options.mapping.empty()) return classic_mapping(options.dataflow, layer, job, {job.judge, restriction});
  TW_TRY(Mapping mapping, mapping_in(file, layer.problem, job));
  if (!restriction) return mapping;
  if (auto forbidden = violation(*restriction, mapping, layer.problem, job.machine)) {
    return invalid(fmt::format("{}: {}", file.where, *forbidden));
  }
  return mapping;
}

}  // namespace

Result<HierarchyEvaluationJob> read_hierarchy_evaluation_job(const EvaluationOptions& options, NoMapping without) {
  TW_TRY([[maybe_unused]] const Done checked, check_options(options, without));
  HierarchyEvaluationJob job;
  job.judge = options.levels.judge.value_or(hierarchy::Judge::Hierarchy);
  TW_TRY(job.machine, hierarchy::read_machine(options.hardware, options.levels.energies));
  TW_TRY(job.machine, with_bits(std::move(job.machine), options.levels.bits, job.judge, options.hardware));
  MappingFile file;
  if (!options.mapping.empty()) {
    file.where = options.mapping;
    TW_TRY(file.text, read_file(options.mapping));
    TW_TRY(file.is_timeloop, has_top_key(options.mapping, {"mapping"}));
  }
  std::string restriction;
  if (!options.levels.restrict_to.empty()) {
    TW_TRY(restriction, read_file(options.levels.restrict_to));
  }
  const MappingInputs inputs{
      .network = options.network, .hardware = options.hardware, .batch = options.batch, .dims = options.dims};
  TW_TRY(LoopNetwork network,
         read_loop_network(inputs, options.layer, options.mapping.empty() ? Alike::Together : Alike::Apart));
  job.network = std::move(network.name);
  job.coverage = std::move(network.coverage);
  for (LoopLayer& layer : network.layers) {
    std::optional<hierarchy::Restriction> allowed;
    if (!restriction.empty()) {
      TW_TRY(allowed,
             hierarchy::restriction_from_timeloop(restriction, options.levels.restrict_to, layer.problem, job.machine));
    }
    Result<hierarchy::Mapping> mapping = mapping_of(layer, file, options, allowed, job);
    job.layers.push_back({std::move(layer), std::move(allowed), std::move(mapping)});
  }
  // One layer without a mapping is that layer's answer; none with one is a wrong file or name.
  const auto mapped = [](const HierarchyLayerJob& layer) { return static_cast<bool>(layer.mapping); };
  const bool named = !options.mapping.empty() || !options.dataflow.empty();
  if (named && std::ranges::none_of(job.layers, mapped)) return job.layers.front().mapping.error();
  return job;
}

Result<AnyEvaluationJob> read_any_evaluation_job(const EvaluationOptions& options) {
  if (options.network.empty()) return invalid("--network is missing, expected zoo:NAME or a file");
  if (options.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  TW_TRY(const bool levels, has_memory_levels(options.hardware, options.levels));
  if (levels) {
    TW_TRY(HierarchyEvaluationJob job, read_hierarchy_evaluation_job(options));
    return AnyEvaluationJob(std::move(job));
  }
  TW_TRY(EvaluationJob job, read_evaluation_job(options));
  return AnyEvaluationJob(std::move(job));
}

HierarchyEvaluationStudy evaluate(const HierarchyEvaluationJob& job) {
  HierarchyEvaluationStudy study{job.network, job.machine, job.judge, job.coverage, {}};
  for (const HierarchyLayerJob& layer : job.layers) {
    HierarchyEvaluatedLayer& result = study.layers.emplace_back(HierarchyEvaluatedLayer{layer, {}, "", {}});
    if (!layer.mapping) {
      result.failure = layer.mapping.error().message;
      continue;
    }
    hierarchy::Evaluator evaluator(layer.problem, job.machine,
                                   {.judge = job.judge, .detail = hierarchy::EvaluateOptions::Detail::All});
    const hierarchy::Evaluation evaluation = evaluator.evaluate(*layer.mapping);
    if (const auto* infeasible = std::get_if<hierarchy::Infeasible>(&evaluation)) {
      result.infeasible = *infeasible;
      result.failure = to_sentence(*infeasible, job.machine);
      continue;
    }
    result.analysis = evaluator.analysis();
    result.analysis->cost = std::get<hierarchy::Cost>(evaluation);
  }
  return study;
}

bool is_feasible(const HierarchyEvaluationStudy& study) {
  return std::ranges::all_of(study.layers, [](const HierarchyEvaluatedLayer& layer) { return layer.analysis.has_value(); });
}

}  // namespace tilewright
