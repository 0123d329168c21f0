// How much better an action was than expected: generalised advantage estimation (Schulman et al. 2016),
//
//   δ_t = r_t + γ·V(s_{t+1}) - V(s_t)        without the V(s_{t+1}) of a step that terminated: nothing comes after it
//   A_t = Σ_k (γλ)^k δ_{t+k}                 up to the end of the episode or of what was recorded
//
// A truncated episode goes on where nobody looks, so its last step keeps the V of its true successor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewright {

inline constexpr std::int32_t kNoRow = -1;

// The steps of one agent in any number of worlds, in the order they were made.
struct RecordedSteps {
  std::span<const float> rewards;
  std::span<const float> values;            // of what the agent saw before the step
  std::span<const float> successor_values;  // of what it saw after; any number where it terminated
  std::span<const std::uint8_t> terminated;
  std::span<const std::uint8_t> ended;  // terminated or truncated
  std::span<const std::int32_t> next;   // row of the same episode's next step, kNoRow when it was not recorded
};

void estimate_advantages(const RecordedSteps& steps, double gamma, double lambda, std::span<float> advantages);

// Shifts and scales the values at `rows` to mean 0 and standard deviation 1.
void normalise(std::span<float> values, std::span<const std::uint32_t> rows);

}  // namespace tilewright
