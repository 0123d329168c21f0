#include "tilewright/study/codesign_words.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

std::vector<std::string> missing_layers(const CodesignResult& result) {
  std::vector<std::string> sentences;
  for (const CodesignedLayer& layer : result.layers) {
    if (layer.ledger.best) continue;
    sentences.push_back(fmt::format("no schedule that fits was found for layer '{}': {}", layer.name,
                                    layer.rejected.empty()
                                        ? "nothing was measured"
                                        : fmt::format("{} of {} measurements were {}", layer.rejected[0].second,
                                                      layer.ledger.samples, layer.rejected[0].first)));
  }
  if (sentences.empty() && !result.machine) {
    sentences.push_back(
        fmt::format("no machine has been measured on every layer: {} machines have a schedule for some of the {} layers; "
                    "expected more --measurements, --search dcoc, or --machine",
                    result.machines, result.layers.size()));
  }
  return sentences;
}

}  // namespace

std::string tile_words(const vta::Schedule& s) {
  return fmt::format("b{} h{} w{} ci{} co{}", s.tile_b, s.tile_h, s.tile_w, s.tile_ci, s.tile_co);
}

std::string thread_words(const vta::Schedule& s) { return fmt::format("{}x{}", s.h_threading, s.oc_threading); }

double ideal_share(const CodesignedLayer::Found& found) {
  return static_cast<double>(found.timing.gemm_steps) / found.metrics.latency;
}

double mac_share(const CodesignedLayer::Found& found, const vta::Machine& machine) {
  return found.metrics.macs / (found.metrics.latency * static_cast<double>(machine.macs_per_step()));
}

std::int64_t buffer_bytes(const vta::Machine& machine, vta::Buffer buffer) {
  return vta::depth(machine, buffer) * vta::element_bytes(machine, buffer);
}

std::string machine_words(const vta::Machine& machine) {
  std::string text = fmt::format("{} x {} x {}", machine.batch(), machine.block_in(), machine.block_out());
  const auto kib = [&](vta::Buffer buffer) {
    return fmt::format("{} {}", vta::name_of(buffer), buffer_bytes(machine, buffer) / 1024);
  };
  return fmt::format("{}, buffers of {}, {}, {}, {} KiB", text, kib(vta::Buffer::Uop), kib(vta::Buffer::Inp),
                     kib(vta::Buffer::Wgt), kib(vta::Buffer::Acc));
}

CodesignPower power_of(const CodesignResult& result, const CodesignTotals& totals) {
  vta::Energy energy;
  energy.macs = totals.energy;  // which part is which does not matter to power
  const double watts = vta::power_watts(energy, std::llround(totals.cycles), result.options.physical);
  return {watts, vta::temperature_celsius(watts, result.options.physical)};
}

std::vector<Calibration> mean_calibrations(const CodesignResult& result) {
  std::vector<Calibration> means;
  for (std::size_t round = 0;; ++round) {
    Calibration sum;
    double count = 0;
    for (const CodesignedLayer& layer : result.layers) {
      if (layer.calibrations.size() <= round) continue;
      sum.rank_correlation += layer.calibrations[round].rank_correlation;
      sum.top_recall += layer.calibrations[round].top_recall;
      ++count;
    }
    if (count == 0) return means;
    means.push_back({sum.rank_correlation / count, sum.top_recall / count});
  }
}

std::vector<std::string> remarks_on(const CodesignResult& result) {
  std::vector<std::string> sentences = missing_layers(result);
  if (result.interrupted) sentences.push_back("stopped early, before the measurements were spent; the best so far is kept");
  if (result.left_out > 0) {
    sentences.push_back(fmt::format("layers of operators that were not asked for: {}; not counted here{}", result.left_out,
                                    result.check.whole ? ", compiled with default schedules" : ""));
  }
  if (result.search == "exhaustive" && !result.all_measured && !result.interrupted) {
    sentences.push_back(
        fmt::format("the space has more than {} points per layer: not all of it was measured, and better may be left",
                    with_thousands(result.measurements)));
  }
  if (!result.options.fixed_machine && result.machines_within_area == 1) {
    sentences.push_back(fmt::format("only one machine of the space is within the area, so only schedules were searched{}",
                                    result.options.search_buffers ? "" : "; without --fixed-buffers there are more"));
  }
  return sentences;
}

std::string space_words(const CodesignResult& result) {
  const CodesignSpaceOptions& options = result.options;
  std::string text = options.fixed_machine
                         ? fmt::format("the machine is {}", printable(result.machine_name))
                         : fmt::format("area at most {:.4g} of the default machine's", options.area_budget);
  if (!options.fixed_machine) text += options.search_buffers ? ", buffers searched" : ", default buffers";
  if (options.most_watts > 0) text += fmt::format(", at most {:.6g} W", options.most_watts);
  if (options.most_celsius > 0) text += fmt::format(", at most {:.6g} °C", options.most_celsius);
  const vta::TimingOptions& timing = options.timing;
  return fmt::format("{}; {} core, latencies {} and {}, bus of {} bytes", text, vta::name_of(timing.core),
                     timing.read_latency, timing.write_latency, timing.bus_bytes);
}

CodesignTotals totals_of(const CodesignResult& result) {
  CodesignTotals totals;
  totals.default_cycles = 0;
  totals.optimum_cycles = 0;
  for (const CodesignedLayer& layer : result.layers) {
    const auto count = static_cast<double>(layer.count);
    totals.measurements += layer.ledger.samples;
    totals.valid += layer.ledger.valid;
    totals.repeated += layer.ledger.repeated;
    totals.macs += count * static_cast<double>(macs(layer.layer).value);
    if (!layer.default_cycles) totals.default_cycles.reset();
    if (totals.default_cycles) *totals.default_cycles += count * static_cast<double>(*layer.default_cycles);
    if (!layer.optimum_cycles) totals.optimum_cycles.reset();
    if (totals.optimum_cycles) *totals.optimum_cycles += count * *layer.optimum_cycles;
    if (!layer.found) continue;
    totals.cycles += count * layer.found->metrics.latency;
    totals.energy += count * layer.found->metrics.energy;
    totals.gemm_steps += count * static_cast<double>(layer.found->timing.gemm_steps);
  }
  return totals;
}

}  // namespace tilewright
