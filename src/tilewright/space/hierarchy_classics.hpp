// The classic dataflows on machines with memory levels: what may be spread along which axis, and what stays, is the
// dataflow's; tiles are the best that it allows for the objective (hierarchy_tiles.hpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tilewright/space/hierarchy_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

struct HierarchyClassic {
  std::string_view name;  // "weight-stationary"
  Point point;
};

// Those that are points of the space, each point under its first name. Not all of them need fit.
std::vector<HierarchyClassic> classics_of(const HierarchySpace& space, const Objective& objective);
// The one that is called so, whether or not another means the same. An Error when there is no such dataflow, or none for
// such a problem.
Result<Point> classic_named(const HierarchySpace& space, std::string_view name, const Objective& objective);
// Every name there is, and what it means.
struct ClassicInfo {
  std::string_view name, summary;
};
std::span<const ClassicInfo> hierarchy_classics();

}  // namespace tilewright
