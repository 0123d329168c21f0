// Everything inside the two outermost blocks of loops in time, and what it costs however those blocks are chosen.
//
//   MACs | spatial(0) temporal(0) … temporal(m-1) spatial(m) | temporal(m) | spatial(m+1) | temporal(m+1)
//          '------------------- the inside ------------------'   buffer                      outermost
//
// m is the level before the outermost one. Where the spread of the outermost level is chosen, it belongs to the inside too.
#pragma once

#include <vector>

#include "tilewright/optimum/stream.hpp"

namespace tilewright::optimum {

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

}  // namespace tilewright::optimum
