#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/codesign_result.hpp"
#include "tilewright/app/compile_result.hpp"
#include "tilewright/app/verdicts.hpp"
#include "tilewright/vta/schedule_json.hpp"

namespace tilewright {
namespace {

using ClaimJson = nlohmann::json;

std::optional<std::string> difference(const char* name, double is, const ClaimJson& claims) {
  const auto claimed = claims.at(name).get<double>();
  if (claimed == is) return std::nullopt;
  return fmt::format("{} is {:.17g}, the file says {:.17g}", name, is, claimed);
}

// The first thing a layer claims that is not so, or nothing; adds its time and energy to the totals.
std::optional<std::string> fault_of(const ClaimJson& claims, const CodesignLayer& problem, const vta::Machine& machine,
                                    const CodesignOptions& options, CodesignTotals& totals) {
  const Result<vta::Schedule> schedule = vta::schedule_from_json(claims.at("schedule"), "schedule");
  if (!schedule) return schedule.error().message;
  if (const auto misfit = vta::misfit(problem.layer(), machine, *schedule)) return misfit->sentence();
  const TimedLayer timed = time_layer(problem.layer(), machine, *schedule, options);
  if (timed.timing.fault) return timed.timing.fault->sentence;
  const auto cycles = static_cast<double>(timed.timing.cycles), energy = timed.energy.total();
  const double watts = vta::power_watts(timed.energy, timed.timing.cycles, options.physical);
  totals.cycles += static_cast<double>(problem.count) * cycles;
  totals.energy += static_cast<double>(problem.count) * energy;
  for (const auto& [name, is] : {std::pair("count", static_cast<double>(problem.count)),
                                 {"cycles", cycles},
                                 {"energy", energy},
                                 {"power_mw", 1e3 * watts},
                                 {"gemm_steps", static_cast<double>(timed.timing.gemm_steps)}}) {
    if (const auto fault = difference(name, is, claims)) return fault;
  }
  if (options.most_watts > 0 && watts > options.most_watts) {
    return fmt::format("takes {:.4g} W, more than --max-power {:.4g}", watts, options.most_watts);
  }
  const double celsius = vta::temperature_celsius(watts, options.physical);
  if (options.most_celsius > 0 && celsius > options.most_celsius) {
    return fmt::format("reaches {:.4g} degrees Celsius, more than --max-temperature {:.4g}", celsius, options.most_celsius);
  }
  return std::nullopt;
}

}  // namespace

Result<Verdicts> verify_codesign(const std::string& text, const std::filesystem::path& path) {
  TW_TRY(const CodesignArguments arguments, read_codesign_run(path.parent_path()));
  TW_TRY(const CodesignJob job, read_codesign_job(arguments));
  Verdicts verdicts;
  try {
    const ClaimJson json = ClaimJson::parse(text);
    verdicts.layers = json.at("layers").size();
    if (!json.contains("machine")) {
      verdicts.without = verdicts.layers;
      return verdicts;
    }
    TW_TRY(const vta::Machine machine, vta::machine_from_json(json.at("machine").dump(), path.string() + " (machine)"));
    CodesignTotals totals;
    for (const ClaimJson& claims : json.at("layers")) {
      const auto name = claims.at("name").get<std::string>();
      const auto problem = std::ranges::find(job.layers, name, &CodesignLayer::name);
      const std::optional<std::string> fault = problem == job.layers.end()
                                                   ? "is no layer of the network"
                                                   : fault_of(claims, *problem, machine, job.options, totals);
      if (fault) verdicts.faults.push_back(fmt::format("layer {}: {}", name, *fault));
    }
    if (verdicts.layers != job.layers.size()) {
      verdicts.faults.push_back(fmt::format("there are {} layers, the file has {}", job.layers.size(), verdicts.layers));
    }
    const double area = vta::relative_area(machine);
    if (const auto fault = difference("area", area, json)) verdicts.faults.push_back(*fault);
    if (area > job.options.area_budget) {
      verdicts.faults.push_back(fmt::format("the area is {:.4g}, more than {:.4g}", area, job.options.area_budget));
    }
    for (const auto& [name, is] : {std::pair("cycles", totals.cycles), {"energy", totals.energy}}) {
      if (const auto fault = difference(name, is, json.at("totals"))) verdicts.faults.push_back("total " + *fault);
    }
  } catch (const ClaimJson::exception& failure) {
    return invalid(fmt::format("{}: is no result of codesign ({})", path.string(), failure.what()));
  }
  return verdicts;
}

}  // namespace tilewright
