// Judges a generated stream from the rules alone: does it stay in the portable subset of the instruction set, and do its
// tokens order every pair of accesses that must not meet? Knows nothing of schedules.
#pragma once

#include <string>

#include "tilewright/vta/generator.hpp"

namespace tilewright::vta {

// The first broken rule, with its instruction; empty when there is none.
std::string broken_rule(const Code& code, const Machine& machine, const Addresses& addresses);

}  // namespace tilewright::vta
