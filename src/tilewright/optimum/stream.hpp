// The words of one tensor on their way from one level that keeps it to the next, and what they cost.
#pragma once

#include <vector>

#include "tilewright/optimum/flow.hpp"
#include "tilewright/optimum/prices.hpp"
#include "tilewright/optimum/question.hpp"

namespace tilewright::optimum {

struct Model {
  explicit Model(const Question& question);

  const hierarchy::Problem& problem;
  const hierarchy::Machine& machine;
  hierarchy::Judge judge;
  const hierarchy::Restriction& restriction;
  Prices prices;
  std::vector<Flow> flows;  // of the tensors
  std::size_t dim_count, level_count;

  bool is_output(std::size_t tensor) const { return problem.tensors[tensor].kind == hierarchy::TensorKind::Output; }
  // Model timeloop takes a box of first visits off the reads of an output, also where nothing visits some of its words:
  // there may be fewer reads than none, and nothing here counts them.
  bool elides_more_than_it_visits(std::size_t tensor) const {
    return judge == hierarchy::Judge::Timeloop && is_output(tensor) && !flows[tensor].is_plain();
  }
  bool is_countable() const {
    for (std::size_t tensor = 0; tensor < flows.size(); ++tensor) {
      if (elides_more_than_it_visits(tensor)) return false;
    }
    return true;
  }
};

// Words of one tensor that cross the boundary of `child`, on their way to or from `parent`.
struct Stream {
  const Flow* flow = nullptr;
  std::uint8_t child = 0, parent = 0;
  hierarchy::Extents tile{};
  double full = 0;
  Costs below{}, above{};       // per word that crosses: at the child, and at the parent
  hierarchy::Extents inside{};  // how far loops between the boundary and here take the tile
  bool empty = true;            // there are none
  bool moved = false;           // one of them moves it
  hierarchy::Shift first{};     // model timeloop: what the innermost of those brings
  // Neighbours may pass words on (model timeloop).
  bool links = false;
  double copies = 1, parents = 1;                  // of the block above the boundary, and of the level that serves it
  std::vector<std::vector<std::int64_t>> offsets;  // of those copies, by rank; nothing = unknown

  // At most this share of what an advance brings may be had without the parent, and without paying for it below.
  struct Share {
    double above = 1, below = 1;
  };
  Share least_share(const hierarchy::Shift& shift) const;
};

// Words from one boundary to the next level that keeps the tensor: prices filled in, nothing moved yet. `partial`: an output
// has sums to come outside the level (child, parent). How far loops in space step is not known of levels in `unknown`.
Stream make_stream(const Model& model, const hierarchy::Loops& loops, std::uint32_t unknown, std::size_t tensor,
                   std::size_t child, std::size_t parent, bool child_partial, bool parent_partial, Costs& base);

// Words that MACs take from, or give to, the innermost level that keeps a tensor, when `steps` points follow each other in
// time; adds what they cost.
void add_mac_words(const Model& model, const hierarchy::Loops& loops, std::uint32_t unknown, std::size_t tensor,
                   std::size_t level, bool partial, double steps, Costs& base);

}  // namespace tilewright::optimum
