// Why a mapping does not fit a machine, and the least that would have to give: numbers of the machine, or loops of the
// mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/restriction.hpp"

namespace tilewright::hierarchy {

// One number of the machine that has to be another.
struct MachineChange {
  enum class What : std::uint8_t {
    Capacity,     // words of a copy
    Columns,      // copies side by side
    Rows,         // copies below each other
    Utilization,  // least share of the capacity that has to be in use
  };
  What what = What::Capacity;
  std::uint8_t level = 0;  // or kMacLevel
  double from = 0, to = 0;
  bool operator==(const MachineChange&) const = default;
};
std::string_view name_of(MachineChange::What what);  // "capacity", "columns", "rows", "min_utilization"

// The machine on which a mapping fits, as like the one that there is as can be.
struct Fitting {
  Machine machine;
  std::vector<MachineChange> changes;  // all that has to give together, each no more than it has to; none = it fits
  std::optional<Cost> cost;            // there; nothing where it would have more than kMostMacs MACs
};
// The mapping has passed check(), the judge does not refuse the problem. Energies of accesses stay what they are.
Fitting least_machine(const Mapping& mapping, const Problem& problem, const Machine& machine, Judge judge);

// How far the mapping is from fitting: 0 = it fits.
double excess_of(const Fitting& fitting);

// A factor of a loop that stands elsewhere: in time at level `to`.
struct LoopMove {
  std::uint8_t dim = 0;
  std::int64_t factor = 1;
  std::uint8_t from = 0, to = 0;
  bool was_spread = false;  // inside `from`; else it was in time there
  bool operator==(const LoopMove&) const = default;
};

struct Relaxation {
  Infeasible why;
  Fitting fitting;
  std::vector<LoopMove> moves;  // that make it fit the machine as it is; none = none were found
  Mapping moved;                // the mapping with them
  std::optional<Cost> with_moves;
};

// Nothing when the mapping fits. Moves are taken one prime factor at a time, always the one that leaves the least to give,
// of those that leave nothing the one with the least energy times time; what the restriction forbids is no move.
std::optional<Relaxation> relax(const Mapping& mapping, const Problem& problem, const Machine& machine, Judge judge,
                                const std::optional<Restriction>& restriction = {});

}  // namespace tilewright::hierarchy
