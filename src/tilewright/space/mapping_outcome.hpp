// What evaluating a mapping means to a search.
#pragma once

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/space/outcome.hpp"

namespace tilewright {

// `true_macs` of the nest. With `gamma_rules` GAMMA's own test decides: runtime and buffer needs of at least 1, needs within
// the machine's L1 and L2. Outcome::reason is an Infeasible::Reason.
Outcome outcome_of(const Evaluation& evaluation, Macs true_macs, const Accelerator& accelerator, bool gamma_rules);

}  // namespace tilewright
