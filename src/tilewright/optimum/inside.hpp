// Everything inside the two outermost blocks of loops in time, and what it costs however those blocks are chosen.
//
//   MACs | spatial(0) temporal(0) … temporal(m-1) spatial(m) | temporal(m) | spatial(m+1) | temporal(m+1)
//          '------------------- the inside ------------------'   buffer                      outermost
//
// m is the level before the outermost one. Where the spread of the outermost level is chosen, it belongs to the inside too.
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

struct Inside {
  hierarchy::Mapping mapping;  // with nothing in the two outermost blocks in time
  hierarchy::Extents extents;  // up to temporal(m)
  hierarchy::Extents trips;    // left for the two outermost blocks
  double outer = 1;            // their product
  double compute_cycles = 1;
  double leakage = 0;           // pJ per cycle
  Costs base{};                 // what the outer loops do not change
  std::vector<Stream> streams;  // across boundaries below m, as far as outer loops change them
  Costs least{};                // base, and the least that the streams can cost
};

// What is known of the blocks in time below m: all of them, or only their factors together, which stand in temporal(0). Then
// the inside costs no more than any that cuts those factors into blocks.
enum class Inner : std::uint8_t { Known, Together };

// `loops` is a workspace.
void build(const Model& model, hierarchy::Loops& loops, Inside& inside, Inner inner);

// Words from one boundary to the next level that keeps the tensor: prices filled in, nothing moved yet. `partial`: an output
// has sums to come outside the level (child, parent). How far loops in space step is not known of levels in `unknown`.
Stream make_stream(const Model& model, const hierarchy::Loops& loops, std::uint32_t unknown, std::size_t tensor,
                   std::size_t child, std::size_t parent, bool child_partial, bool parent_partial, Costs& base);

}  // namespace tilewright::optimum
