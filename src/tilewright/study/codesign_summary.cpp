// What follows from the layers of a co-design.
#include <cmath>

#include "tilewright/study/codesign.hpp"

namespace tilewright {

double ideal_share(const CodesignedLayer::Found& found) {
  return static_cast<double>(found.timing.gemm_steps) / found.metrics.latency;
}

double mac_share(const CodesignedLayer::Found& found, const vta::Machine& machine) {
  return found.metrics.macs / (found.metrics.latency * static_cast<double>(machine.macs_per_step()));
}

CodesignPower power_of(const CodesignStudy& study, const CodesignTotals& totals) {
  vta::Energy energy;
  energy.macs = totals.energy;  // which part is which does not matter to power
  const double watts = vta::power_watts(energy, std::llround(totals.cycles), study.options.physical);
  return {watts, vta::temperature_celsius(watts, study.options.physical)};
}

std::vector<Calibration> mean_calibrations(const CodesignStudy& study) {
  std::vector<Calibration> means;
  for (std::size_t round = 0;; ++round) {
    Calibration sum;
    double count = 0;
    for (const CodesignedLayer& layer : study.layers) {
      if (layer.calibrations.size() <= round) continue;
      sum.rank_correlation += layer.calibrations[round].rank_correlation;
      sum.top_recall += layer.calibrations[round].top_recall;
      ++count;
    }
    if (count == 0) return means;
    means.push_back({sum.rank_correlation / count, sum.top_recall / count});
  }
}

CodesignTotals totals_of(const CodesignStudy& study) {
  CodesignTotals totals;
  totals.default_cycles = 0;
  totals.optimum_cycles = 0;
  for (const CodesignedLayer& layer : study.layers) {
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
