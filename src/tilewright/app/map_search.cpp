#include "tilewright/app/map_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/space/mapping_outcome.hpp"

namespace tilewright {
namespace {

constexpr double kSmallSpace = 5;  // decimal logarithm: a space that is walked whole, for the true optimum
constexpr std::int64_t kMostWalked = 400'000;
constexpr auto kCommitEvery = std::chrono::milliseconds(700);

// Outcome of a mapping under the job's rules, as the search sees it.
std::optional<Metrics> metrics_of(const Mapping& mapping, const Nest& nest, const Accelerator& machine,
                                  const EvaluateOptions& options) {
  const Outcome outcome = outcome_of(evaluate(mapping, nest, machine, options.model, options.constraints), macs(nest),
                                     machine, is_maestro(options.model));
  return outcome.feasible ? std::optional<Metrics>(outcome.metrics) : std::nullopt;
}

void compare_with_dataflows(MappedLayer& layer, const MappingJob& job) {
  std::optional<Score> best;
  for (const Dataflow& known : dataflows()) {
    const StridedTiles strided = is_maestro(job.model) ? StridedTiles::Single : StridedTiles::Several;
    const Result<Mapping> mapping = dataflow(known.name, layer.nest, job.accelerator, strided);
    if (!mapping) continue;
    const auto metrics = metrics_of(*mapping, layer.nest, job.accelerator, job.evaluate());
    if (!metrics || broken_limit(job.objective.limits, *metrics)) continue;
    const Score score = score_of(job.objective, *metrics);
    if (best && *best <= score) continue;
    best = score;
    layer.dataflow = known.name;
    layer.dataflow_metrics = metrics;
  }
  if (best && layer.found) layer.dataflow_factor = (*best)[0] / layer.found->score[0];
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

MappedLayer to_layer(const MappingProblem& problem, const Ledger& ledger, const MappingJob& job, ThreadPool& threads) {
  MappedLayer layer;
  layer.name = problem.name;
  layer.count = problem.count;
  layer.layer = problem.layer;
  layer.members = problem.members;
  layer.nest = problem.nest;
  layer.log10_size = problem.space->log10_size();
  layer.ledger = ledger;
  for (const auto& [reason, count] : ledger.rejected) {
    layer.rejected.emplace_back(reason == kOverLimit ? "over-limit" : problem.space->reason_name(reason), count);
  }
  std::ranges::stable_sort(layer.rejected, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  if (ledger.best) {
    const Point& point = ledger.best->point;
    layer.found =
        MappedLayer::Found{problem.mapping(point), problem.machine(point), ledger.best->outcome.metrics, ledger.best->score};
    MappedLayer::Found& found = *layer.found;
    if (job.model == Model::Sound) {
      const auto exact = metrics_of(found.mapping, layer.nest, found.machine, {.model = Model::Exact});
      found.exact_factor = exact ? score_of(job.objective, *exact)[0] / found.score[0] : 0;
    }
    if (const auto optimum = true_optimum(*problem.space, job.objective, threads)) {
      layer.optimum_factor = found.score[0] / (*optimum)[0];
    }
  }
  compare_with_dataflows(layer, job);
  return layer;
}

std::string space_text(const MappingArguments& arguments) {
  if (arguments.space == "archgym") return "archgym";
  return fmt::format("{} with tiles {}, levels {}{}", arguments.space, arguments.tiles, arguments.levels,
                     arguments.search_pes ? ", processing elements searched" : "");
}

}  // namespace

Result<MapSearch> search_mappings(const MappingJob& job, const MapArguments& arguments, ThreadPool& threads,
                                  StoredMemory* memory, const std::function<bool(const SearchLoop&)>& keep_going) {
  if (arguments.samples < 1) return invalid(fmt::format("--samples is {}, expected at least 1", arguments.samples));
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
  TW_TRY(MadeSearcher made, make_searcher(request, threads));
  TW_TRY(result.settings, settings_in_force(arguments.search, request.settings));

  SearchLoop loop(request.spaces, job.objective, arguments.samples, threads, memory);
  auto next_commit = std::chrono::steady_clock::now() + kCommitEvery;
  while (loop.round(*made.searcher)) {
    if (memory != nullptr && std::chrono::steady_clock::now() >= next_commit) {
      TW_TRY([[maybe_unused]] const Done written, memory->commit());
      next_commit = std::chrono::steady_clock::now() + kCommitEvery;
    }
    if (keep_going(loop)) continue;
    result.interrupted = true;
    break;
  }
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
    result.layers.push_back(to_layer(job.problems[i], loop.ledgers()[i], job, threads));
  }
  if (made.agents != nullptr) {
    result.agents = made.agents->story();
    search.team = made.agents->saved();
  }
  return search;
}

}  // namespace tilewright
