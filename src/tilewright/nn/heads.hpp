// From the outputs of a policy network to actions, and back: categorical heads (several per agent), their Gumbel-softmax
// relaxation, and squashed Gaussian components.
//
// An action of a space with categorical heads {5, 10} and two continuous components is the row
//   [5 numbers | 10 numbers | 2 numbers]      one-hot or soft probabilities per head; continuous ones in [-1, 1]
// and the network's output for it is
//   [5 logits  | 10 logits  | 2 means | 2 logarithms of standard deviations].
// Logarithms of standard deviations act as if limited to kLeastLogStd … kMostLogStd, and get no gradient beyond.
// All functions work on rows of samples; noise and actions have action_size() columns, outputs output_size().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/nn/matrix.hpp"

namespace tilewright {

struct ActionSpace {
  std::vector<std::size_t> categorical;  // number of choices of each head
  std::size_t continuous = 0;

  std::size_t choice_count() const;  // Σ categorical
  std::size_t action_size() const { return choice_count() + continuous; }
  std::size_t output_size() const { return choice_count() + 2 * continuous; }
  bool operator==(const ActionSpace&) const = default;
};

inline constexpr float kLeastLogStd = -20;
inline constexpr float kMostLogStd = 2;

// Uniform numbers in (0, 1): entry i is a pure function of (rng.key(), first + i), for any split of the work.
void fill_uniform(std::span<float> values, const Rng& rng, std::uint64_t first = 0);

// Noise that makes the functions below sample: Gumbel (-ln(-ln u)) for categorical entries, standard normal for continuous
// ones. Row r, column c depends on (rng.key(), first_row + r, c) only.
void sample_noise(const ActionSpace& space, View noise, const Rng& rng, std::uint64_t first_row = 0);

// Relaxed, differentiable samples: softmax(logits + noise) per head, tanh(mean + exp(log_std)·noise).
// `mask` (empty, or like the categorical part of actions: 0 = not allowed) removes choices.
void soft_actions(const ActionSpace& space, ConstView outputs, ConstView noise, View actions, ConstView mask = {});
// doutputs <- gradient through soft_actions of a loss with gradient dactions. Overwrites.
void soft_actions_backward(const ActionSpace& space, ConstView outputs, ConstView noise, ConstView actions,
                           ConstView dactions, View doutputs);

// One-hot samples by the Gumbel-max rule; continuous components as in soft_actions.
void hard_actions(const ActionSpace& space, ConstView outputs, ConstView noise, View actions, ConstView mask = {});
// The most likely choices (the first of equal ones); tanh(mean).
void greedy_actions(const ActionSpace& space, ConstView outputs, View actions, ConstView mask = {});

// Logarithm of the probability (density) of one-hot (squashed) actions, and the entropy: exact for categorical heads (sum
// over heads); for continuous ones that of the Gaussian before squashing. One number per row.
void log_probabilities(const ActionSpace& space, ConstView outputs, ConstView actions, std::span<float> result,
                       ConstView mask = {});
void entropies(const ActionSpace& space, ConstView outputs, std::span<float> result, ConstView mask = {});

// doutputs += weight_log[r]·d log_probability(r)/d outputs + weight_entropy[r]·d entropy(r)/d outputs.
void policy_backward(const ActionSpace& space, ConstView outputs, ConstView actions, std::span<const float> weight_log,
                     std::span<const float> weight_entropy, View doutputs, ConstView mask = {});

}  // namespace tilewright
