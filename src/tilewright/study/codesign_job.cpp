// From a network and limits to the design space of every layer.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/codesign_parts.hpp"
#include "tilewright/study/machine_options.hpp"
#include "tilewright/vta/column_folding.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright {
namespace {

Result<CodesignSpaceOptions> space_options(const CodesignOptions& options) {
  CodesignSpaceOptions space;
  TW_TRY(space.timing, vta::check(options.timing, "memory"));
  TW_TRY(space.physical, vta::check(options.physical));
  space.search_buffers = !options.fixed_buffers && options.machine.empty();
  struct Limit {
    const char* flag;
    std::optional<double> value;
  };
  for (const Limit& limit : {Limit{"--area-budget", options.area_budget}, Limit{"--max-power", options.max_power},
                             Limit{"--max-temperature", options.max_temperature}}) {
    if (limit.value && !(*limit.value > 0 && std::isfinite(*limit.value))) {
      return invalid(fmt::format("{} is {}, expected a number above 0", limit.flag, *limit.value));
    }
  }
  space.most_watts = options.max_power.value_or(0);
  space.most_celsius = options.max_temperature.value_or(0);
  space.area_budget = options.area_budget.value_or(1);
  if (options.machine.empty()) return space;

  if (options.fixed_buffers) return invalid("--fixed-buffers and --machine are both given, expected one of them");
  TW_TRY(space.base, read_compiled_machine(options.machine));
  space.fixed_machine = true;
  const double area = vta::relative_area(space.base);
  if (options.area_budget && area > *options.area_budget) {
    return invalid(fmt::format("{}: the machine has {:.4g} times the default's area, expected at most --area-budget {}",
                               options.machine, area, *options.area_budget));
  }
  space.area_budget = std::max(space.area_budget, area);
  return space;
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

Result<CodesignJob> codesign_job(Network network, const CodesignSpaceOptions& space, const CodesignScope& scope) {
  CodesignJob job;
  job.network = std::move(network);
  job.network_name = printable(job.network.name);
  job.options = space;
  std::vector<LayerGroup> groups = distinct_layers(job.network);
  if (!scope.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(job.network, scope.layer));
    groups = {{index, job.network.layers[index].count, {index}}};
  }
  for (const LayerGroup& group : groups) {
    const Layer layer = vta::machine_layer(job.network.layers[group.first].layer);
    if (!scope.operators.empty() && std::ranges::find(scope.operators, layer.op) == scope.operators.end()) {
      job.left_out += group.count;
      continue;
    }
    const std::string name = printable(layer.name);
    if (const auto reason = reason_for_host(layer, job.options)) {
      job.host.push_back({name, group.count, *reason});
      continue;
    }
    auto one = std::make_unique<CodesignSpace>(fmt::format("{}/{}", job.network_name, name), layer, job.options);
    job.layers.push_back({name, group.count, std::move(one)});
  }
  if (job.layers.empty()) {
    return invalid(fmt::format("{}: has no layer for the machine{}", job.network_name,
                               job.host.empty() ? fmt::format(": none is of --operators {}", operator_words(scope.operators))
                                                : fmt::format(": '{}': {}", job.host[0].name, job.host[0].reason)));
  }
  TW_TRY(job.machines_within_area, machines_within(*job.layers[0].space, job.options.area_budget));
  return job;
}

Result<CodesignJob> read_codesign_job(const CodesignOptions& options) {
  if (options.network.empty()) {
    return invalid("the network is missing, expected zoo:NAME or a file: tilewright codesign NETWORK");
  }
  CodesignOptions checked = options;
  TW_TRY([[maybe_unused]] const Done within, check_ranges(options_of(checked)));
  TW_TRY(const CodesignSpaceOptions space, space_options(options));
  TW_TRY(const ReadOptions read, read_options(1, options.dims));
  TW_TRY(Network network, read_network(options.network, read));
  return codesign_job(std::move(network), space, {options.layer, options.operators});
}

std::int64_t measurements_of(const CodesignOptions& options, const CodesignJob& job) {
  if (options.measurements) return *options.measurements;
  if (options.search != "exhaustive") return kDefaultMeasurements;
  double most = 1;
  for (const CodesignLayer& layer : job.layers) most = std::max(most, std::pow(10, layer.space->log10_size()));
  return std::llround(std::min(1.000001 * most + 1, static_cast<double>(kMostSamples)));
}

}  // namespace tilewright
