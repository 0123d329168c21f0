// Timeloop's walk of the loops, step by step as its authors wrote it: two iterations per loop in time, boxes, remembered
// shifts.
#pragma once

#include <map>

#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

struct WalkedNetwork {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<double, double>>
      records;  // (multicast, scatter): accesses, hops
  double links = 0;
};

// Of every level, for one tensor, before anything is passed by.
std::vector<WalkedNetwork> walk_as_timeloop(const Problem& problem, const Machine& machine, const Mapping& mapping,
                                            std::size_t tensor);

}  // namespace tilewright::hierarchy
