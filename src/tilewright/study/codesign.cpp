// The search: measure, keep the best machine, execute its programs.
#include "tilewright/study/codesign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/agents/dcoc_problem.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/stored_memory.hpp"
#include "tilewright/space/codesign_optimum.hpp"
#include "tilewright/study/codesign_parts.hpp"
#include "tilewright/study/machine_ledger.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_heard.hpp"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kCommitMeasuredEvery = std::chrono::milliseconds(700);

// Where the machine of several layers is searched, "dcoc" is the search for all of them at once.
std::string searcher_name(const CodesignJob& job, const std::string& search) {
  return search == "dcoc" && !job.options.fixed_machine && job.layers.size() > 1 ? "dcoc-network" : search;
}

// What a run has found of a layer, timed once more: the store may be another version's, or somebody else's.
Result<CodesignedLayer> codesigned(const CodesignJob& job, std::size_t index, const Ledger& ledger, const Best* best) {
  const CodesignLayer& problem = job.layers[index];
  CodesignedLayer layer{.name = problem.name,
                        .count = problem.count,
                        .layer = problem.layer(),
                        .log10_size = problem.space->log10_size(),
                        .found = {},
                        .default_cycles = {},
                        .optimum_cycles = {},
                        .joint_optimum_cycles = {},
                        .ledger = ledger,
                        .rejected = {},
                        .calibrations = {}};
  for (const auto& [reason, count] : ledger.rejected) layer.rejected.emplace_back(problem.space->reason_name(reason), count);
  std::ranges::stable_sort(layer.rejected, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  layer.default_cycles = default_cycles(layer.layer, job.options);
  if (best == nullptr) return layer;
  const vta::Schedule schedule = problem.space->schedule(best->point);
  const TimedLayer timed = time_layer(layer.layer, problem.space->machine(best->point), schedule, job.options);
  if (static_cast<double>(timed.timing.cycles) != best->outcome.metrics.latency) {
    return invalid(fmt::format("layer '{}' takes {} cycles, but the store says {}; expected another store", layer.name,
                               timed.timing.cycles, best->outcome.metrics.latency));
  }
  layer.found = CodesignedLayer::Found{schedule, best->outcome.metrics, timed.timing};
  return layer;
}

// What the answer is judged by. Charges no measurements: it is for judging, not for searching.
void add_optima(const CodesignJob& job, ThreadPool& threads, CodesignStudy& study) {
  const bool joint = !job.options.fixed_machine && job.layers.size() == 1;  // else no layer has a machine to itself
  struct Optima {
    std::optional<double> here, anywhere;
  };
  std::vector<Optima> optima(study.layers.size());
  threads.for_each(optima.size(), [&](std::size_t i, std::size_t) {
    const auto cycles = [](const std::optional<CodesignOptimum>& found) {
      return found ? std::optional(found->outcome.metrics.latency) : std::nullopt;
    };
    if (joint) optima[i].anywhere = cycles(codesign_optimum(*job.layers[i].space));
    if (!study.machine) return;
    CodesignSpaceOptions options = job.options;
    options.base = *study.machine;
    options.fixed_machine = true;
    optima[i].here = cycles(codesign_optimum(CodesignSpace(study.layers[i].name, study.layers[i].layer, options)));
  });
  for (std::size_t i = 0; i < optima.size(); ++i) {
    study.layers[i].optimum_cycles = optima[i].here;
    study.layers[i].joint_optimum_cycles = optima[i].anywhere;
  }
}

// The run's memory, where it has one: of the store that was named, else of its directory.
Result<std::optional<StoredMemory>> open_memory(const CodesignJob& job, const CodesignOptions& options,
                                                RunContext& context) {
  std::optional<StoredMemory> memory;
  if (context.directory != nullptr) {
    TW_TRY([[maybe_unused]] const Done begun, context.directory->begin_or_continue(codesign_record(options, job)));
  }
  if (options.store.empty() && context.directory == nullptr) return memory;
  TW_TRY(Store store,
         Store::open(options.store.empty() ? context.directory->path() / kStoreFile : std::filesystem::path(options.store)));
  TW_TRY(StoredMemory opened, StoredMemory::open(std::move(store), job.spaces()));
  memory.emplace(std::move(opened));
  return memory;
}

ProgressState state_of(const CodesignJob& job, std::int64_t measurements, const SearchLoop& loop,
                       const MachineLedger& machines) {
  ProgressState state{.title = job.network_name,
                      .done = 0,
                      .all = measurements * static_cast<std::int64_t>(job.layers.size()),
                      .unit = "measurements",
                      .words = {},
                      .lines = {}};
  for (const Ledger& ledger : loop.ledgers()) state.done += ledger.samples;
  const auto& answer = machines.answer();
  state.words = fmt::format(
      "{} of {} machines on all layers, best {}", machines.complete_machines(), machines.machines(),
      answer ? with_thousands(std::llround(answer->cycles)) + " cycles" : std::string("no machine for all layers yet"));
  return state;
}

// Whether it was stopped.
Result<bool> run_search(SearchLoop& loop, Searcher& searcher, StoredMemory* memory,
                        const std::function<bool()>& keep_going) {
  auto next_commit = Clock::now() + kCommitMeasuredEvery;
  bool stopped = false;
  while (!stopped && loop.round(searcher)) {
    if (memory != nullptr && Clock::now() >= next_commit) {
      TW_TRY([[maybe_unused]] const Done written, memory->commit());
      next_commit = Clock::now() + kCommitMeasuredEvery;
    }
    stopped = !keep_going();
  }
  if (memory != nullptr) {
    TW_TRY([[maybe_unused]] const Done written, memory->commit());
  }
  return stopped || loop.is_stopped();
}

// What was asked for, as the study tells it again.
CodesignStudy study_of(const CodesignJob& job, const CodesignOptions& options) {
  CodesignStudy study;
  study.network = job.network_name;
  study.options = job.options;
  study.machine_name = options.machine;
  study.search = options.search;
  study.measurements = measurements_of(options, job);
  study.seed = options.seed;
  study.command = options.command;
  study.host = job.host;
  study.left_out = job.left_out;
  study.machines_within_area = job.machines_within_area;
  return study;
}

Result<Done> add_answer(const CodesignJob& job, const SearchLoop& loop, const MachineLedger& machines,
                        const Searcher& searcher, CodesignStudy& study) {
  study.curve = machines.curve();
  study.machines = machines.machines();
  study.complete_machines = machines.complete_machines();
  const auto& answer = machines.answer();
  if (answer) study.machine = job.layers[0].space->machine(answer->layers[0].point);
  for (std::size_t i = 0; i < job.layers.size(); ++i) {
    TW_TRY(CodesignedLayer layer, codesigned(job, i, loop.ledgers()[i], answer ? &answer->layers[i] : nullptr));
    layer.calibrations = calibrations_of(searcher, i);
    study.layers.push_back(std::move(layer));
  }
  study.all_measured = study.search == "exhaustive" && std::ranges::all_of(study.layers, [](const CodesignedLayer& layer) {
                         return static_cast<double>(layer.ledger.samples) > std::pow(10, layer.log10_size) - 0.5;
                       });
  return Done{};
}

Result<CodesignStudy> search(const CodesignJob& job, const CodesignOptions& options, StoredMemory* memory,
                             RunContext& context) {
  CodesignStudy study = study_of(job, options);
  SearchRequest request{.name = searcher_name(job, options.search),
                        .spaces = job.spaces(),
                        .samples = study.measurements,
                        .seed = options.seed,
                        .settings = {}};
  for (const CodesignLayer& layer : job.layers) request.counts.push_back(static_cast<double>(layer.count));
  for (const std::string& setting : options.settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(request.settings, setting));
  }
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_searcher(request, context.threads));
  TW_TRY(study.settings, settings_in_force(options.search, request.settings));
  TW_TRY(const Objective objective, objective_named("latency"));
  SearchLoop loop(request.spaces, objective, study.measurements, context.threads, memory);
  std::vector<std::int64_t> counts;
  for (const CodesignLayer& layer : job.layers) counts.push_back(layer.count);
  MachineLedger machines(std::move(counts), job.layers.front().space->hardware_parameters());
  loop.on_sample = [&](const Proposal& proposal, const Outcome& outcome, const Verdict&) {
    machines.consider(proposal.problem, proposal.point, outcome);
  };
  TW_TRY(study.interrupted, run_search(loop, *searcher, memory, [&] {
           context.progress.tell([&] { return state_of(job, study.measurements, loop, machines); });
           return !context.stop.asked();
         }));
  TW_TRY([[maybe_unused]] const Done added, add_answer(job, loop, machines, *searcher, study));
  return study;
}

}  // namespace

Result<CodesignStudy> codesign(const CodesignJob& job, const CodesignOptions& options, RunContext& context) {
  TW_TRY(std::optional<StoredMemory> memory, open_memory(job, options, context));
  const std::int64_t known = memory ? memory->known() : 0;
  const auto start = Clock::now();
  const StopHeard heard(context);
  TW_TRY(CodesignStudy study, search(job, options, memory ? &*memory : nullptr, context));
  study.known = known;
  try {
    if (study.interrupted) throw Stopped{};
    if (options.optimum) add_optima(job, context.threads, study);
    study.search_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (study.machine) {
      TW_TRY(study.check, check_codesign(options, study, context));
    }
  } catch (const Stopped&) {
    study.interrupted = true;
    study.search_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    study.check = {.executed = false, .equal = false, .sentence = "not verified: stopped before the programs were executed"};
  }
  return study;
}

}  // namespace tilewright
