// What evaluating a point of a design space gives: numbers, or the reason there are none.
#pragma once

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

struct Outcome {
  bool feasible = false;
  std::uint8_t reason = 0;  // when infeasible; DesignSpace::reason_name tells it
  Metrics metrics;          // when feasible
  bool operator==(const Outcome&) const = default;
};

}  // namespace tilewright
