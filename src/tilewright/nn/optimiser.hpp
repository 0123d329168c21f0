// What happens to parameters once their gradient is known: clipping, Adam, and the slow copies of target networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/nn/mlp.hpp"

namespace tilewright {

struct AdamOptions {
  double learning_rate = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  // beside the root of the uncorrected second moment, as in TensorFlow
};

// The moments of one flat parameter array.
struct Adam {
  AlignedVector<float> first, second;
  std::int64_t steps = 0;
  Adam() = default;
  explicit Adam(std::size_t size) : first(size), second(size) {}
};

// lr·sqrt(1-β2^t)/(1-β1^t) at the step that follows `steps` earlier ones.
float adam_rate(const AdamOptions& options, std::int64_t steps);

// θ <- θ - rate·m/(sqrt(v) + ε) with m, v moved towards scale·gradient; `rate` from adam_rate. Any part of an array.
void adam_update(std::span<float> values, std::span<float> first, std::span<float> second, std::span<const float> gradient,
                 float scale, float rate, const AdamOptions& options);

double squared_norm(std::span<const float> values);

// The factor that brings a norm down to `most`: most / max(norm, most).
float clip_scale(double squared_norm, double most);

// One Adam step of a whole network, each tensor's gradient clipped to norm `clip` by itself, or all tensors together.
// clip <= 0: no clipping.
void step_clipped_by_tensor(Mlp& mlp, const Mlp& gradient, Adam& adam, double clip, const AdamOptions& options);
void step_clipped_globally(Mlp& mlp, const Mlp& gradient, Adam& adam, double clip, const AdamOptions& options);

// target <- (1-τ)·target + τ·online.
void polyak(std::span<float> target, std::span<const float> online, float tau);

}  // namespace tilewright
