// How much of a level's capacity tiles take at the least: what masks of a design space ask before a mapping is whole.
#pragma once

#include <vector>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/exact_counts.hpp"
#include "tilewright/hierarchy/tensor_view.hpp"

namespace tilewright::hierarchy {

class TileNeeds {
 public:
  // The judge does not refuse the problem.
  TileNeeds(const Problem& problem, const Machine& machine, Judge judge);

  // An output is a partial sum or not by loops that may not be known yet.
  enum class Outputs : std::uint8_t { Narrowest, Widest };

  // Words of the tensor's tile when it covers `extents`.
  std::int64_t words(std::size_t tensor, const Extents& extents) const {
    return counter_ ? counter_->tile(tensor, extents) : views_[tensor].words(extents);
  }

  bool is_limited(std::size_t level) const { return rooms_[level].bits.has_value(); }
  // Whether the level has room for tiles of so many `words` of the tensors it keeps. With the narrowest outputs never false
  // where the judge finds room, with the widest never true where it does not; larger tiles never fit where smaller ones do
  // not.
  bool fits(std::size_t level, TensorMask keeps, const PerTensor<std::int64_t>& words, Outputs outputs) const;

 private:
  std::vector<TensorView> views_;        // judge timeloop
  std::optional<ExactCounter> counter_;  // judge hierarchy
  struct Room {
    std::optional<double> bits;                       // nothing = unlimited
    std::array<PerTensor<double>, 2> element_bits{};  // by Outputs
  };
  std::vector<Room> rooms_;  // by level
  std::size_t tensor_count_ = 0;
};

}  // namespace tilewright::hierarchy
