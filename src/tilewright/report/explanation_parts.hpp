// What explanations say alike, whatever the kind of machine.
#pragma once

#include <string>

#include "tilewright/space/objective.hpp"

namespace tilewright {

// A line for every limit, and with which limits the mapping would be an answer.
std::string limits_text(const Limits& limits, const Metrics& metrics);

}  // namespace tilewright
