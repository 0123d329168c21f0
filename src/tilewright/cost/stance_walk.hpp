// The model as MAESTRO computes it: every combination of loop states visited, in MAESTRO's order.
// Slow and literal. The fast evaluation (stance_groups.hpp) hands over what its grouping does not cover, and tests compare
// both.
#pragma once

#include <optional>
#include <variant>

#include "tilewright/cost/analysis.hpp"

namespace tilewright {

std::variant<Analysis, Infeasible> walk_stances(const Plan& plan, const MachineRates& rates);

}  // namespace tilewright
