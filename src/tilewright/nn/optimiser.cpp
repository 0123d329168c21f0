#include "tilewright/nn/optimiser.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/nn/vector_kernels.hpp"

namespace tilewright {
namespace {

// The norm counts padding and the gaps between tensors too: both are zero in every gradient.
void step(Mlp& mlp, const Mlp& gradient, Adam& adam, const TensorPlace& place, float scale, float rate,
          const AdamOptions& options) {
  adam_update(mlp.values().subspan(place.offset, place.size()), std::span(adam.first).subspan(place.offset, place.size()),
              std::span(adam.second).subspan(place.offset, place.size()),
              gradient.values().subspan(place.offset, place.size()), scale, rate, options);
}

}  // namespace

float adam_rate(const AdamOptions& options, std::int64_t steps) {
  const auto t = static_cast<double>(steps + 1);
  return static_cast<float>(options.learning_rate * std::sqrt(1 - std::pow(options.beta2, t)) /
                            (1 - std::pow(options.beta1, t)));
}

void adam_update(std::span<float> values, std::span<float> first, std::span<float> second, std::span<const float> gradient,
                 float scale, float rate, const AdamOptions& options) {
  TW_ASSERT(first.size() == values.size() && second.size() == values.size() && gradient.size() == values.size());
  kernels::adam(values.data(), first.data(), second.data(), gradient.data(), values.size(),
                {.beta1 = static_cast<float>(options.beta1),
                 .rest1 = static_cast<float>(1 - options.beta1),
                 .beta2 = static_cast<float>(options.beta2),
                 .rest2 = static_cast<float>(1 - options.beta2),
                 .epsilon = static_cast<float>(options.epsilon),
                 .scale = scale,
                 .rate = rate});
}

double squared_norm(std::span<const float> values) { return kernels::squared_norm(values.data(), values.size()); }

float clip_scale(double squared_norm, double most) {
  return static_cast<float>(most / std::max(std::sqrt(squared_norm), most));
}

void step_clipped_by_tensor(Mlp& mlp, const Mlp& gradient, Adam& adam, double clip, const AdamOptions& options) {
  const float rate = adam_rate(options, adam.steps++);
  for (const TensorPlace& place : mlp.tensors()) {
    const float scale =
        clip > 0 ? clip_scale(squared_norm(gradient.values().subspan(place.offset, place.size())), clip) : 1.0f;
    step(mlp, gradient, adam, place, scale, rate, options);
  }
}

void step_clipped_globally(Mlp& mlp, const Mlp& gradient, Adam& adam, double clip, const AdamOptions& options) {
  const float rate = adam_rate(options, adam.steps++);
  const float scale = clip > 0 ? clip_scale(squared_norm(gradient.values()), clip) : 1.0f;
  adam_update(mlp.values(), adam.first, adam.second, gradient.values(), scale, rate, options);
}

void polyak(std::span<float> target, std::span<const float> online, float tau) {
  TW_ASSERT(target.size() == online.size());
  kernels::approach(target.data(), online.data(), tau, target.size());
}

}  // namespace tilewright
