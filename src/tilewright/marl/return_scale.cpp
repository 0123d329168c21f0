#include "tilewright/marl/return_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewright {
namespace {

constexpr double kDecay = 0.9;            // per rollout
constexpr double kLeastDeviation = 0.01;  // games whose return is always the same have none

}  // namespace

void ReturnScale::follow(std::span<const float> returns, std::span<const std::uint32_t> rows, Mlp& critic) {
  if (rows.empty()) return;
  double total = 0, squares = 0;
  for (const std::uint32_t row : rows) {
    const auto value = static_cast<double>(returns[row]);
    total += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(rows.size());
  sum = kDecay * sum + (1 - kDecay) * total / count;
  square_sum = kDecay * square_sum + (1 - kDecay) * squares / count;
  weight = kDecay * weight + (1 - kDecay);

  const double old_mean = mean, old_deviation = deviation;
  mean = sum / weight;
  deviation = std::max(kLeastDeviation, std::sqrt(std::max(0.0, square_sum / weight - mean * mean)));

  const std::size_t last = critic.layer_count() - 1;
  const View weights = critic.weight(last);
  const double ratio = old_deviation / deviation;
  for (std::size_t row = 0; row < weights.rows; ++row) {
    *weights.row(row) = static_cast<float>(static_cast<double>(*weights.row(row)) * ratio);
  }
  float& bias = critic.bias(last)[0];
  bias = static_cast<float>((old_mean + old_deviation * static_cast<double>(bias) - mean) / deviation);
}

void ReturnScale::save(const std::string& name, TensorFile& file) const {
  file.put(name, std::array{mean, deviation, sum, square_sum, weight});
}

Result<Done> ReturnScale::load(const std::string& name, const TensorFile& file) {
  std::array<double, 5> values{};
  TW_TRY(const Done read, file.get(name, std::span<double>(values)));
  mean = values[0], deviation = values[1], sum = values[2], square_sum = values[3], weight = values[4];
  return Done{};
}

}  // namespace tilewright
