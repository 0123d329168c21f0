#include "tilewright/study/search_study.hpp"

#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/optimum/optimal_searcher.hpp"
#include "tilewright/search/pareto_searcher.hpp"
#include "tilewright/search/stored_memory.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_heard.hpp"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kCommitEvery = std::chrono::milliseconds(700);
constexpr std::string_view kGroup = "Search";

// Searchers that learn from what they are told search a front in several directions; the others see all of it anyway.
Result<std::unique_ptr<Searcher>> make_any_searcher(const SearchRequest& request, const Objective& objective,
                                                    const SearchOptions& options, RunContext& context) {
  ThreadPool& threads = context.threads;
  if (request.name == kOptimal) {
    return optimum::make_optimal(request.spaces, objective, effort_of(options, context), request.samples, request.seed,
                                 threads);
  }
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

Result<std::optional<StoredMemory>> open_memory(const SearchTask& task, const SearchOptions& options,
                                                const RunContext& context) {
  std::optional<StoredMemory> memory;
  if (options.store.empty() && context.directory == nullptr) return memory;
  TW_TRY(Store store, Store::open(!options.store.empty() ? std::filesystem::path(options.store)
                                                         : context.directory->path() / kStoreFile));
  TW_TRY(StoredMemory opened, StoredMemory::open(std::move(store), task.spaces));
  memory.emplace(std::move(opened));
  return memory;
}

ProgressState state_of(const SearchTask& task, const SearchOptions& options, const SearchLoop& loop) {
  ProgressState state{.title = task.title, .unit = std::string(task.unit), .words = {}, .lines = {}};
  state.all = options.samples * static_cast<std::int64_t>(task.spaces.size());
  for (const Ledger& ledger : loop.ledgers()) state.done += ledger.samples;
  if (task.words) {
    state.words = task.words();
    return state;
  }
  for (std::size_t i = 0; i < loop.ledgers().size(); ++i) {
    const Ledger& ledger = loop.ledgers()[i];
    state.lines.push_back(
        fmt::format("  {:<28} {:>14}  {}", task.names[i].substr(0, 28),
                    ledger.best ? fmt::format("{:.4g}", ledger.best->score[0]) : "nothing feasible yet",
                    ledger.best ? fmt::format("since sample {}", with_thousands(ledger.improvements.back().sample)) : ""));
  }
  return state;
}

// False when it was stopped.
Result<bool> run(SearchLoop& loop, Searcher& searcher, const SearchTask& task, const SearchOptions& options,
                 StoredMemory* memory, RunContext& context) {
  Clock::time_point next_commit = Clock::now() + kCommitEvery;
  bool whole = true;
  while (whole && loop.round(searcher)) {
    if (memory != nullptr && Clock::now() >= next_commit) {
      TW_TRY([[maybe_unused]] const Done written, memory->commit());
      next_commit = Clock::now() + kCommitEvery;
    }
    context.progress.tell([&] { return state_of(task, options, loop); });
    whole = !context.stop.asked();
  }
  if (memory != nullptr) {
    TW_TRY([[maybe_unused]] const Done written, memory->commit());
  }
  return whole && !loop.is_stopped();
}

}  // namespace

optimum::Effort effort_of(const SearchOptions& options, const RunContext& context) {
  optimum::Effort effort{.seconds = options.seconds.value_or(0), .stop = [stop = context.stop] { return stop.asked(); }};
  if (options.nodes) effort.nodes = *options.nodes;
  return effort;
}

OptionTable options_of(SearchOptions& options) {
  return {
      {"search", &options.search, "by name, see below", {.group = kGroup}},
      {"samples", &options.samples, "per distinct layer; valid, invalid and repeated ones all count", {.group = kGroup}},
      {"seed", &options.seed, "the same seed gives the same bytes for any number of threads", {.group = kGroup}},
      {"settings",
       &options.settings,
       "a hyper-parameter: gamma.population=100, agents.batch=16 (see --settings)",
       {.flag = "set", .group = kGroup}},
      {"from", &options.from, "agents: begin with the team of another run (its directory)", {.group = kGroup}},
      {"prove",
       &options.prove,
       "machines with memory levels: tell how far the best mapping is from the proven optimum",
       {.group = kGroup}},
      {"seconds",
       &options.seconds,
       "of a proof, per layer (optimal, --prove); default: as long as it takes",
       {.flag = "time", .group = kGroup, .default_is_said = true}},
      {"nodes",
       &options.nodes,
       "of a proof, per layer: so many give the same answer everywhere; default 2,000,000",
       {.group = kGroup, .least = 1, .default_is_said = true}},
      {"store",
       &options.store,
       "file of evaluated points, shared between runs; default: one in the run directory",
       {.group = "Run and results"}},
  };
}

Result<SearchStudy> search(const SearchTask& task, const SearchOptions& options, RunContext& context) {
  if (options.samples < 1 || options.samples > kMostSamples) {
    return invalid(fmt::format("--{} is {}, expected 1 to {}", task.unit, options.samples, kMostSamples));
  }
  SearchRequest request{.name = options.search,
                        .spaces = task.spaces,
                        .samples = options.samples,
                        .seed = options.seed,
                        .settings = {},
                        .counts = task.counts};
  for (const std::string& setting : options.settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(request.settings, setting));
  }
  std::optional<SavedTeam> from;
  if (!options.from.empty()) {
    TW_TRY(from, read_team(options.from));
    request.from = &*from;
  }
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_any_searcher(request, task.objective, options, context));
  SearchStudy study;
  TW_TRY(study.settings, settings_in_force(options.search, completed_settings(request)));
  TW_TRY(std::optional<StoredMemory> memory, open_memory(task, options, context));
  if (memory) study.known_before = memory->known();

  SearchLoop loop(task.spaces, task.objective, options.samples, context.threads, memory ? &*memory : nullptr);
  loop.referee = task.referee;
  loop.on_sample = task.on_sample;
  loop.begin(*searcher, task.known);
  const StopHeard heard(context);
  TW_TRY(const bool whole, run(loop, *searcher, task, options, memory ? &*memory : nullptr, context));
  study.interrupted = !whole;
  study.ledgers = loop.ledgers();
  study.story = searcher->story();
  return study;
}

}  // namespace tilewright
