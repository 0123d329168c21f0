// The search: measure, keep the best machine, execute its programs.
#include "tilewright/study/codesign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/agents/dcoc_problem.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/space/codesign_optimum.hpp"
#include "tilewright/study/codesign_parts.hpp"
#include "tilewright/study/machine_ledger.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/search_study.hpp"
#include "tilewright/study/stop_heard.hpp"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

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

std::string words_of(const MachineLedger& machines) {
  const auto& answer = machines.answer();
  return fmt::format(
      "{} of {} machines on all layers, best {}", machines.complete_machines(), machines.machines(),
      answer ? with_thousands(std::llround(answer->cycles)) + " cycles" : std::string("no machine for all layers yet"));
}

Result<Done> add_answer(const CodesignJob& job, const SearchStudy& found, const MachineLedger& machines,
                        CodesignStudy& study) {
  study.curve = machines.curve();
  study.machines = machines.machines();
  study.complete_machines = machines.complete_machines();
  const auto& answer = machines.answer();
  if (answer) study.machine = job.layers[0].space->machine(answer->layers[0].point);
  for (std::size_t i = 0; i < job.layers.size(); ++i) {
    TW_TRY(CodesignedLayer layer, codesigned(job, i, found.ledgers[i], answer ? &answer->layers[i] : nullptr));
    layer.calibrations = calibrations_of(found.story.get(), i);
    study.layers.push_back(std::move(layer));
  }
  study.all_measured = study.search == "exhaustive" && std::ranges::all_of(study.layers, [](const CodesignedLayer& layer) {
                         return static_cast<double>(layer.ledger.samples) > std::pow(10, layer.log10_size) - 0.5;
                       });
  return Done{};
}

Result<CodesignStudy> search_machine(const CodesignJob& job, const CodesignOptions& options, RunContext& context) {
  CodesignStudy study = study_of(job, options);
  std::vector<std::int64_t> counts;
  for (const CodesignLayer& layer : job.layers) counts.push_back(layer.count);
  MachineLedger machines(counts, job.layers.front().space->hardware_parameters());
  SearchTask task{.title = job.network_name, .spaces = job.spaces(), .counts = {counts.begin(), counts.end()}};
  TW_TRY(task.objective, objective_named("latency"));
  task.on_sample = [&](const Proposal& proposal, const Outcome& outcome, const Verdict&) {
    machines.consider(proposal.problem, proposal.point, outcome);
  };
  task.unit = "measurements";
  task.words = [&] { return words_of(machines); };
  const SearchOptions how{.search = searcher_name(job, options.search),
                          .samples = study.measurements,
                          .seed = options.seed,
                          .settings = options.settings,
                          .store = options.store};
  TW_TRY(SearchStudy found, search(task, how, context));
  study.settings = std::move(found.settings);
  study.known = found.known_before;
  study.interrupted = found.interrupted;
  TW_TRY([[maybe_unused]] const Done added, add_answer(job, found, machines, study));
  return study;
}

}  // namespace

Result<CodesignStudy> codesign(const CodesignJob& job, const CodesignOptions& options, RunContext& context) {
  if (context.directory != nullptr) {
    TW_TRY([[maybe_unused]] const Done begun, context.directory->begin_or_continue(codesign_record(options, job)));
  }
  const auto start = Clock::now();
  TW_TRY(CodesignStudy study, search_machine(job, options, context));
  const StopHeard heard(context);
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
