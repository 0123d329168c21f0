// Numbers in the units people read: 55.9 ms, 3.41 mJ, 12.8 GB/s.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

// Four digits with the prefix that brings the number between 1 and 1,000.
inline std::string in_units(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 9> kPrefixes = {"p", "n", "u", "m", "", "k", "M", "G", "T"};
  if (!(value > 0) || !std::isfinite(value)) return fmt::format("{:g} {}", value, unit);
  std::size_t at = 4;
  for (; value < 1 && at > 0; --at) value *= 1000;
  for (; value >= 999.95 && at + 1 < kPrefixes.size(); ++at) value /= 1000;
  return fmt::format("{:.4g} {}{}", value, kPrefixes[at], unit);
}

inline double seconds_of(double cycles, const Accelerator& machine) { return cycles / (machine.clock_ghz * 1e9); }
inline std::string time_text(double cycles, const Accelerator& machine) {
  return in_units(seconds_of(cycles, machine), "s");
}
inline std::string energy_text(double nanojoules) { return in_units(nanojoules * 1e-9, "J"); }
inline std::string power_text(double milliwatts) { return in_units(milliwatts * 1e-3, "W"); }
// Of a bandwidth in elements per cycle; an element is a byte.
inline std::string bandwidth_text(double elements_per_cycle, const Accelerator& machine) {
  return in_units(elements_per_cycle * machine.clock_ghz * 1e9, "B/s");
}

}  // namespace tilewright
