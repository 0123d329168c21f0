// Row stationary (Chen et al., Eyeriss): a cluster makes one output row; each of its processing elements holds one kernel
// row and meets one input row with it, so kernel rows, input rows and partial sums all stay while columns pass by.
#pragma once

#include <optional>

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/dataflow_roles.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

// Nothing where there are no kernel rows to spread (a product, a kernel of one row), or no tiles that fit and can be fed.
std::optional<Mapping> row_stationary(const RoleLoops& loops, const Accelerator& accelerator);

}  // namespace tilewright
