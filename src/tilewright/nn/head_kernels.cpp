#include "tilewright/nn/head_kernels.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tilewright/nn/head_kernels.cpp"
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>

#include "tilewright/nn/head_part-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilewright::kernels::HWY_NAMESPACE {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

HWY_INLINE V most_of(V value) {
  return joined(value, [](V a, V b) HWY_ATTR { return hn::Max(a, b); });
}

// Scores with noise and mask applied; forbidden outside the head.
HWY_INLINE V score_part(ConstView scores, ConstView noise, ConstView mask, const Part& at) {
  V score = load(scores, at);
  if (noise.data != nullptr) score = hn::Add(score, load(noise, at));
  if (mask.data != nullptr) score = hn::IfThenElse(hn::Ne(load(mask, at), number(0)), score, number(kForbidden));
  return inside(at, score, number(kForbidden));
}

// The softmax of a group of rows. Scores and exp(score - highest) of part i lie in the scratch memory at 2·i·kLanes.
struct Distribution {
  float* scratch;
  V most;   // finite even when everything is forbidden: all exponentials are then 0
  V total;  // Σ exp(score - most)

  HWY_INLINE Distribution(ConstView scores, ConstView noise, ConstView mask, Part at, float* memory) : scratch(memory) {
    most = number(kLowest);
    std::size_t size = 0;
    for (; at.columns > 0; advance(at, scores.columns), size += 2 * kLanes) {
      const V score = score_part(scores, noise, mask, at);
      hn::Store(score, Full(), scratch + size);
      most = hn::Max(most, score);
    }
    most = most_of(most);
    total = number(0);
    for (std::size_t i = 0; i < size; i += 2 * kLanes) {
      const V e = natural_exponential(Full(), hn::Sub(hn::Load(Full(), scratch + i), most));
      hn::Store(e, Full(), scratch + i + kLanes);
      total = hn::Add(total, e);
    }
    total = sum_of(total);
  }

  HWY_INLINE V score(const Part& at) const { return hn::Load(Full(), scratch + at.column / kWidth * 2 * kLanes); }
  HWY_INLINE V exponential(const Part& at) const {
    return hn::Load(Full(), scratch + at.column / kWidth * 2 * kLanes + kLanes);
  }
  // Both 0 when everything is forbidden.
  HWY_INLINE V share() const { return hn::IfThenElseZero(hn::Gt(total, number(0)), hn::Div(number(1), total)); }
  HWY_INLINE V log_sum() const {
    return hn::IfThenElseZero(hn::Gt(total, number(0)), hn::Add(most, natural_logarithm(Full(), total)));
  }
};

// -Σ p·ln p
HWY_INLINE V entropy(const Distribution& row, Part at, std::size_t columns, V share, V log_sum) {
  V sum = number(0);
  for (; at.columns > 0; advance(at, columns)) {
    const V p = hn::Mul(row.exponential(at), share);
    const V term = hn::Mul(p, hn::Sub(row.score(at), log_sum));
    sum = hn::Sub(sum, hn::IfThenElseZero(hn::Gt(p, number(0)), term));
  }
  return sum_of(sum);
}

void softmax(ConstView scores, ConstView noise, ConstView mask, View p, float* scratch) {
  for (std::size_t r = 0; r < p.rows; r += kGroup) {
    const Part begin = first_part(r, p.rows, p.columns);
    if (p.columns <= kWidth) {  // everything stays in registers
      const V score = score_part(scores, noise, mask, begin);
      const V e = natural_exponential(Full(), hn::Sub(score, hn::Max(most_of(score), number(kLowest))));
      const V total = sum_of(e);
      store(hn::IfThenElseZero(hn::Gt(total, number(0)), hn::Div(e, total)), p, begin);
      continue;
    }
    const Distribution row(scores, noise, mask, begin, scratch);
    const V share = row.share();
    for (Part at = begin; at.columns > 0; advance(at, p.columns)) store(hn::Mul(row.exponential(at), share), p, at);
  }
}

void softmax_backward(ConstView p, ConstView dp, View dscores) {
  for (std::size_t r = 0; r < p.rows; r += kGroup) {
    const Part begin = first_part(r, p.rows, p.columns);
    V sum = number(0);
    for (Part at = begin; at.columns > 0; advance(at, p.columns)) sum = hn::MulAdd(load(p, at), load(dp, at), sum);
    const V mean = sum_of(sum);
    for (Part at = begin; at.columns > 0; advance(at, p.columns))
      store(hn::Mul(load(p, at), hn::Sub(load(dp, at), mean)), dscores, at);
  }
}

void add_log_probability(ConstView scores, ConstView mask, ConstView actions, float* sums, float* scratch) {
  for (std::size_t r = 0; r < scores.rows; r += kGroup) {
    const Part begin = first_part(r, scores.rows, scores.columns);
    const Distribution row(scores, {}, mask, begin, scratch);
    const V log_sum = row.log_sum();
    V sum = number(0);
    for (Part at = begin; at.columns > 0; advance(at, scores.columns)) {
      const V a = load(actions, at), term = hn::Mul(a, hn::Sub(row.score(at), log_sum));
      sum = hn::Add(sum, hn::IfThenElseZero(hn::Ne(a, number(0)), term));
    }
    add_scalars(sum_of(sum), sums, begin);
  }
}

void add_entropy(ConstView scores, ConstView mask, float* sums, float* scratch) {
  for (std::size_t r = 0; r < scores.rows; r += kGroup) {
    const Part begin = first_part(r, scores.rows, scores.columns);
    const Distribution row(scores, {}, mask, begin, scratch);
    add_scalars(entropy(row, begin, scores.columns, row.share(), row.log_sum()), sums, begin);
  }
}

void add_categorical_gradient(ConstView scores, ConstView mask, ConstView actions, const float* weight_log,
                              const float* weight_entropy, View dscores, float* scratch) {
  for (std::size_t r = 0; r < scores.rows; r += kGroup) {
    const Part begin = first_part(r, scores.rows, scores.columns);
    const Distribution row(scores, {}, mask, begin, scratch);
    const V share = row.share(), log_sum = row.log_sum();
    const V h = entropy(row, begin, scores.columns, share, log_sum);
    const V by_log = load_scalars(weight_log, begin), by_entropy = load_scalars(weight_entropy, begin);
    V chosen = number(0);
    for (Part at = begin; at.columns > 0; advance(at, scores.columns)) chosen = hn::Add(chosen, load(actions, at));
    chosen = sum_of(chosen);
    for (Part at = begin; at.columns > 0; advance(at, scores.columns)) {
      const V score = row.score(at), p = hn::Mul(row.exponential(at), share);
      const V from_log = hn::Mul(by_log, hn::NegMulAdd(p, chosen, load(actions, at)));
      const V from_entropy = hn::Mul(hn::Mul(by_entropy, p), hn::Add(hn::Sub(score, log_sum), h));
      const V gradient = hn::IfThenElseZero(hn::Gt(score, number(kForbidden)), hn::Sub(from_log, from_entropy));
      store(hn::Add(load(dscores, at), gradient), dscores, at);
    }
  }
}

}  // namespace
}  // namespace tilewright::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewright::kernels {
namespace {
HWY_EXPORT(softmax);
HWY_EXPORT(softmax_backward);
HWY_EXPORT(add_log_probability);
HWY_EXPORT(add_entropy);
HWY_EXPORT(add_categorical_gradient);

// Room for a Distribution of that many columns, which lives as long as the thread.
float* scratch_for(std::size_t columns) {
  thread_local AlignedVector<float> scratch;
  const std::size_t size = (columns + 8) * 2 * 16;  // at most 16 lanes, at least one column per part
  if (scratch.size() < size) scratch.resize(size);
  return scratch.data();
}
}  // namespace

void softmax(ConstView scores, ConstView noise, ConstView mask, View p) {
  HWY_DYNAMIC_DISPATCH(softmax)(scores, noise, mask, p, scratch_for(p.columns));
}
void softmax_backward(ConstView p, ConstView dp, View dscores) { HWY_DYNAMIC_DISPATCH(softmax_backward)(p, dp, dscores); }
void add_log_probability(ConstView scores, ConstView mask, ConstView actions, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_log_probability)(scores, mask, actions, sums, scratch_for(scores.columns));
}
void add_entropy(ConstView scores, ConstView mask, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_entropy)(scores, mask, sums, scratch_for(scores.columns));
}
void add_categorical_gradient(ConstView scores, ConstView mask, ConstView actions, const float* weight_log,
                              const float* weight_entropy, View dscores) {
  HWY_DYNAMIC_DISPATCH(add_categorical_gradient)
  (scores, mask, actions, weight_log, weight_entropy, dscores, scratch_for(scores.columns));
}

}  // namespace tilewright::kernels
#endif
