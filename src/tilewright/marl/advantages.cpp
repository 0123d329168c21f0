#include "tilewright/marl/advantages.hpp"

#include <cmath>

#include "tilewright/base/result.hpp"

namespace tilewright {

void estimate_advantages(const RecordedSteps& steps, double gamma, double lambda, std::span<float> advantages) {
  TW_ASSERT(advantages.size() == steps.rewards.size());
  for (std::size_t row = advantages.size(); row-- > 0;) {
    const double after = steps.terminated[row] != 0 ? 0.0 : gamma * static_cast<double>(steps.successor_values[row]);
    double advantage = static_cast<double>(steps.rewards[row]) + after - static_cast<double>(steps.values[row]);
    const std::int32_t next = steps.next[row];
    if (steps.ended[row] == 0 && next != kNoRow) {
      TW_ASSERT(static_cast<std::size_t>(next) > row);
      advantage += gamma * lambda * static_cast<double>(advantages[static_cast<std::size_t>(next)]);
    }
    advantages[row] = static_cast<float>(advantage);
  }
}

void normalise(std::span<float> values, std::span<const std::uint32_t> rows) {
  if (rows.empty()) return;
  const auto count = static_cast<double>(rows.size());
  double sum = 0;
  for (const std::uint32_t row : rows) sum += static_cast<double>(values[row]);
  const double mean = sum / count;
  double squares = 0;
  for (const std::uint32_t row : rows) {
    const double distance = static_cast<double>(values[row]) - mean;
    squares += distance * distance;
  }
  const double scale = 1 / (std::sqrt(squares / count) + 1e-8);
  for (const std::uint32_t row : rows) values[row] = static_cast<float>((static_cast<double>(values[row]) - mean) * scale);
}

}  // namespace tilewright
