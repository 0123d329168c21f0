// What evaluating a point of a design space gives: numbers, or the reason there are none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tilewright {

struct Metrics {
  double latency = 0;          // cycles
  double energy = 0;           // nJ
  std::optional<double> area;  // um²; nothing = unknown
  double power = 0;            // mW
  double macs = 0;             // of the problem
  double l1 = 0;               // bytes per processing element
  double l2 = 0;               // bytes
  double pes = 0;              // processing elements of the machine

  double edp() const { return energy * latency; }
  bool operator==(const Metrics&) const = default;
};

// Adds `count` of `one` to what a network has: latency, energy and MACs are sums, all else the largest.
inline void accumulate(Metrics& sum, const Metrics& one, double count) {
  sum.latency += count * one.latency;
  sum.energy += count * one.energy;
  sum.macs += count * one.macs;
  if (one.area) sum.area = std::max(sum.area.value_or(0), *one.area);
  sum.power = std::max(sum.power, one.power);
  sum.l1 = std::max(sum.l1, one.l1);
  sum.l2 = std::max(sum.l2, one.l2);
  sum.pes = std::max(sum.pes, one.pes);
}

struct Outcome {
  bool feasible = false;
  std::uint8_t reason = 0;  // when infeasible; DesignSpace::reason_name tells it
  Metrics metrics;          // when feasible
  bool operator==(const Outcome&) const = default;
};

}  // namespace tilewright
