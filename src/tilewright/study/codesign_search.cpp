// From a network to a machine and schedules.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/agents/dcoc_problem.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/space/codesign_optimum.hpp"
#include "tilewright/study/codesign_result.hpp"
#include "tilewright/study/compile_command.hpp"
#include "tilewright/study/simulate_command.hpp"
#include "tilewright/study/stop_signal.hpp"
#include "tilewright/vta/column_folding.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright {
namespace {

constexpr auto kCommitMeasuredEvery = std::chrono::milliseconds(700);

Result<CodesignSpaceOptions> codesign_options(const CodesignArguments& arguments) {
  CodesignSpaceOptions options;
  TW_TRY(options.timing, timing_options(arguments.core, arguments.timing));
  TW_TRY(options.physical, vta::check(arguments.physical));
  options.search_buffers = !arguments.fixed_buffers && arguments.machine.empty();
  struct Limit {
    const char* flag;
    std::optional<double> value;
  };
  for (const Limit& limit : {Limit{"--area-budget", arguments.area_budget}, Limit{"--max-power", arguments.max_power},
                             Limit{"--max-temperature", arguments.max_temperature}}) {
    if (limit.value && !(*limit.value > 0 && std::isfinite(*limit.value))) {
      return invalid(fmt::format("{} is {}, expected a number above 0", limit.flag, *limit.value));
    }
  }
  options.most_watts = arguments.max_power.value_or(0);
  options.most_celsius = arguments.max_temperature.value_or(0);
  options.area_budget = arguments.area_budget.value_or(1);
  if (arguments.machine.empty()) return options;

  if (arguments.fixed_buffers) return invalid("--fixed-buffers and --machine are both given, expected one of them");
  TW_TRY(options.base, read_compiled_machine(arguments.machine));
  options.fixed_machine = true;
  const double area = vta::relative_area(options.base);
  if (arguments.area_budget && area > *arguments.area_budget) {
    return invalid(fmt::format("{}: the machine has {:.4g} times the default's area, expected at most --area-budget {}",
                               arguments.machine, area, *arguments.area_budget));
  }
  options.area_budget = std::max(options.area_budget, area);
  return options;
}

// A number has a byte. The machine's addresses end at four times that, and a program's data are in memory more than once.
constexpr double kMostLayerBytes = 1 << 30;

// Why no machine of the space runs the layer, as far as that is known without searching.
std::optional<std::string> reason_for_host(const Layer& layer, const CodesignSpaceOptions& options) {
  if (tensor_total(layer) > kMostLayerBytes) {
    return fmt::format("its tensors have {:.3g} bytes, expected at most {:.3g}", tensor_total(layer), kMostLayerBytes);
  }
  const std::optional<vta::Misfit> problem = vta::misfit(layer, options.base, vta::Schedule{});
  if (!problem) return std::nullopt;
  const bool final = problem->kind == vta::MisfitKind::Unsupported || options.fixed_machine;
  return final ? std::optional(problem->sentence()) : std::nullopt;
}

Result<std::vector<std::string>> operators_of(const std::string& text) {
  std::vector<std::string> known;
  for (const Operator op : {Operator::Convolution, Operator::Depthwise, Operator::TransposedConvolution,
                            Operator::FullyConnected, Operator::MatrixMultiply}) {
    known.emplace_back(name_of(op));
  }
  if (text.empty()) return known;
  std::vector<std::string> wanted;
  for (const std::string_view word : split(text, ',')) {
    wanted.emplace_back(trim(word));
    if (std::ranges::find(known, wanted.back()) != known.end()) continue;
    return invalid(fmt::format("--operators has '{}', expected some of {}{}", printable(wanted.back()), join(known, ", "),
                               did_you_mean(wanted.back(), known)));
  }
  return wanted;
}

// Areas of the machines that can be encoded.
std::vector<double> areas_of(const CodesignSpace& space) {
  std::vector<double> areas;
  Point point(space.parameters().size());
  const auto descend = [&](const auto& self, std::size_t parameter) -> void {
    if (parameter == space.hardware_parameters()) {
      areas.push_back(vta::relative_area(space.machine(point)));
      return;
    }
    Choices choices;
    space.choices(point, parameter, choices);
    for (std::int32_t i = 0; i < choices.count(); ++i) {
      point[parameter] = choices[i];
      self(self, parameter + 1);
    }
  };
  descend(descend, 0);
  return areas;
}

}  // namespace

Result<std::size_t> machines_within(const CodesignSpace& space, double budget) {
  const std::vector<double> areas = areas_of(space);
  const auto within = std::ranges::count_if(areas, [&](double area) { return area <= budget; });
  if (within > 0) return static_cast<std::size_t>(within);
  return invalid(fmt::format(
      "--area-budget is {:.4g}, but the smallest machine has {:.4g} of the default's area, expected at "
      "least that{}",
      budget, *std::ranges::min_element(areas), space.options().search_buffers ? "" : ", or no --fixed-buffers"));
}

namespace {

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
void add_optima(const CodesignJob& job, ThreadPool& threads, CodesignResult& result) {
  const bool joint = !job.options.fixed_machine && job.layers.size() == 1;  // else no layer has a machine to itself
  threads.for_each(result.layers.size(), [&](std::size_t i, std::size_t) {
    CodesignedLayer& layer = result.layers[i];
    const auto cycles = [](const std::optional<CodesignOptimum>& found) {
      return found ? std::optional(found->outcome.metrics.latency) : std::nullopt;
    };
    if (joint) layer.joint_optimum_cycles = cycles(codesign_optimum(*job.layers[i].space));
    if (!result.machine) return;
    CodesignSpaceOptions options = job.options;
    options.base = *result.machine;
    options.fixed_machine = true;
    layer.optimum_cycles = cycles(codesign_optimum(CodesignSpace(layer.name, layer.layer, options)));
  });
}

}  // namespace

TimedLayer time_layer(const Layer& layer, const vta::Machine& machine, const vta::Schedule& schedule,
                      const CodesignSpaceOptions& options) {
  vta::Code code;
  vta::generate(layer, machine, schedule, options.finishing, vta::addresses_of(layer, machine), code);
  TimedLayer timed{vta::time_stream(code.instructions, machine, options.timing), {}};
  if (!code.is_whole) {
    timed.timing.fault = vta::Fault{.kind = vta::FaultKind::TooLong,
                                    .sentence = fmt::format("the program has more than {} instructions, expected fewer",
                                                            with_thousands(vta::kMostInstructions))};
  }
  timed.energy = vta::energy_of(timed.timing, machine, options.physical);
  return timed;
}

std::optional<std::int64_t> default_cycles(const Layer& layer, const CodesignSpaceOptions& options) {
  const vta::Machine usual;
  const auto schedule = vta::default_schedule(layer, usual);
  if (!schedule) return std::nullopt;
  return time_layer(layer, usual, *schedule, options).timing.cycles;
}

std::vector<const DesignSpace*> CodesignJob::spaces() const {
  std::vector<const DesignSpace*> spaces;
  for (const CodesignLayer& layer : layers) spaces.push_back(layer.space.get());
  return spaces;
}

Result<CodesignJob> read_codesign_job(const CodesignArguments& arguments) {
  if (arguments.network.empty()) {
    return invalid("the network is missing, expected zoo:NAME or a file: tilewright codesign NETWORK");
  }
  if (arguments.measurements && (*arguments.measurements < 1 || *arguments.measurements > kMostSamples)) {
    return invalid(fmt::format("--measurements is {}, expected 1 to {}", *arguments.measurements, kMostSamples));
  }
  CodesignJob job;
  TW_TRY(job.options, codesign_options(arguments));
  TW_TRY(const ReadOptions read, read_options(1, arguments.dims));
  TW_TRY(job.network, read_network(arguments.network, read));
  job.network_name = printable(job.network.name);
  std::vector<LayerGroup> groups = distinct_layers(job.network);
  if (!arguments.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(job.network, arguments.layer));
    groups = {{index, job.network.layers[index].count, {index}}};
  }
  TW_TRY(const std::vector<std::string> operators, operators_of(arguments.operators));
  for (const LayerGroup& group : groups) {
    const Layer layer = vta::machine_layer(job.network.layers[group.first].layer);
    if (std::ranges::find(operators, name_of(layer.op)) == operators.end()) {
      job.left_out += group.count;
      continue;
    }
    const std::string name = printable(layer.name);
    if (const auto reason = reason_for_host(layer, job.options)) {
      job.host.push_back({name, group.count, *reason});
      continue;
    }
    auto space = std::make_unique<CodesignSpace>(fmt::format("{}/{}", job.network_name, name), layer, job.options);
    job.layers.push_back({name, group.count, std::move(space)});
  }
  if (job.layers.empty()) {
    return invalid(fmt::format("{}: has no layer for the machine{}", arguments.network,
                               job.host.empty() ? fmt::format(": none is of --operators {}", arguments.operators)
                                                : fmt::format(": '{}': {}", job.host[0].name, job.host[0].reason)));
  }
  TW_TRY(job.machines_within_area, machines_within(*job.layers[0].space, job.options.area_budget));
  return job;
}

std::int64_t measurements_of(const CodesignArguments& arguments, const CodesignJob& job) {
  if (arguments.measurements) return *arguments.measurements;
  if (arguments.search != "exhaustive") return kDefaultMeasurements;
  double most = 1;  // too many points are the searcher's to refuse
  for (const CodesignLayer& layer : job.layers) most = std::max(most, std::pow(10, layer.space->log10_size()));
  return std::llround(std::min(1.000001 * most + 1, 1e15));
}

MachineLedger::MachineLedger(const std::vector<CodesignLayer>& layers) {
  for (const CodesignLayer& layer : layers) counts_.push_back(layer.count);
  hardware_ = layers.front().space->hardware_parameters();
}

void MachineLedger::consider(std::size_t layer, const Point& point, const Outcome& outcome) {
  ++measurements_;
  if (!outcome.feasible) return;
  Entry& entry = entries_[Point(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(hardware_))];
  entry.layers.resize(counts_.size());
  std::optional<Best>& best = entry.layers[layer];
  if (best && best->outcome.metrics.latency <= outcome.metrics.latency) return;
  if (!best && ++entry.found == counts_.size()) ++complete_;
  best = Best{point, outcome, {outcome.metrics.latency}};
  if (entry.found < counts_.size()) return;
  double cycles = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    cycles += static_cast<double>(counts_[i]) * entry.layers[i]->outcome.metrics.latency;
  }
  const double area = outcome.metrics.area.value_or(0);
  if (answer_ && std::pair(answer_->cycles, answer_->area) <= std::pair(cycles, area)) return;
  answer_ = Answer{cycles, area, {}};
  for (const std::optional<Best>& one : entry.layers) answer_->layers.push_back(*one);
  curve_.emplace_back(measurements_, cycles);
}

Result<CodesignResult> search_codesign(const CodesignJob& job, const CodesignArguments& arguments, ThreadPool& threads,
                                       StoredMemory* memory, const CodesignProgress& keep_going) {
  const std::int64_t most = measurements_of(arguments, job);
  SearchRequest request{.name = searcher_name(job, arguments.search),
                        .spaces = job.spaces(),
                        .samples = most,
                        .seed = arguments.seed,
                        .settings = {}};
  for (const CodesignLayer& layer : job.layers) request.counts.push_back(static_cast<double>(layer.count));
  for (const std::string& setting : arguments.settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(request.settings, setting));
  }
  threads.stop_when(stop_asked);
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_searcher(request, threads));
  CodesignResult result;
  TW_TRY(result.settings, settings_in_force(arguments.search, request.settings));

  TW_TRY(const Objective objective, objective_named("latency"));
  SearchLoop loop(request.spaces, objective, most, threads, memory);
  MachineLedger machines(job.layers);
  loop.on_sample = [&](const Proposal& proposal, const Outcome& outcome, const Verdict&) {
    machines.consider(proposal.problem, proposal.point, outcome);
  };
  auto next_commit = std::chrono::steady_clock::now() + kCommitMeasuredEvery;
  while (loop.round(*searcher)) {
    if (memory != nullptr && std::chrono::steady_clock::now() >= next_commit) {
      TW_TRY([[maybe_unused]] const Done written, memory->commit());
      next_commit = std::chrono::steady_clock::now() + kCommitMeasuredEvery;
    }
    if (keep_going(loop, machines)) continue;
    result.interrupted = true;
    break;
  }
  threads.stop_when(nullptr);
  result.interrupted = result.interrupted || loop.is_stopped();
  if (memory != nullptr) {
    TW_TRY([[maybe_unused]] const Done written, memory->commit());
  }

  result.network = job.network_name;
  result.options = job.options;
  result.machine_name = arguments.machine;
  result.search = arguments.search;
  result.measurements = most;
  result.seed = arguments.seed;
  result.command = arguments.command;
  result.host = job.host;
  result.left_out = job.left_out;
  result.curve = machines.curve();
  result.machines_within_area = job.machines_within_area;
  result.machines = machines.machines();
  result.complete_machines = machines.complete_machines();
  const auto& answer = machines.answer();
  if (answer) result.machine = job.layers[0].space->machine(answer->layers[0].point);
  for (std::size_t i = 0; i < job.layers.size(); ++i) {
    TW_TRY(CodesignedLayer layer, codesigned(job, i, loop.ledgers()[i], answer ? &answer->layers[i] : nullptr));
    layer.calibrations = calibrations_of(*searcher, i);
    result.layers.push_back(std::move(layer));
  }
  result.all_measured =
      arguments.search == "exhaustive" && std::ranges::all_of(result.layers, [](const CodesignedLayer& layer) {
        return static_cast<double>(layer.ledger.samples) > std::pow(10, layer.log10_size) - 0.5;
      });
  if (arguments.optimum && !result.interrupted) add_optima(job, threads, result);
  return result;
}

}  // namespace tilewright
