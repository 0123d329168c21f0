// How many words of a tensor cross the boundary of a level when loops outside it turn.
//
//   words = tile + sum over loops j outside of (trips_j - 1) * (trips of all loops outside j) * brought(j)
//
// What one advance of loop j brings depends on the set of loops between the boundary and j, not on their order. That makes
// the best order of a block a shortest path over subsets of its loops. Under model timeloop there is one exception: the
// words also depend on which of the inner loops that move a sliding tensor is the innermost, so what is not known of it is
// taken for the better.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/tensor_view.hpp"
#include "tilewright/hierarchy/windows.hpp"

namespace tilewright::optimum {

// A tensor as its tiles move.
class Flow {
 public:
  Flow(const hierarchy::Problem& problem, std::size_t tensor, hierarchy::Judge judge);

  std::uint32_t relevant() const { return view_.relevant; }
  bool is_relevant(std::uint8_t dim) const { return (view_.relevant >> dim & 1) != 0; }
  bool slides() const { return slides_; }
  bool is_plain() const { return plain_; }  // every rank is one dimension, every step one word
  const hierarchy::TensorView& view() const { return view_; }
  // Dimensions along which tiles never have words in common: alone in their rank.
  std::uint32_t certain() const { return certain_; }

  // Words of one tile.
  double tile(const hierarchy::Extents& extents) const;

  // How far the loops inside have taken the tile when loop `dim` advances by `step`: (dim) - inside, per dimension.
  // Under model timeloop a loop counts with one step, under model hierarchy with all but one of its trips.
  std::int64_t displacement(std::int64_t trips, std::int64_t step) const {
    return judge_ == hierarchy::Judge::Timeloop ? step : (trips - 1) * step;
  }

  hierarchy::Shift shift(std::uint8_t dim, std::int64_t step, const hierarchy::Extents& inside) const;
  bool is_zero(const hierarchy::Shift& shift) const;
  bool same(const hierarchy::Shift& a, const hierarchy::Shift& b) const;

  // Words of a sliding tensor's tile that an advance brings when none of the old ones is thrown away.
  double difference(const hierarchy::Extents& tile, double full, const hierarchy::Shift& shift) const;  // timeloop
  double fresh(const hierarchy::Extents& tile, double full, std::uint8_t dim, std::int64_t step,
               const hierarchy::Extents& inside) const;  // hierarchy

  hierarchy::Judge judge() const { return judge_; }

 private:
  struct Rank {
    std::uint8_t dims[2] = {0, 0};
    std::int64_t coefficient[2] = {1, 1};
    std::size_t size = 1;
  };
  hierarchy::Judge judge_;
  hierarchy::TensorView view_;
  std::size_t dim_count_;
  bool slides_ = false, plain_ = true;
  std::uint32_t certain_ = 0;
  std::vector<Rank> ranks_;  // model hierarchy
};

// Different values of sum_i index_i * move_i with index_i below trips_i, and how many combinations share the commonest.
struct Sums {
  std::int64_t distinct = 1;
  std::int64_t most_alike = 1;
};
Sums sums_of(std::span<const std::pair<std::int64_t, std::int64_t>> trips_and_moves);

// Copies inside some blocks of loops in space as one tensor sees them.
struct Sharing {
  double copies = 1;   // all
  double groups = 1;   // that want different words
  double largest = 1;  // copies in the largest group, at most
};
// Blocks of levels first to last together. In levels of `unknown` (bit l = level l) it is not known how far a step goes:
// then groups are no more, and the largest no smaller, than there are.
Sharing sharing_of(const Flow& flow, const hierarchy::Loops& loops, std::size_t first, std::size_t last,
                   std::uint32_t unknown);

}  // namespace tilewright::optimum
