#include "tilewright/study/mapping.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/search/searchers.hpp"
#include "tilewright/space/mapping_outcome.hpp"

namespace tilewright {
namespace {

constexpr double kSmallSpace = 5;  // decimal logarithm: a space that is walked whole, for the true optimum
constexpr std::int64_t kMostWalked = 400'000;

// What the exact model says of a mapping: its score, or why it refuses it.
struct SecondOpinion {
  std::optional<Score> score;
  std::string refusal;
};

SecondOpinion exact_opinion(const Mapping& mapping, const Nest& nest, const Accelerator& machine, const MappingJob& job) {
  const Evaluation evaluation = evaluate(mapping, nest, machine, Model::Exact, job.options.constraints);
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    return {std::nullopt, fmt::format("{}: {}", name_of(infeasible->reason), to_sentence(*infeasible))};
  }
  return {score_of(job.options.objective, outcome_of(evaluation, macs(nest), machine, false).metrics), ""};
}

using Found = MappedLayer::Found;

// The answer of a layer. Of the finalists that are no worse than the best classic the exact model accepts, the one it likes
// best; what it refuses only where there is nothing else. A classic that is no point of the space may be the answer too.
std::optional<Found> answer_of(const MappingProblem& problem, const Ledger& ledger, const MappingJob& job, bool told,
                               const Classic* classic) {
  const auto from_point = [&](const Best& best) {
    return Found{problem.mapping(best.point), problem.machine(best.point), best.outcome.metrics, best.score};
  };
  std::optional<Found> found;
  std::optional<Score> second;
  for (const Finalist& finalist : ledger.finalists) {
    if (found && told && classic != nullptr && classic->score < finalist.best.score) break;
    if (second && *second <= finalist.second) continue;
    found = from_point(finalist.best);
    second = finalist.second;
  }
  if (!found && ledger.best) found = from_point(*ledger.best);
  if (!told || classic == nullptr || (found && found->score <= classic->score)) return found;
  return Found{classic->mapping, job.accelerator, classic->outcome.metrics, classic->score};
}

// The optimum of a space that is small enough, without charging samples: it is for judging, not for searching.
std::optional<Score> true_optimum(const DesignSpace& space, const Objective& objective, ThreadPool& threads) {
  if (space.log10_size() > kSmallSpace) return std::nullopt;
  Result<std::unique_ptr<PointSearcher>> walk = make_classical_searcher("exhaustive", space, kMostWalked, 1, {});
  if (!walk) return std::nullopt;
  std::vector<std::unique_ptr<PointSearcher>> one;
  one.push_back(std::move(walk).value());
  const auto searcher = each_alone(std::move(one));
  SearchLoop loop({&space}, objective, kMostWalked, threads);
  while (loop.round(*searcher)) {
  }
  const Ledger& ledger = loop.ledgers()[0];
  if (ledger.samples == kMostWalked || !ledger.best) return std::nullopt;
  return ledger.best->score;
}

// The classic to compare with, and to be no worse than: the best that the exact model accepts, where it has a say.
const Classic* best_classic(const MappingProblem& problem, const MappingJob& job) {
  const auto& classics = problem.classics.fitting;
  if (job.options.model == Model::Sound) {
    for (const Classic& classic : classics) {
      if (exact_opinion(classic.mapping, problem.nest, job.accelerator, job).score) return &classic;
    }
  }
  return classics.empty() ? nullptr : &classics.front();
}

MappedLayer to_layer(const MappingProblem& problem, const Ledger& ledger, const MappingJob& job, ThreadPool& threads) {
  MappedLayer layer;
  record(layer, problem, ledger);
  layer.layer = problem.layer;
  layer.nest = problem.nest;
  if (!ledger.best && ledger.limits) {
    const Point& point = ledger.limits->point;
    layer.nearest = MappedLayer::Found{problem.mapping(point), problem.machine(point), ledger.limits->outcome.metrics};
  }
  for (const FrontMember& member : ledger.front) {
    layer.front.push_back(
        {problem.mapping(member.point), problem.machine(member.point), member.outcome.metrics, member.sample});
  }
  const bool told = !job.options.no_classics;
  if (told) layer.ledger.classics = problem.classics.judged;
  layer.found = answer_of(problem, ledger, job, told, best_classic(problem, job));
  judge(layer, problem, job, threads);
  if (!layer.found) layer.explain = explain_command(job, problem.layer.name);
  return layer;
}

SearchTask task_with_referee(const MappingJob& job) {
  SearchTask task = task_of(job);
  if (job.options.model == Model::Sound) {
    task.referee = [&job](std::size_t problem, PointView point) {
      const MappingProblem& asked = job.problems[problem];
      return exact_opinion(asked.mapping(point), asked.nest, asked.machine(point), job).score;
    };
  }
  return task;
}

}  // namespace

std::optional<std::string> judge(MappedLayer& layer, const MappingProblem& problem, const MappingJob& job,
                                 ThreadPool& threads) {
  layer.log10_size = problem.space->log10_size();
  if (layer.ledger.classics > 0) layer.ledger.classics = problem.classics.judged;
  for (const Classic& classic : problem.classics.fitting) layer.dataflows.emplace_back(classic.name, classic.score[0]);
  const Classic* classic = best_classic(problem, job);
  if (classic != nullptr) {
    layer.dataflow = classic->name;
    layer.dataflow_metrics = classic->outcome.metrics;
  }
  if (!layer.found) return std::nullopt;
  layer.nearest.reset();
  Found& found = *layer.found;
  std::optional<std::string> fault;
  const Evaluation evaluation =
      evaluate(found.mapping, layer.nest, found.machine, job.options.model, job.options.constraints);
  const Outcome outcome = outcome_of(evaluation, macs(layer.nest), found.machine, is_maestro(job.options.model));
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    fault = fmt::format("is infeasible ({}): {}", name_of(infeasible->reason), to_sentence(*infeasible));
  } else if (!outcome.feasible) {
    fault = fmt::format("breaks a limit: {}", name_of(static_cast<Infeasible::Reason>(outcome.reason)));
  } else {
    found.metrics = outcome.metrics;
    found.score = score_of(job.options.objective, found.metrics);
    if (const auto limit = broken_limit(job.options.objective.limits, found.metrics)) {
      fault = fmt::format("breaks the limit on {}", *limit);
    }
  }
  if (classic != nullptr) layer.dataflow_factor = classic->score[0] / found.score[0];
  if (job.options.model == Model::Sound) {
    const SecondOpinion exact = exact_opinion(found.mapping, layer.nest, found.machine, job);
    if (exact.score) found.exact_factor = (*exact.score)[0] / found.score[0];
    found.exact_refusal = exact.refusal;
  }
  if (const auto optimum = true_optimum(*problem.space, job.options.objective, threads)) {
    layer.optimum_factor = found.score[0] / (*optimum)[0];
  }
  return fault;
}

Result<MappingStudy> map(const MappingJob& job, const MapOptions& options, RunContext& context) {
  TW_TRY(const SearchStudy found, search(task_with_referee(job), options, context));
  MappingStudy study;
  record(study, job, options, found);
  study.machine = job.accelerator;
  study.model = job.options.model;
  study.constraints = job.options.constraints;
  study.gamma_rules = is_maestro(job.options.model);
  study.space = space_text(job.options);
  for (std::size_t i = 0; i < job.problems.size(); ++i) {
    study.layers.push_back(to_layer(job.problems[i], found.ledgers[i], job, context.threads));
  }
  if (has_front(study)) study.front = front_of(study);
  return study;
}

}  // namespace tilewright
