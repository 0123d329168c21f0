// What results on machines with memory levels write alike.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tilewright/hierarchy/analysis.hpp"

namespace tilewright {

// Cycles, energy and accesses of every level, of each tensor that it keeps.
nlohmann::ordered_json levels_json(const hierarchy::Analysis& analysis, const hierarchy::Problem& problem,
                                   const hierarchy::Machine& machine);
// What a mapping costs: all of it, and the levels.
nlohmann::ordered_json cost_json(const hierarchy::Analysis& analysis, const hierarchy::Problem& problem,
                                 const hierarchy::Machine& machine);
// {"reason": "capacity", "level": "L2", "need": 300, "limit": 224}.
nlohmann::ordered_json misfit_json(const hierarchy::Infeasible& misfit, const hierarchy::Machine& machine);

}  // namespace tilewright
