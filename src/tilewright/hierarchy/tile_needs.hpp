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

  // Whether the level has room for the tiles of the tensors it keeps when they cover `extents`. Never false where the judge
  // finds room, and larger extents never fit where smaller ones do not.
  bool fits(std::size_t level, TensorMask keeps, const Extents& extents) const;

 private:
  std::vector<TensorView> views_;        // judge timeloop
  std::optional<ExactCounter> counter_;  // judge hierarchy
  struct Room {
    std::optional<double> bits;  // nothing = unlimited
    PerTensor<double> element_bits{};
  };
  std::vector<Room> rooms_;  // by level
  std::size_t tensor_count_ = 0;
};

}  // namespace tilewright::hierarchy
