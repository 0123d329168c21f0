// What the analysis of one level for one table of actual sizes gives, and what it needs of the machine.
#pragma once

#include <cstdint>
#include <limits>

#include "tilewright/cost/plan.hpp"

namespace tilewright {

struct MachineRates {
  std::int64_t noc_bandwidth = 1;
  std::int64_t noc_latency = 0;
  std::int64_t offchip_bandwidth = 1;
  std::int64_t simd_lanes = 1;

  // Cycles until `elements` have passed the network. Nothing at all takes latency - 1, as in MAESTRO.
  std::int64_t delay(std::int64_t elements) const {
    if (elements > 0 && elements <= noc_bandwidth) return noc_latency;
    return noc_latency + elements / noc_bandwidth + (elements % noc_bandwidth != 0 ? 1 : 0) - 1;
  }
};

// Cycles a processing element needs for `macs` multiplications.
inline std::int64_t compute_cycles(std::int64_t macs, std::int64_t simd_lanes) {
  if (simd_lanes == 1) return macs;
  // Integer form of ceil((double)macs / lanes): C++ division truncates, which already rounds negative quotients up.
  return macs > 0 ? (macs + simd_lanes - 1) / simd_lanes : macs / simd_lanes;
}

// Smallest, largest and summed delay over the steps of a level. The largest starts just above zero, so it is never negative.
struct DelayStatistics {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  std::int64_t sum = 0;

  void add(std::int64_t delay, std::int64_t count) {
    least = delay < least ? delay : least;
    most = delay > most ? delay : most;
    sum += count * delay;
  }
};

struct Analysis {
  std::int64_t runtime = 0;
  std::int64_t macs = 0;
  std::int64_t leaf_macs = 0;
  std::int64_t steps = 0;  // counted ones
  double utilisation = 0;
  PerOperand<Traffic> traffic{};  // l2 = the buffer above, l1 = the buffer below
  PerOperand<std::int64_t> upper_need{};
  PerOperand<std::int64_t> lower_need{};
  PerOperand<std::int64_t> first_lower_need{};  // of the analysis that completed first at or below this level
  bool descended = false;                       // a level below was analysed
  std::int64_t peak_bandwidth = 0;
  long double bandwidth_sum = 0;
  std::int64_t offchip_bandwidth = 0;
  double arithmetic_intensity = 0;
  DelayStatistics ingress, egress, compute;
};

}  // namespace tilewright
