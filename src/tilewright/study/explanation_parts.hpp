// What explanations write alike, whatever the kind of machine.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tilewright/space/objective.hpp"

namespace tilewright {

// Of every limit: itself, the value, and its factor.
nlohmann::ordered_json limits_json(const Limits& limits, const Metrics& metrics);

}  // namespace tilewright
