#include "tilewright/study/map_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/pareto_searcher.hpp"
#include "tilewright/space/mapping_outcome.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

constexpr double kSmallSpace = 5;  // decimal logarithm: a space that is walked whole, for the true optimum
constexpr std::int64_t kMostWalked = 400'000;
constexpr auto kCommitEvery = std::chrono::milliseconds(700);

// What the exact model says of a mapping: its score, or why it refuses it.
struct SecondOpinion {
  std::optional<Score> score;
  std::string refusal;
};

SecondOpinion exact_opinion(const Mapping& mapping, const Nest& nest, const Accelerator& machine, const MappingJob& job) {
  const Evaluation evaluation = evaluate(mapping, nest, machine, Model::Exact, job.constraints);
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    return {std::nullopt, fmt::format("{}: {}", name_of(infeasible->reason), to_sentence(*infeasible))};
  }
  return {score_of(job.objective, outcome_of(evaluation, macs(nest), machine, false).metrics), ""};
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

// `tilewright explain` with what this layer was searched for.
std::string explain_command(const MappingArguments& arguments, const std::string& layer) {
  std::string command = fmt::format("tilewright explain --network {} --layer {} --hardware {}",
                                    shell_word(arguments.network), shell_word(layer), shell_word(arguments.hardware));
  const auto add = [&](const char* flag, const auto& value) {
    if (value) command += fmt::format(" {} {}", flag, *value);
  };
  if (arguments.batch != 1) add("--batch", std::optional(arguments.batch));
  for (const std::string& dim : arguments.dims) command += " --dim " + shell_word(dim);
  if (arguments.model == "exact") command += " --model exact";  // explain knows no other but the default
  add("--max-pes", arguments.max_pes);
  add("--max-l1", arguments.max_l1);
  add("--max-l2", arguments.max_l2);
  add("--max-latency", arguments.max_latency);
  add("--max-energy", arguments.max_energy);
  add("--max-area", arguments.max_area);
  add("--max-power", arguments.max_power);
  return command;
}

// The classic to compare with, and to be no worse than: the best that the exact model accepts, where it has a say.
const Classic* best_classic(const MappingProblem& problem, const MappingJob& job) {
  const auto& classics = problem.classics.fitting;
  if (job.model == Model::Sound) {
    for (const Classic& classic : classics) {
      if (exact_opinion(classic.mapping, problem.nest, job.accelerator, job).score) return &classic;
    }
  }
  return classics.empty() ? nullptr : &classics.front();
}

MappedLayer to_layer(const MappingProblem& problem, const Ledger& ledger, const MappingJob& job,
                     const MapArguments& arguments, ThreadPool& threads) {
  MappedLayer layer;
  layer.name = problem.name;
  layer.count = problem.count;
  layer.layer = problem.layer;
  layer.members = problem.members;
  layer.nest = problem.nest;
  layer.ledger = ledger;
  for (const auto& [reason, count] : ledger.rejected) {
    layer.rejected.emplace_back(reason == kOverLimit ? "over-limit" : problem.space->reason_name(reason), count);
  }
  std::ranges::stable_sort(layer.rejected, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  if (!ledger.best && ledger.limits) {
    const Point& point = ledger.limits->point;
    layer.nearest = MappedLayer::Found{problem.mapping(point), problem.machine(point), ledger.limits->outcome.metrics};
  }
  for (const FrontMember& member : ledger.front) {
    layer.front.push_back(
        {problem.mapping(member.point), problem.machine(member.point), member.outcome.metrics, member.sample});
  }
  const bool told = !arguments.mapping.no_classics;
  if (told) layer.ledger.classics = problem.classics.judged;
  layer.found = answer_of(problem, ledger, job, told, best_classic(problem, job));
  judge(layer, problem, job, threads);
  return layer;
}

// Searchers that learn from what they are told search a front in several directions; the others see all of it anyway.
Result<std::unique_ptr<Searcher>> make_any_searcher(const SearchRequest& request, const Objective& objective,
                                                    ThreadPool& threads) {
  if (objective.form != Objective::Form::Pareto || request.name == "random" || request.name == "exhaustive") {
    return make_searcher(request, threads);
  }
  const std::size_t metrics = objective.terms.size();
  SearchRequest apart = request;
  apart.samples = samples_of_direction(request.samples, metrics);
  apart.spaces.clear();
  for (const DesignSpace* space : request.spaces) {
    apart.spaces.insert(apart.spaces.end(), pareto_directions(metrics).size(), space);
  }
  TW_TRY(std::unique_ptr<Searcher> inner, make_searcher(apart, threads));
  return std::unique_ptr<Searcher>(
      std::make_unique<ParetoSearcher>(std::move(inner), request.spaces, metrics, request.samples, request.seed));
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
  const Evaluation evaluation = evaluate(found.mapping, layer.nest, found.machine, job.model, job.constraints);
  const Outcome outcome = outcome_of(evaluation, macs(layer.nest), found.machine, is_maestro(job.model));
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    fault = fmt::format("is infeasible ({}): {}", name_of(infeasible->reason), to_sentence(*infeasible));
  } else if (!outcome.feasible) {
    fault = fmt::format("breaks a limit: {}", name_of(static_cast<Infeasible::Reason>(outcome.reason)));
  } else {
    found.metrics = outcome.metrics;
    found.score = score_of(job.objective, found.metrics);
    if (const auto limit = broken_limit(job.objective.limits, found.metrics)) {
      fault = fmt::format("breaks the limit on {}", *limit);
    }
  }
  if (classic != nullptr) layer.dataflow_factor = classic->score[0] / found.score[0];
  if (job.model == Model::Sound) {
    const SecondOpinion exact = exact_opinion(found.mapping, layer.nest, found.machine, job);
    if (exact.score) found.exact_factor = (*exact.score)[0] / found.score[0];
    found.exact_refusal = exact.refusal;
  }
  if (const auto optimum = true_optimum(*problem.space, job.objective, threads)) {
    layer.optimum_factor = found.score[0] / (*optimum)[0];
  }
  return fault;
}

Result<MapSearch> search_mappings(const MappingJob& job, const MapArguments& arguments, ThreadPool& threads,
                                  StoredMemory* memory, const std::function<bool(const SearchLoop&)>& keep_going) {
  if (arguments.samples < 1 || arguments.samples > kMostSamples) {
    return invalid(fmt::format("--samples is {}, expected 1 to {}", arguments.samples, kMostSamples));
  }
  SearchRequest request{.name = arguments.search,
                        .spaces = job.spaces(),
                        .samples = arguments.samples,
                        .seed = arguments.seed,
                        .settings = {}};
  for (const std::string& setting : arguments.settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(request.settings, setting));
  }
  std::optional<SavedTeam> from;
  if (!arguments.from.empty()) {
    TW_TRY(from, read_team(arguments.from));
    request.from = &*from;
  }
  MapSearch search;
  MapResult& result = search.result;
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_any_searcher(request, job.objective, threads));
  TW_TRY(result.settings, settings_in_force(arguments.search, request.settings));

  SearchLoop loop(request.spaces, job.objective, arguments.samples, threads, memory);
  if (job.model == Model::Sound) {
    loop.referee = [&job](std::size_t problem, PointView point) {
      const MappingProblem& asked = job.problems[problem];
      return exact_opinion(asked.mapping(point), asked.nest, asked.machine(point), job).score;
    };
  }
  loop.begin(*searcher, job.known());
  auto next_commit = std::chrono::steady_clock::now() + kCommitEvery;
  threads.stop_when(stop_asked);
  while (loop.round(*searcher)) {
    if (memory != nullptr && std::chrono::steady_clock::now() >= next_commit) {
      TW_TRY([[maybe_unused]] const Done written, memory->commit());
      next_commit = std::chrono::steady_clock::now() + kCommitEvery;
    }
    if (keep_going(loop)) continue;
    result.interrupted = true;
    break;
  }
  threads.stop_when(nullptr);
  result.interrupted = result.interrupted || loop.is_stopped();
  if (memory != nullptr) {
    TW_TRY([[maybe_unused]] const Done written, memory->commit());
  }

  result.network = job.network_name;
  result.machine = job.accelerator;
  result.model = job.model;
  result.constraints = job.constraints;
  result.gamma_rules = is_maestro(job.model);
  result.objective = job.objective;
  result.space = space_text(arguments.mapping);
  result.search = arguments.search;
  result.samples = arguments.samples;
  result.seed = arguments.seed;
  result.command = arguments.command;
  result.from = arguments.from;
  result.coverage = job.coverage;
  for (std::size_t i = 0; i < job.problems.size(); ++i) {
    MappedLayer& layer = result.layers.emplace_back(to_layer(job.problems[i], loop.ledgers()[i], job, arguments, threads));
    if (!layer.found) layer.explain = explain_command(arguments.mapping, job.problems[i].layer.name);
  }
  if (has_front(result)) result.front = front_of(result);
  if (const auto story = agents_story(*searcher)) {
    result.agents = *story;
    search.team = story->team;
  }
  return search;
}

}  // namespace tilewright
