// The best tiles that a dataflow allows: where each prime factor of each loop goes, when the dataflow says which loops may
// be spread along X and along Y and which loops are inside which.
//
// All placements are tried where there are few. Elsewhere each start is improved by moving one factor to another block, or
// two factors against each other, as long as that helps.
#pragma once

#include <vector>

#include "tilewright/space/hierarchy_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

struct HierarchyRule {
  std::vector<std::uint8_t> x, y;         // dimensions that may be spread along the axis
  std::vector<std::uint8_t> inside;       // loops of every level, the innermost first
  std::vector<std::uint8_t> always = {};  // of x and y: stay spread as the first start has them
};

// So many are few, and no more are tried elsewhere: a layer takes a few hundredths of a second.
inline constexpr std::int64_t kMostTilesTried = 2'500;

// The canonical point: where nothing keeps the limits, the one that comes nearest; where nothing fits the machine, the first
// of `starts`. A tensor is kept where the first start keeps it.
Point best_tiles(const HierarchySpace& space, const HierarchyRule& rule, const Objective& objective,
                 const std::vector<Point>& starts);

}  // namespace tilewright
