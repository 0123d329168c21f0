#include "tilewright/marl/guarded_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tilewright/nn/head_kernels.hpp"
#include "tilewright/nn/vector_kernels.hpp"

namespace tilewright {
namespace {

constexpr float kGuard = 1e-6f;
constexpr float kHalfLogTwoPi = 0.918938533f;

// p, and ln(p + guard), of every row and head.
void fill_probabilities(const ActionSpace& space, ConstView outputs, EntropyRoom& room) {
  std::size_t first = 0;
  for (const std::size_t count : space.categorical) {
    const View p = room.p.row_range(0, outputs.rows).column_range(first, count);
    kernels::softmax(outputs.column_range(first, count), {}, {}, p);
    first += count;
  }
  const std::size_t size = outputs.rows * room.p.view().stride;
  std::transform(room.p.row(0), room.p.row(0) + size, room.log_p.row(0), [](float p) { return p + kGuard; });
  kernels::logarithm(room.log_p.row(0), size);
}

// Entropy of one head; its gradient times `weight` is added to dlogits unless that is null.
float head_entropy(const float* p, const float* log_p, std::size_t count, float weight, float* dlogits) {
  float entropy = 0;
  for (std::size_t c = 0; c < count; ++c) entropy -= p[c] * log_p[c];
  if (dlogits == nullptr) return entropy;
  const auto slope = [&](std::size_t c) { return -log_p[c] - p[c] / (p[c] + kGuard); };  // dH/dp
  float mean_slope = 0;
  for (std::size_t c = 0; c < count; ++c) mean_slope += p[c] * slope(c);
  for (std::size_t c = 0; c < count; ++c) dlogits[c] += weight * p[c] * (slope(c) - mean_slope);
  return entropy;
}

// -ln of the density of tanh(z) at z = mean + σ·noise.
float squashed_entropy(float mean, float log_std, float noise, float weight, float* dmean, float* dlog_std) {
  const float limited = std::clamp(log_std, kLeastLogStd, kMostLogStd);
  const float z = mean + std::exp(limited) * noise;
  // ln(1 - tanh²z) without cancellation
  const float log_slope = 2 * (std::numbers::ln2_v<float> - std::abs(z) - std::log1p(std::exp(-2 * std::abs(z))));
  if (dmean != nullptr) {
    const float dz = -2 * std::tanh(z);
    *dmean += weight * dz;
    if (limited == log_std) *dlog_std += weight * (1 + dz * std::exp(limited) * noise);
  }
  return 0.5f * noise * noise + limited + kHalfLogTwoPi + log_slope;
}

float row_entropy(const ActionSpace& space, std::size_t row, ConstView outputs, ConstView noise, const EntropyRoom& room,
                  float weight, float* doutputs) {
  float entropy = 0;
  std::size_t at = 0;
  const auto gradient = [&](std::size_t c) { return doutputs == nullptr ? nullptr : doutputs + c; };
  for (const std::size_t count : space.categorical) {
    entropy += head_entropy(room.p.row(row) + at, room.log_p.row(row) + at, count, weight, gradient(at));
    at += count;
  }
  for (; at < space.action_size(); ++at) {
    const std::size_t deviation = at + space.continuous;
    entropy += squashed_entropy(outputs.row(row)[at], outputs.row(row)[deviation], noise.row(row)[at], weight, gradient(at),
                                gradient(deviation));
  }
  return entropy;
}

}  // namespace

void guarded_entropies(const ActionSpace& space, ConstView outputs, ConstView noise, EntropyRoom& room,
                       std::span<float> result) {
  fill_probabilities(space, outputs, room);
  for (std::size_t r = 0; r < outputs.rows; ++r) result[r] = row_entropy(space, r, outputs, noise, room, 0, nullptr);
}

double add_entropy_gradient(const ActionSpace& space, ConstView outputs, ConstView noise, float weight, EntropyRoom& room,
                            View doutputs) {
  fill_probabilities(space, outputs, room);
  double sum = 0;
  for (std::size_t r = 0; r < outputs.rows; ++r)
    sum += static_cast<double>(row_entropy(space, r, outputs, noise, room, weight, doutputs.row(r)));
  return sum;
}

}  // namespace tilewright
