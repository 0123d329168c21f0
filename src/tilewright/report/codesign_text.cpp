#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign_words.hpp"

namespace tilewright {

std::string to_text(const CodesignResult& result) {
  const CodesignTotals totals = totals_of(result);
  const std::string measured = result.all_measured
                                   ? "every point of the space"
                                   : fmt::format("{} measurements per layer", with_thousands(result.measurements));
  std::string text = fmt::format("{}: fewest cycles by {} ({}, seed {})\n{}\n\n", result.network, result.search, measured,
                                 result.seed, space_words(result));
  const auto line = [&text](const auto&... cells) {
    text += fmt::format("  {:<24} {:>5} {:<24} {:>7} {:>12} {:>9} {:>9} {:>9}\n", cells...);
  };
  const auto percent_words = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
  line("layer", "times", "tiles", "threads", "cycles", "of ideal", "MACs used", "default");
  for (const CodesignedLayer& layer : result.layers) {
    if (!layer.found) {
      line(layer.name, layer.count, "–", "–", "–", "–", "–", "–");
      continue;
    }
    const CodesignedLayer::Found& found = *layer.found;
    line(layer.name, layer.count, tile_words(found.schedule), thread_words(found.schedule),
         with_thousands(found.timing.cycles), percent_words(ideal_share(found)),
         percent_words(mac_share(found, *result.machine)),
         layer.default_cycles ? fmt::format("{:.2f}x", static_cast<double>(*layer.default_cycles) / found.metrics.latency)
                              : "–");
  }
  if (result.machine) {
    const double lanes = static_cast<double>(result.machine->macs_per_step());
    line("all", "", "", "", with_thousands(std::llround(totals.cycles)), percent_words(totals.gemm_steps / totals.cycles),
         percent_words(totals.macs / (totals.cycles * lanes)),
         totals.default_cycles ? fmt::format("{:.2f}x", *totals.default_cycles / totals.cycles) : "–");
  }
  text += "\nof ideal: GEMM steps per cycle; default: cycles of the default machine at its default schedule, by these\n";
  if (result.machine) {
    const CodesignPower power = power_of(result, totals);
    text += fmt::format("machine: {}; area {:.3f} of the default's, {:.2f} W, {:.0f} °C\n", machine_words(*result.machine),
                        vta::relative_area(*result.machine), power.watts, power.celsius);
    if (totals.default_cycles) {
      text += fmt::format("network: {} cycles; the default machine at default schedules takes {}, {:.2f} times as many\n",
                          with_thousands(std::llround(totals.cycles)), with_thousands(std::llround(*totals.default_cycles)),
                          *totals.default_cycles / totals.cycles);
    }
  }
  if (totals.optimum_cycles) {
    text += fmt::format("optimum: these schedules take {:.2f} % more cycles than the best of the space on this machine\n",
                        100 * (totals.cycles / *totals.optimum_cycles - 1));
  }
  if (result.layers[0].joint_optimum_cycles && result.layers[0].found) {
    text += fmt::format(
        "optimum: {:.2f} % more cycles than the best of the space on any machine\n",
        100 * (totals.cycles / (*result.layers[0].joint_optimum_cycles * static_cast<double>(result.layers[0].count)) - 1));
  }
  text += fmt::format("measured: {} points, {} of them valid", with_thousands(totals.measurements),
                      with_thousands(totals.valid));
  if (!result.options.fixed_machine) {
    text += fmt::format(", on {} of the {} machines within the area, {} of them on every layer", result.machines,
                        result.machines_within_area, result.complete_machines);
  }
  text += "\n";
  const std::vector<Calibration> rounds = mean_calibrations(result);
  if (!rounds.empty()) {
    text += fmt::format(
        "surrogate: rank correlation {:.2f} and recall of the best tenth {:.2f} in round 2, {:.2f} and {:.2f} in "
        "round {}\n",
        rounds.front().rank_correlation, rounds.front().top_recall, rounds.back().rank_correlation, rounds.back().top_recall,
        rounds.size() + 1);
  }
  for (const HostLayer& layer : result.host) text += fmt::format("on the host: {}: {}\n", layer.name, layer.reason);
  for (const std::string& sentence : remarks_on(result)) text += sentence + "\n";
  if (result.machine) text += result.check.sentence + "\n" + vta::to_json(*result.machine);
  return text;
}

}  // namespace tilewright
