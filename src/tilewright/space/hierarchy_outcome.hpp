// Evaluations of machines with memory levels as outcomes of a design space.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/hierarchy/cost.hpp"
#include "tilewright/space/outcome.hpp"

namespace tilewright {

// Of Outcome::reason: the mapping is not one that the restriction allows.
inline constexpr std::uint8_t kRestrictedReason = 254;

// Power is energy over time; area is the machine's, where it says what everything takes.
Outcome outcome_of(const hierarchy::Evaluation& evaluation, std::int64_t computes, const hierarchy::Machine& machine);
// um² of everything on the chip; nothing where a part does not say what it takes.
std::optional<double> area_of(const hierarchy::Machine& machine);
Metrics metrics_of(const hierarchy::Cost& cost, std::int64_t computes, const hierarchy::Machine& machine);
std::string hierarchy_reason(std::uint8_t reason, const hierarchy::Machine& machine);  // "capacity of GlobalBuf"

}  // namespace tilewright
