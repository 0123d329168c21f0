#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/verification_parts.hpp"

namespace tilewright {
namespace {

using ClaimJson = nlohmann::ordered_json;

// The found schedule timed again; what is impossible or beyond a limit is a sentence.
std::optional<std::string> time_found(CodesignedLayer& layer, const CodesignStudy& result) {
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

void compute(CodesignStudy& result, Verdicts& verdicts) {
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

void compare_with_run(const CodesignStudy& result, const std::filesystem::path& directory, Verdicts& verdicts) {
  std::error_code status;
  if (!std::filesystem::exists(directory / kRunFile, status)) return;
  const Result<CodesignOptions> options = read_codesign_run(directory);
  if (!options) {
    verdicts.faults.push_back(options.error().message);
    return;
  }
  const Result<CodesignJob> job = read_codesign_job(*options);
  if (!job) {
    verdicts.checked.push_back(fmt::format("the network could not be read again ({})", job.error().message));
    return;
  }
  using Facts = nlohmann::json;
  Facts asked{{"network", job->network_name},
              {"search", options->search},
              {"seed", options->seed},
              {"measurements", measurements_of(*options, *job)},
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
  compare_facts(asked, found, verdicts);
  if (!result.machine) return;
  std::vector<StoredAnswer> answers;
  for (std::size_t i = 0; i < std::min(job->layers.size(), result.layers.size()); ++i) {
    const CodesignedLayer& layer = result.layers[i];
    const CodesignSpace& space = *job->layers[i].space;
    if (!layer.found || !same_shape(space.layer(), layer.layer)) continue;
    StoredAnswer answer{.layer = layer.name,
                        .problem = space.problem_key(),
                        .design = {},
                        .in_space = true,
                        .metrics = layer.found->metrics};
    const std::optional<Point> point = space.point_of(*result.machine, layer.found->schedule);
    if (point) space.append_design(*point, answer.design);
    answers.push_back(std::move(answer));
  }
  compare_with_store(options->store.empty() ? directory / kStoreFile : std::filesystem::path(options->store), answers,
                     verdicts);
}

}  // namespace

Result<Verdicts> verify_codesign(const ClaimJson& json, const std::filesystem::path& directory) {
  TW_TRY(CodesignStudy study, codesign_study_from(json));
  Verdicts verdicts = verify_study(study, json, compute);
  if (verdicts.faults.empty()) {
    verdicts.checked.push_back("what the search met on its way and proved to be optimal is not computed again");
  }
  compare_with_run(study, directory, verdicts);
  return verdicts;
}

}  // namespace tilewright
