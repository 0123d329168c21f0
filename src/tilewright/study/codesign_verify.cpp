#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/json_difference.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign_result.hpp"
#include "tilewright/study/compile_result.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/simulate_command.hpp"
#include "tilewright/study/verdicts.hpp"
#include "tilewright/vta/schedule_json.hpp"

namespace tilewright {
namespace {

using ClaimJson = nlohmann::ordered_json;

Result<CodesignSpaceOptions> options_of(const ClaimJson& json) {
  CodesignSpaceOptions options;
  vta::TimingOptions timing;
  const auto take = [&json](const char* name, auto& value) {
    value = json.at(name).get<std::remove_reference_t<decltype(value)>>();
  };
  take("read_latency", timing.read_latency);
  take("write_latency", timing.write_latency);
  take("bus_bytes", timing.bus_bytes);
  take("burst_bytes", timing.burst_bytes);
  TW_TRY(options.timing, timing_options(json.at("core").get<std::string>(), timing));
  take("clock_mhz", options.physical.clock_mhz);
  take("ambient_celsius", options.physical.ambient_celsius);
  take("kelvin_per_watt", options.physical.kelvin_per_watt);
  TW_TRY(options.physical, vta::check(options.physical));
  take("area_budget", options.area_budget);
  take("fixed_machine", options.fixed_machine);
  take("search_buffers", options.search_buffers);
  if (json.contains("max_power")) take("max_power", options.most_watts);
  if (json.contains("max_temperature")) take("max_temperature", options.most_celsius);
  TW_TRY(options.base, vta::machine_from_json(json.at("base_machine").dump(), "base_machine"));
  return options;
}

std::vector<Calibration> calibrations_of(const ClaimJson& json) {
  std::vector<Calibration> calibrations;
  for (const ClaimJson& one : json) {
    calibrations.push_back({one.at("rank_correlation").get<double>(), one.at("top_recall").get<double>()});
  }
  return calibrations;
}

// What a search has met and found, without anything that follows from it.
Result<CodesignedLayer> layer_of(const ClaimJson& json) {
  CodesignedLayer layer;
  layer.name = json.at("name").get<std::string>();
  layer.count = json.at("count").get<std::int64_t>();
  TW_TRY(layer.layer, layer_from(json, layer.name));
  layer.ledger.samples = json.at("measurements").get<std::int64_t>();
  layer.ledger.valid = json.at("valid").get<std::int64_t>();
  layer.ledger.repeated = json.at("repeated").get<std::int64_t>();
  if (json.contains("own_best_cycles")) {
    layer.ledger.best.emplace();
    layer.ledger.best->outcome.metrics.latency = json.at("own_best_cycles").get<double>();
  }
  for (const ClaimJson& one : json.at("improvements")) {
    layer.ledger.improvements.push_back({one.at(0).get<std::int64_t>(), {one.at(1).get<double>()}});
  }
  for (const auto& [reason, count] : json.at("rejected").items()) {
    layer.rejected.emplace_back(reason, count.get<std::int64_t>());
  }
  layer.calibrations = calibrations_of(json.at("calibration"));
  for (const auto& [name, value] :
       {std::pair("optimum_cycles", &layer.optimum_cycles), {"joint_optimum_cycles", &layer.joint_optimum_cycles}}) {
    if (json.contains(name)) *value = json.at(name).get<double>();
  }
  if (!json.contains("schedule")) return layer;
  layer.found.emplace();
  TW_TRY(layer.found->schedule, vta::schedule_from_json(json.at("schedule"), "schedule"));
  return layer;
}

Result<CodesignResult> codesign_of(const ClaimJson& json) {
  CodesignResult result;
  result.network = json.at("network").get<std::string>();
  result.interrupted = json.at("status") == "interrupted";
  result.search = json.at("search").get<std::string>();
  result.measurements = json.at("measurements").get<std::int64_t>();
  result.seed = json.at("seed").get<std::uint64_t>();
  TW_TRY(result.options, options_of(json));
  if (json.contains("settings")) {
    for (const auto& [name, value] : json.at("settings").items()) {
      result.settings.push_back({name, value.get<std::string>(), ""});
    }
  }
  if (json.contains("machine")) {
    TW_TRY(result.machine, vta::machine_from_json(json.at("machine").dump(), "machine"));
    const ClaimJson& check = json.at("verification");
    result.check.executed = check.at("executed").get<bool>();
    result.check.equal = check.at("equal").get<bool>();
    result.check.whole = check.at("whole_network").get<bool>();
    result.check.programs = check.at("programs").get<std::size_t>();
    result.check.sentence = check.at("sentence").get<std::string>();
    if (result.check.whole) result.check.cycles = check.at("cycles").get<std::int64_t>();
  }
  result.machines = json.at("measured").at("machines").get<std::size_t>();
  result.complete_machines = json.at("measured").at("complete_machines").get<std::size_t>();
  result.curve = json.at("curve").get<std::vector<std::pair<std::int64_t, double>>>();
  for (const ClaimJson& entry : json.at("layers")) {
    TW_TRY(CodesignedLayer layer, layer_of(entry));
    result.layers.push_back(std::move(layer));
  }
  result.left_out = json.at("left_out").get<std::int64_t>();
  for (const ClaimJson& entry : json.at("host")) {
    result.host.push_back(
        {entry.at("name").get<std::string>(), entry.at("count").get<std::int64_t>(), entry.at("reason").get<std::string>()});
  }
  return result;
}

// The found schedule timed again; what is impossible or beyond a limit is a sentence.
std::optional<std::string> time_found(CodesignedLayer& layer, const CodesignResult& result) {
  CodesignedLayer::Found& found = *layer.found;
  const CodesignSpaceOptions& options = result.options;
  if (const auto misfit = vta::misfit(layer.layer, *result.machine, found.schedule)) return misfit->sentence();
  const TimedLayer timed = time_layer(layer.layer, *result.machine, found.schedule, options);
  if (timed.timing.fault) return timed.timing.fault->sentence;
  const double watts = vta::power_watts(timed.energy, timed.timing.cycles, options.physical);
  found.timing = timed.timing;
  found.metrics.latency = static_cast<double>(timed.timing.cycles);
  found.metrics.energy = timed.energy.total();
  found.metrics.power = 1e3 * watts;
  found.metrics.macs = static_cast<double>(macs(layer.layer).value);
  if (options.most_watts > 0 && watts > options.most_watts) {
    return fmt::format("takes {:.4g} W, more than --max-power {:.4g}", watts, options.most_watts);
  }
  const double celsius = vta::temperature_celsius(watts, options.physical);
  if (options.most_celsius > 0 && celsius > options.most_celsius) {
    return fmt::format("reaches {:.4g} degrees Celsius, more than --max-temperature {:.4g}", celsius, options.most_celsius);
  }
  return std::nullopt;
}

void compute(CodesignResult& result, Verdicts& verdicts) {
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    CodesignedLayer& layer = result.layers[i];
    const CodesignSpace space(layer.name, layer.layer, result.options);
    layer.log10_size = space.log10_size();
    layer.default_cycles = default_cycles(layer.layer, result.options);
    if (i == 0) {
      if (const auto within = machines_within(space, result.options.area_budget)) result.machines_within_area = *within;
    }
    if (layer.found && !result.machine) {
      verdicts.faults.push_back(fmt::format("layer {}: has a schedule, but there is no machine", printable(layer.name)));
      layer.found.reset();
    } else if (!layer.found) {
      ++verdicts.without;
    } else if (const auto fault = time_found(layer, result)) {
      verdicts.faults.push_back(fmt::format("layer {}: {}", printable(layer.name), *fault));
    }
  }
  if (!result.machine) return;
  const double area = vta::relative_area(*result.machine);
  if (area > result.options.area_budget) {
    verdicts.faults.push_back(fmt::format("the area is {:.4g}, more than {:.4g}", area, result.options.area_budget));
  }
}

void compare_with_run(const CodesignResult& result, const std::filesystem::path& directory, Verdicts& verdicts) {
  std::error_code status;
  if (!std::filesystem::exists(directory / kRunFile, status)) return;
  const Result<CodesignArguments> arguments = read_codesign_run(directory);
  if (!arguments) {
    verdicts.faults.push_back(arguments.error().message);
    return;
  }
  const Result<CodesignJob> job = read_codesign_job(*arguments);
  if (!job) {
    verdicts.checked.push_back(fmt::format("the network could not be read again ({})", job.error().message));
    return;
  }
  using Facts = nlohmann::json;
  Facts asked{{"network", job->network_name},
              {"search", arguments->search},
              {"seed", arguments->seed},
              {"measurements", measurements_of(*arguments, *job)},
              {"fixed_machine", job->options.fixed_machine},
              {"area_budget", job->options.area_budget},
              {"layers", Facts::array()},
              {"left_out", job->left_out}};
  Facts found{{"network", result.network},
              {"search", result.search},
              {"seed", result.seed},
              {"measurements", result.measurements},
              {"fixed_machine", result.options.fixed_machine},
              {"area_budget", result.options.area_budget},
              {"layers", Facts::array()},
              {"left_out", result.left_out}};
  for (const CodesignLayer& layer : job->layers) asked["layers"].push_back({{"name", layer.name}, {"count", layer.count}});
  for (const CodesignedLayer& layer : result.layers)
    found["layers"].push_back({{"name", layer.name}, {"count", layer.count}});
  for (std::size_t i = 0; i < std::min(job->layers.size(), result.layers.size()); ++i) {
    if (!same_shape(job->layers[i].layer(), result.layers[i].layer)) {
      verdicts.faults.push_back(fmt::format("layer {}: is not that of the network", printable(result.layers[i].name)));
    }
  }
  const std::vector<std::string> faults = differences(asked, found);
  for (const std::string& fault : faults) verdicts.faults.push_back("as run.json asked, " + fault);
  if (faults.empty()) verdicts.checked.push_back("network, machine and search are those of run.json");
}

}  // namespace

Result<Verdicts> verify_codesign(const ClaimJson& json, const std::filesystem::path& directory) {
  Verdicts verdicts;
  try {
    TW_TRY(CodesignResult result, codesign_of(json));
    verdicts.layers = result.layers.size();
    if (result.layers.empty()) verdicts.faults.push_back("has no layers, expected at least one");
    compute(result, verdicts);
    for (std::string& fault : differences_of(to_json(result), json)) verdicts.faults.push_back(std::move(fault));
    if (verdicts.faults.empty()) {
      verdicts.checked.push_back(fmt::format("{} of {} layers evaluated again, every number equal",
                                             verdicts.layers - verdicts.without, verdicts.layers));
      verdicts.checked.push_back("what the search met on its way and proved to be optimal is not computed again");
    }
    compare_with_run(result, directory, verdicts);
  } catch (const ClaimJson::exception& failure) {
    return invalid(fmt::format("is no result of codesign ({})", failure.what()));
  }
  return verdicts;
}

}  // namespace tilewright
