// What a mapping costs on a machine, or why it cannot run there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "tilewright/base/units.hpp"
#include "tilewright/hierarchy/machine.hpp"

namespace tilewright::hierarchy {

inline constexpr std::uint8_t kMacLevel = 255;  // stands for the MACs where a level is named

struct Infeasible {
  enum class Reason : std::uint8_t {
    Capacity,     // need and limit: words
    Fanout,       // need: copies in all, columns or rows, limit: those there are
    Utilization,  // need: the least words a mapping has to use, limit: those used
  };
  Reason reason = Reason::Capacity;
  std::uint8_t level = 0;  // or kMacLevel
  std::int64_t need = 0;
  std::int64_t limit = 0;
  bool operator==(const Infeasible&) const = default;
};

const std::string& level_name(const Machine& machine, std::uint8_t level);  // or what the machine calls its MACs
std::string_view name_of(Infeasible::Reason reason);                        // "capacity", as Timeloop calls it
// "level 'WtReg' holds 2 words, expected at most 1".
std::string to_sentence(const Infeasible& infeasible, const Machine& machine);

struct Cost {
  Cycles cycles;
  Picojoules energy;
  double utilization = 0;               // of all MACs over all cycles
  std::uint8_t bottleneck = kMacLevel;  // the level that takes longest; the MACs when none is slower than they

  double edp() const { return energy.value * static_cast<double>(cycles.value) * 1e-12; }  // J·cycles
};

using Evaluation = std::variant<Cost, Infeasible>;

}  // namespace tilewright::hierarchy
