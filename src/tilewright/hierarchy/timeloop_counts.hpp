// Timeloop's counts of one mapping (docs/hierarchy.md): tiles, partitions and accesses of every level and tensor.
//
// Timeloop walks the nest with two iterations per temporal loop, the second standing for all but the first. A tile's box
// moves by a fixed vector whenever loop j of those above it advances (all loops inside fall back to 0):
//
//   s_j = move(step_j) - sum over i < j of move(step_i)        weight  w_j = (t_j - 1) * product over i > j of t_i
//
// With f the innermost j that moves the box, the new words of an advance of j are none when s_j = 0, those outside the box
// moved back by s_f when s_j = s_f, and the whole tile otherwise.
#pragma once

#include "tilewright/hierarchy/analysis.hpp"
#include "tilewright/hierarchy/mapping.hpp"
#include "tilewright/hierarchy/spread.hpp"

namespace tilewright::hierarchy {

class TimeloopCounter {
 public:
  TimeloopCounter(const Problem& problem, const Machine& machine);

  // Fills the networks of one tensor, and the tensor's counts in every level. `loops` are those of `mapping`.
  void count(std::size_t tensor, const Mapping& mapping, const Loops& loops, Hops hops, Analysis& into);

  const TensorView& view(std::size_t tensor) const { return views_[tensor]; }

 private:
  // What happens at a boundary when one of the loops above it advances.
  enum class Delta : std::uint8_t { Empty, Difference, Full };
  struct Advance {
    double weight = 0;
    Delta delta = Delta::Full;
    Shift shift{};
  };
  struct Deltas {
    double full = 1;        // words of the tile
    double difference = 1;  // words that the innermost moving loop brings
    double words = 1;       // of all visits together
    double of(Delta delta) const { return delta == Delta::Empty ? 0 : delta == Delta::Full ? full : difference; }
  };

  Deltas deltas(const TensorView& view, const Loops& loops, std::size_t level);
  void set_advances(const TensorView& view, const Loops& loops, std::size_t first);
  void set_records(const TensorView& view, const Loops& loops, std::size_t level, const LevelMapping& mapping, Hops hops,
                   std::size_t tensor, NetworkCounts& into);
  void add_links(const Deltas& deltas, bool above_macs);

  const Machine& machine_;
  std::vector<TensorKind> kinds_;
  std::vector<TensorView> views_;
  Spread spread_;
  std::array<double, kMostLevels * kMostDims + 1> outer_trips_{};  // [l] = trips of loop l and all outside it
  std::vector<Advance> advances_;
  struct Linked {
    Shift shift{};
    double words = 0;
  };
  std::vector<Linked> linked_;
};

}  // namespace tilewright::hierarchy
