#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/codesign.hpp"
#include "tilewright/report/codesign_words.hpp"

namespace tilewright {

std::string to_text(const CodesignStudy& study) {
  const CodesignTotals totals = totals_of(study);
  const std::string measured = study.all_measured
                                   ? "every point of the space"
                                   : fmt::format("{} measurements per layer", with_thousands(study.measurements));
  std::string text = fmt::format("{}: fewest cycles by {} ({}, seed {})\n{}\n\n", study.network, study.search, measured,
                                 study.seed, space_words(study));
  const auto line = [&text](const auto&... cells) {
    text += fmt::format("  {:<24} {:>5} {:<24} {:>7} {:>12} {:>9} {:>9} {:>9}\n", cells...);
  };
  const auto percent_words = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
  line("layer", "times", "tiles", "threads", "cycles", "of ideal", "MACs used", "default");
  for (const CodesignedLayer& layer : study.layers) {
    if (!layer.found) {
      line(layer.name, layer.count, "–", "–", "–", "–", "–", "–");
      continue;
    }
    const CodesignedLayer::Found& found = *layer.found;
    line(layer.name, layer.count, tile_words(found.schedule), thread_words(found.schedule),
         with_thousands(found.timing.cycles), percent_words(ideal_share(found)),
         percent_words(mac_share(found, *study.machine)),
         layer.default_cycles ? fmt::format("{:.2f}x", static_cast<double>(*layer.default_cycles) / found.metrics.latency)
                              : "–");
  }
  if (study.machine) {
    const double lanes = static_cast<double>(study.machine->macs_per_step());
    line("all", "", "", "", with_thousands(std::llround(totals.cycles)), percent_words(totals.gemm_steps / totals.cycles),
         percent_words(totals.macs / (totals.cycles * lanes)),
         totals.default_cycles ? fmt::format("{:.2f}x", *totals.default_cycles / totals.cycles) : "–");
  }
  text += "\nof ideal: GEMM steps per cycle; default: cycles of the default machine at its default schedule, by these\n";
  if (study.machine) {
    const CodesignPower power = power_of(study, totals);
    text += fmt::format("machine: {}; area {:.3f} of the default's, {:.2f} W, {:.0f} °C\n", machine_words(*study.machine),
                        vta::relative_area(*study.machine), power.watts, power.celsius);
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
  if (study.layers[0].joint_optimum_cycles && study.layers[0].found) {
    text += fmt::format(
        "optimum: {:.2f} % more cycles than the best of the space on any machine\n",
        100 * (totals.cycles / (*study.layers[0].joint_optimum_cycles * static_cast<double>(study.layers[0].count)) - 1));
  }
  text += fmt::format("measured: {} points, {} of them valid", with_thousands(totals.measurements),
                      with_thousands(totals.valid));
  if (!study.options.fixed_machine) {
    text += fmt::format(", on {} of the {} machines within the area, {} of them on every layer", study.machines,
                        study.machines_within_area, study.complete_machines);
  }
  text += "\n";
  const std::vector<Calibration> rounds = mean_calibrations(study);
  if (!rounds.empty()) {
    text += fmt::format(
        "surrogate: rank correlation {:.2f} and recall of the best tenth {:.2f} in round 2, {:.2f} and {:.2f} in "
        "round {}\n",
        rounds.front().rank_correlation, rounds.front().top_recall, rounds.back().rank_correlation, rounds.back().top_recall,
        rounds.size() + 1);
  }
  for (const HostLayer& layer : study.host) text += fmt::format("on the host: {}: {}\n", layer.name, layer.reason);
  for (const std::string& sentence : remarks_on(study)) text += sentence + "\n";
  if (study.machine) text += study.check.sentence + "\n" + vta::to_json(*study.machine);
  return text;
}

}  // namespace tilewright
