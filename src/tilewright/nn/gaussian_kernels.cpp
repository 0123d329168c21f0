#include "tilewright/nn/head_kernels.hpp"

#include "tilewright/nn/heads.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tilewright/nn/gaussian_kernels.cpp"
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>

#include "tilewright/nn/head_part-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilewright::kernels::HWY_NAMESPACE {
namespace {

HWY_INLINE V limited(V log_std) { return hn::Min(hn::Max(log_std, number(kLeastLogStd)), number(kMostLogStd)); }
HWY_INLINE V where_not_limited(V log_std, V value) { return hn::IfThenElseZero(hn::Eq(limited(log_std), log_std), value); }

void squash(ConstView mean, ConstView log_std, ConstView noise, View actions) {
  for (std::size_t r = 0; r < actions.rows; r += kGroup) {
    for (Part at = first_part(r, actions.rows, actions.columns); at.columns > 0; advance(at, actions.columns)) {
      V z = load(mean, at);
      if (noise.data != nullptr) z = hn::MulAdd(natural_exponential(Full(), limited(load(log_std, at))), load(noise, at), z);
      store(hn::Tanh(Full(), z), actions, at);
    }
  }
}

void squash_backward(ConstView log_std, ConstView noise, ConstView actions, ConstView dactions, View dmean, View dlog_std) {
  for (std::size_t r = 0; r < actions.rows; r += kGroup) {
    for (Part at = first_part(r, actions.rows, actions.columns); at.columns > 0; advance(at, actions.columns)) {
      const V a = load(actions, at), s = load(log_std, at);
      const V dz = hn::Mul(load(dactions, at), hn::NegMulAdd(a, a, number(1)));
      const V shift = hn::Mul(natural_exponential(Full(), limited(s)), load(noise, at));
      store(dz, dmean, at);
      store(where_not_limited(s, hn::Mul(dz, shift)), dlog_std, at);
    }
  }
}

// How many standard deviations an action lies from the mean before squashing.
struct Distance {
  V log_std, deviation, distance;
  V slope;  // of tanh at the action

  HWY_INLINE Distance(ConstView mean, ConstView log_stds, ConstView actions, const Part& at) {
    constexpr float kMost = 1 - 0x1p-20f;  // ±1 itself comes from nowhere
    const V a = hn::Min(hn::Max(load(actions, at), number(-kMost)), number(kMost));
    const V above = hn::Add(number(1), a), below = hn::Sub(number(1), a);
    const V z = hn::Mul(number(0.5f), hn::Sub(natural_logarithm(Full(), above), natural_logarithm(Full(), below)));
    log_std = load(log_stds, at);
    deviation = natural_exponential(Full(), limited(log_std));
    distance = hn::Div(hn::Sub(z, load(mean, at)), deviation);
    slope = hn::Mul(above, below);
  }
};

void add_log_density(ConstView mean, ConstView log_std, ConstView actions, float* sums) {
  const V half_log_two_pi = number(0.918938533f);
  for (std::size_t r = 0; r < actions.rows; r += kGroup) {
    const Part begin = first_part(r, actions.rows, actions.columns);
    V sum = number(0);
    for (Part at = begin; at.columns > 0; advance(at, actions.columns)) {
      const Distance d(mean, log_std, actions, at);
      const V scale = hn::Add(limited(d.log_std), hn::Add(natural_logarithm(Full(), d.slope), half_log_two_pi));
      const V term = hn::MulAdd(hn::Mul(number(0.5f), d.distance), d.distance, scale);
      sum = hn::Sub(sum, inside(at, term, number(0)));
    }
    add_scalars(sum_of(sum), sums, begin);
  }
}

void add_gaussian_gradient(ConstView mean, ConstView log_std, ConstView actions, const float* weight_log,
                           const float* weight_entropy, View dmean, View dlog_std) {
  for (std::size_t r = 0; r < actions.rows; r += kGroup) {
    for (Part at = first_part(r, actions.rows, actions.columns); at.columns > 0; advance(at, actions.columns)) {
      const V by_log = load_scalars(weight_log, at), by_entropy = load_scalars(weight_entropy, at);
      const Distance d(mean, log_std, actions, at);
      const V to_mean = hn::Mul(by_log, hn::Div(d.distance, d.deviation));
      const V to_std = hn::MulAdd(by_log, hn::MulSub(d.distance, d.distance, number(1)), by_entropy);
      store(hn::Add(load(dmean, at), to_mean), dmean, at);
      store(hn::Add(load(dlog_std, at), where_not_limited(d.log_std, to_std)), dlog_std, at);
    }
  }
}

}  // namespace
}  // namespace tilewright::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewright::kernels {
namespace {
HWY_EXPORT(squash);
HWY_EXPORT(squash_backward);
HWY_EXPORT(add_log_density);
HWY_EXPORT(add_gaussian_gradient);
}  // namespace

void squash(ConstView mean, ConstView log_std, ConstView noise, View actions) {
  HWY_DYNAMIC_DISPATCH(squash)(mean, log_std, noise, actions);
}
void squash_backward(ConstView log_std, ConstView noise, ConstView actions, ConstView dactions, View dmean, View dlog_std) {
  HWY_DYNAMIC_DISPATCH(squash_backward)(log_std, noise, actions, dactions, dmean, dlog_std);
}
void add_log_density(ConstView mean, ConstView log_std, ConstView actions, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_log_density)(mean, log_std, actions, sums);
}
void add_gaussian_gradient(ConstView mean, ConstView log_std, ConstView actions, const float* weight_log,
                           const float* weight_entropy, View dmean, View dlog_std) {
  HWY_DYNAMIC_DISPATCH(add_gaussian_gradient)(mean, log_std, actions, weight_log, weight_entropy, dmean, dlog_std);
}

}  // namespace tilewright::kernels
#endif
