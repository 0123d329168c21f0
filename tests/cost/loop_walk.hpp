// A mapping carried out: every loop walked, every tile handed out, every multiplication done one by one.
//
// Slow and obvious on purpose: it shares no formula with the cost model, so that the two can check each other.
// What the directives of a level mean, for a region of the nest (at level 0 all of it):
//   - A loop (size m, offset o) over D indices has tiles 0, 1, … until the region is covered: 1 + ceil((D - m) / o) of them.
//     Tile i is [i o, i o + m), cut off at the end of the region. A dimension without a loop is one tile.
//   - Temporal: all units work on the same tile, one tile per step. Spatial: in step t unit u works on tile t * units + u,
//   and
//     rests when there is none. Loops written first are outermost.
//   - On Y' and X' sizes count output positions, as many input rows belong to them as the kernel tile of the level reaches.
//     With a stride, tiles that hold the whole kernel are rounded to whole outputs (up for Y' and X', down for Y and X), and
//     move on by the outputs they hold.
//   - A unit produces the outputs whose window over its kernel tile lies within its input tile and that its parent produces.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/cost/cost.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

// Elements of one operand in one step of level 0.
struct StepElements {
  std::int64_t once_fresh = 0;  // in the tile of a unit that did not hold it before; counted once however many units want it
  std::int64_t each_fresh = 0;  // likewise, counted for each such unit
  std::int64_t once_whole = 0;  // in the tile of a unit, held before or not; counted once
  std::int64_t each_whole = 0;  // likewise, counted for each unit
};

// One step of level 0. A unit holds its latest tile, also while it rests.
struct WalkedStep {
  int moved = -1;                 // index of the directive that moved on; -1 in the first step
  std::uint32_t began_again = 0;  // bit per directive further in that went back to its first tile
  std::int64_t busy_units = 0;
  PerOperand<StepElements> elements;
};

struct LoopWalk {
  std::int64_t executed = 0;  // multiplications done at processing elements
  std::int64_t distinct = 0;  // different ones
  std::int64_t missing = 0;   // of the nest, never done
  std::int64_t cycles = 0;    // the units of a level start each step together; nothing but multiplications takes time
  double busy_pes = 0;        // mean over the steps
  PerOperand<std::int64_t> largest_tile{};  // elements a processing element works on in one step
  std::vector<WalkedStep> steps;

  std::int64_t duplicates() const { return executed - distinct; }
};

// For nests of up to some ten thousand multiplications.
LoopWalk walk_loops(const Nest& nest, const Mapping& mapping, std::int64_t pes, std::int64_t macs_per_cycle = 1);

}  // namespace tilewright
