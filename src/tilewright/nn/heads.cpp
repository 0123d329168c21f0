#include "tilewright/nn/heads.hpp"

#include <algorithm>

#include "tilewright/nn/head_kernels.hpp"
#include "tilewright/nn/vector_kernels.hpp"

namespace tilewright {
namespace {

// Which numbers of a stream are whose; Rng itself draws from domain 0.
constexpr std::uint32_t kUniformDomain = 1, kNoiseDomain = 2;
constexpr std::size_t kNoiseChunk = 2048;  // numbers made at once: they stay in the first cache

// Calls work(first, count) for the columns of every head.
template <typename Work>
void for_each_head(const ActionSpace& space, const Work& work) {
  std::size_t first = 0;
  for (const std::size_t count : space.categorical) {
    work(first, count);
    first += count;
  }
}

// The columns of one head out of a mask or noise that may be missing.
ConstView part(ConstView view, std::size_t first, std::size_t count) {
  return view.data == nullptr || view.columns == 0 ? ConstView{} : view.column_range(first, count);
}

// The continuous columns of actions (or noise), and of outputs: means, and logarithms of standard deviations.
template <typename T>
BasicView<T> squashed(const ActionSpace& space, BasicView<T> actions) {
  return actions.column_range(space.choice_count(), space.continuous);
}
template <typename T>
BasicView<T> means(const ActionSpace& space, BasicView<T> outputs) {
  return outputs.column_range(space.choice_count(), space.continuous);
}
template <typename T>
BasicView<T> log_stds(const ActionSpace& space, BasicView<T> outputs) {
  return outputs.column_range(space.action_size(), space.continuous);
}

// The first of the highest scores; -1 when all are forbidden.
std::ptrdiff_t best_choice(const float* scores, const float* noise, const float* mask, std::size_t count) {
  std::ptrdiff_t best = -1;
  float most = 0;
  for (std::size_t c = 0; c < count; ++c) {
    if (mask != nullptr && mask[c] == 0) continue;
    const float score = noise == nullptr ? scores[c] : scores[c] + noise[c];
    if (best < 0 || score > most) {
      best = static_cast<std::ptrdiff_t>(c);
      most = score;
    }
  }
  return best;
}

void choose(const ActionSpace& space, ConstView outputs, ConstView noise, View actions, ConstView mask) {
  for_each_head(space, [&](std::size_t first, std::size_t count) {
    const ConstView head_noise = part(noise, first, count), head_mask = part(mask, first, count);
    for (std::size_t r = 0; r < actions.rows; ++r) {
      const std::ptrdiff_t best =
          best_choice(outputs.row(r) + first, head_noise.data == nullptr ? nullptr : head_noise.row(r),
                      head_mask.data == nullptr ? nullptr : head_mask.row(r), count);
      std::fill_n(actions.row(r) + first, count, 0.0f);
      if (best >= 0) actions.row(r)[first + static_cast<std::size_t>(best)] = 1;
    }
  });
  if (space.continuous == 0) return;
  kernels::squash(means(space, outputs), log_stds(space, outputs), part(noise, space.choice_count(), space.continuous),
                  squashed(space, actions));
}

}  // namespace

std::size_t ActionSpace::choice_count() const {
  std::size_t count = 0;
  for (const std::size_t choices : categorical) count += choices;
  return count;
}

void fill_uniform(std::span<float> values, const Rng& rng, std::uint64_t first) {
  kernels::uniform(values.data(), values.size(), rng.key(), kUniformDomain, first);
}

void sample_noise(const ActionSpace& space, View noise, const Rng& rng, std::uint64_t first_row) {
  TW_ASSERT(noise.columns == space.action_size());
  const std::size_t choices = space.choice_count(), columns = noise.columns;
  if (columns == 0) return;
  const std::size_t most_rows = std::max<std::size_t>(1, kNoiseChunk / columns);
  thread_local AlignedVector<float> gumbel, normal;
  const std::size_t room = most_rows * columns + kRowPadding;
  if (gumbel.size() < room) gumbel.resize(room);
  for (std::size_t first = 0; first < noise.rows; first += most_rows) {
    const std::size_t rows = std::min(most_rows, noise.rows - first);
    // Row r, column c is made from entry r·columns + c of the domain.
    kernels::uniform(gumbel.data(), rows * columns, rng.key(), kNoiseDomain, (first_row + first) * columns);
    if (space.continuous > 0) {
      normal = gumbel;
      kernels::normal(normal.data(), rows * columns);
      kernels::copy_rows(normal.data() + choices, columns, noise.row(first) + choices, noise.stride, rows, space.continuous);
    }
    if (choices > 0) {
      kernels::gumbel(gumbel.data(), rows * columns);
      kernels::copy_rows(gumbel.data(), columns, noise.row(first), noise.stride, rows, choices);
    }
  }
}

void soft_actions(const ActionSpace& space, ConstView outputs, ConstView noise, View actions, ConstView mask) {
  for_each_head(space, [&](std::size_t first, std::size_t count) {
    kernels::softmax(outputs.column_range(first, count), noise.column_range(first, count), part(mask, first, count),
                     actions.column_range(first, count));
  });
  if (space.continuous == 0) return;
  kernels::squash(means(space, outputs), log_stds(space, outputs), squashed(space, noise), squashed(space, actions));
}

void soft_actions_backward(const ActionSpace& space, ConstView outputs, ConstView noise, ConstView actions,
                           ConstView dactions, View doutputs) {
  for_each_head(space, [&](std::size_t first, std::size_t count) {
    kernels::softmax_backward(actions.column_range(first, count), dactions.column_range(first, count),
                              doutputs.column_range(first, count));
  });
  if (space.continuous > 0) {
    kernels::squash_backward(log_stds(space, outputs), squashed(space, noise), squashed(space, actions),
                             squashed(space, dactions), means(space, doutputs), log_stds(space, doutputs));
  }
}

void hard_actions(const ActionSpace& space, ConstView outputs, ConstView noise, View actions, ConstView mask) {
  choose(space, outputs, noise, actions, mask);
}

void greedy_actions(const ActionSpace& space, ConstView outputs, View actions, ConstView mask) {
  choose(space, outputs, {}, actions, mask);
}

void log_probabilities(const ActionSpace& space, ConstView outputs, ConstView actions, std::span<float> result,
                       ConstView mask) {
  TW_ASSERT(result.size() >= outputs.rows);
  std::fill_n(result.data(), outputs.rows, 0.0f);
  for_each_head(space, [&](std::size_t first, std::size_t count) {
    kernels::add_log_probability(outputs.column_range(first, count), part(mask, first, count),
                                 actions.column_range(first, count), result.data());
  });
  if (space.continuous == 0) return;
  kernels::add_log_density(means(space, outputs), log_stds(space, outputs), squashed(space, actions), result.data());
}

void entropies(const ActionSpace& space, ConstView outputs, std::span<float> result, ConstView mask) {
  TW_ASSERT(result.size() >= outputs.rows);
  std::fill_n(result.data(), outputs.rows, 0.0f);
  for_each_head(space, [&](std::size_t first, std::size_t count) {
    kernels::add_entropy(outputs.column_range(first, count), part(mask, first, count), result.data());
  });
  constexpr float kHalfLogTwoPiE = 1.418938533f;
  const ConstView widths = log_stds(space, outputs);
  for (std::size_t r = 0; r < widths.rows; ++r) {
    for (std::size_t c = 0; c < widths.columns; ++c)
      result[r] += std::clamp(widths.row(r)[c], kLeastLogStd, kMostLogStd) + kHalfLogTwoPiE;
  }
}

void policy_backward(const ActionSpace& space, ConstView outputs, ConstView actions, std::span<const float> weight_log,
                     std::span<const float> weight_entropy, View doutputs, ConstView mask) {
  for_each_head(space, [&](std::size_t first, std::size_t count) {
    kernels::add_categorical_gradient(outputs.column_range(first, count), part(mask, first, count),
                                      actions.column_range(first, count), weight_log.data(), weight_entropy.data(),
                                      doutputs.column_range(first, count));
  });
  if (space.continuous == 0) return;
  kernels::add_gaussian_gradient(means(space, outputs), log_stds(space, outputs), squashed(space, actions),
                                 weight_log.data(), weight_entropy.data(), means(space, doutputs),
                                 log_stds(space, doutputs));
}

}  // namespace tilewright
