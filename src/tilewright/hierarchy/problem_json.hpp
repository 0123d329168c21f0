// Problems as JSON, both ways: {"dims": "MNK", "bounds": […], "tensors": [{"name": "A", "kind": 1, "ranks": [[["M", 1]],
// …]}]}.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tilewright/base/json_place.hpp"
#include "tilewright/hierarchy/problem.hpp"

namespace tilewright::hierarchy {

nlohmann::ordered_json to_json(const Problem& problem);
// An Error is a phrase without the file's name. The problem has passed check().
Result<Problem> problem_from(const nlohmann::ordered_json& json);

// In the words of Timeloop's records: {"shape": "conv", "dims": {"R": 3, …}, "coefficients": {"Wstride": 2}}, where
// coefficients may be left out.
Result<Problem> problem_at(const JsonPlace& place);

}  // namespace tilewright::hierarchy
