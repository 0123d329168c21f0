// One combination of where the loops of a level stand, and the volumes that follow from it as MAESTRO works them out
// (docs/cost_model.md).
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/cost/loop_states.hpp"

namespace tilewright {

struct Stance {
  const Plan& plan;
  const LevelPlan& level;
  std::array<LoopState, kMaxDirectives> state;
  int changed = -1;      // index of the innermost loop that is not at its first tile
  bool starved = false;  // a tile that brings nothing new was asked for

  const LoopState& at(std::size_t loop) const { return state[loop]; }

  std::int64_t array_ingress(std::size_t operand);  // what all units must be sent
  std::int64_t egress() const;
  std::int64_t critical_path() const;  // multiplications of the longest unit
  std::int64_t array_macs() const;
  DimSizes inner_sizes(bool ragged) const;  // that a unit below sees

 private:
  // The spatial loops on a tensor's dimensions; its last spatial dimension says whether the last unit is ragged.
  struct SpatialView {
    bool any = false;
    bool edge = false;
    bool ragged = false;
  };

  bool on(std::size_t loop, std::size_t operand) const {
    return (plan.tensors.mask[operand] & bit(level.loops[loop].dim)) != 0;
  }
  bool restarts(std::size_t operand) const;
  SpatialView spatial_on(std::size_t operand) const;
  // Sums `part(first, ragged)` over the units at work.
  template <typename Part>
  std::int64_t over_units(const SpatialView& view, const Part& part) const;

  // Of one unit: the first or another, with a full tile or a ragged one.
  std::int64_t mapped(std::size_t operand, bool first, bool ragged) const;
  std::int64_t ingress(std::size_t operand, bool first, bool ragged);
  std::int64_t reduction_factor(std::size_t i, bool first, bool ragged) const;
  std::int64_t output_factor(std::size_t i, bool first, bool ragged, bool reuse) const;
  std::int64_t outputs(bool partial_sums, bool first, bool ragged, bool reuse) const;
};

}  // namespace tilewright
