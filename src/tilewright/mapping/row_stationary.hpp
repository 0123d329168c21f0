// Row stationary (Chen et al., Eyeriss): a cluster makes one output row; each of its processing elements holds one kernel
// row and meets one input row with it, so kernel rows, input rows and partial sums all stay while columns pass by.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/dataflow_roles.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

struct RowPlan {
  std::int64_t groups = 1;        // of clusters, each with output channels of its own
  std::int64_t clusters = 1;      // of one group; a cluster makes one output row
  std::int64_t cluster_size = 1;  // processing elements
  std::int64_t out = 1, in = 1;   // channels a processing element works on at a time
  std::int64_t columns = 1;       // outputs of a row that a step of level 0 covers

  bool operator==(const RowPlan&) const = default;
};

// For every way to group the machine, the largest channels that fit and can be fed, best first by an estimate. None where
// there are no kernel rows to spread (a product, a kernel of one row).
std::vector<RowPlan> row_plans(const RoleLoops& loops, const Accelerator& accelerator);

// `plan` with other channels or columns. Not all of them fit.
std::vector<RowPlan> neighbours(const RowPlan& plan, const RoleLoops& loops);

Mapping to_mapping(const RoleLoops& loops, const RowPlan& plan);

}  // namespace tilewright
