// The arithmetic of policy heads, row by row in vectors of eight; see heads.hpp for what it means.
//
// Views have the columns of one categorical head, or of all continuous components. `noise` and `mask` may be empty.
#pragma once

#include <cstddef>

#include "tilewright/nn/matrix.hpp"

namespace tilewright::kernels {

// p <- softmax(scores + noise); exactly 0 where the mask is 0, and everywhere if it is 0 everywhere.
void softmax(ConstView scores, ConstView noise, ConstView mask, View p);
// dscores <- p·(dp - Σ p·dp)
void softmax_backward(ConstView p, ConstView dp, View dscores);

// Per row, added to `sums`: Σ a·ln p with p = softmax(scores), and the entropy -Σ p·ln p.
void add_log_probability(ConstView scores, ConstView mask, ConstView actions, float* sums);
void add_entropy(ConstView scores, ConstView mask, float* sums);
// dscores += weight_log·d(Σ a·ln p) + weight_entropy·d(entropy), 0 where the mask is 0.
void add_categorical_gradient(ConstView scores, ConstView mask, ConstView actions, const float* weight_log,
                              const float* weight_entropy, View dscores);

// actions <- tanh(mean + σ·noise), σ = exp(log_std); without noise, tanh(mean).
void squash(ConstView mean, ConstView log_std, ConstView noise, View actions);
void squash_backward(ConstView log_std, ConstView noise, ConstView actions, ConstView dactions, View dmean, View dlog_std);

// The same for Gaussian components: the logarithm of the density of tanh(mean + σ·normal) at `actions`.
void add_log_density(ConstView mean, ConstView log_std, ConstView actions, float* sums);
void add_gaussian_gradient(ConstView mean, ConstView log_std, ConstView actions, const float* weight_log,
                           const float* weight_entropy, View dmean, View dlog_std);

}  // namespace tilewright::kernels
