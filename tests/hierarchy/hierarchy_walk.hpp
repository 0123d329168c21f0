// The slow and obvious second way to model hierarchy's counts: every step of the nest, every copy, explicit sets of words.
#pragma once

#include "tilewright/hierarchy/analysis.hpp"
#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

struct WalkCounts {
  std::int64_t reads = 0, fills = 0, updates = 0;
  std::int64_t tile = 0;  // the largest
};

struct Walk {
  std::int64_t steps = 0;
  std::int64_t computes = 0;
  std::vector<std::vector<WalkCounts>> levels;  // [level][tensor], of all copies together
};

Walk walk(const Problem& problem, const Mapping& mapping);

}  // namespace tilewright::hierarchy
