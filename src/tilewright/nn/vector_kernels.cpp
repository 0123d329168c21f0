#include "tilewright/nn/vector_kernels.hpp"

#include <algorithm>
#include <array>

#include "tilewright/base/rng.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tilewright/nn/vector_kernels.cpp"
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>

#include "tilewright/nn/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilewright::kernels::HWY_NAMESPACE {
namespace {

using Floats = hn::ScalableTag<float>;

// Applies `work` to vectors, and to single numbers at the end.
template <class Work>
HWY_INLINE void for_each_vector(std::size_t size, const Work& work) {
  const Floats d;
  const hn::CappedTag<float, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) work(d, i);
  for (; i < size; ++i) work(one, i);
}

// Numbers below the least normal one become zero: as moments of units that died they would cost time for ever.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V without_denormals(D d, V value) {
  return hn::IfThenElseZero(hn::Ge(hn::Abs(value), hn::Set(d, 0x1p-126f)), value);
}

void adam(float* HWY_RESTRICT values, float* HWY_RESTRICT first, float* HWY_RESTRICT second,
          const float* HWY_RESTRICT gradient, std::size_t size, const AdamFactors& f) {
  for_each_vector(size, [=](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::Mul(hn::Set(d, f.scale), hn::LoadU(d, gradient + i));
    const auto m =
        without_denormals(d, hn::MulAdd(hn::Set(d, f.beta1), hn::LoadU(d, first + i), hn::Mul(hn::Set(d, f.rest1), g)));
    const auto v = without_denormals(
        d, hn::MulAdd(hn::Set(d, f.beta2), hn::LoadU(d, second + i), hn::Mul(hn::Mul(hn::Set(d, f.rest2), g), g)));
    hn::StoreU(m, d, first + i);
    hn::StoreU(v, d, second + i);
    const auto move = hn::Div(hn::Mul(hn::Set(d, f.rate), m), hn::Add(hn::Sqrt(v), hn::Set(d, f.epsilon)));
    hn::StoreU(hn::Sub(hn::LoadU(d, values + i), move), d, values + i);
  });
}

double squared_norm(const float* HWY_RESTRICT values, std::size_t size) {
  constexpr std::size_t kSums = 32;
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::ScalableTag<double>()), kVectors = kSums / kLanes;
  alignas(64) std::array<double, kSums> sums;
  hn::Vec<decltype(d)> sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSums <= size; i += kSums) {
    HWY_UNROLL(32) for (std::size_t v = 0; v < kVectors; ++v) {
      const auto value = hn::PromoteTo(d, hn::LoadU(half, values + i + v * kLanes));
      sum[v] = hn::MulAdd(value, value, sum[v]);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, sums.data() + v * kLanes);
  for (std::size_t s = 0; i < size; ++i, ++s) sums[s] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  for (std::size_t step = kSums / 2; step > 0; step /= 2)
    for (std::size_t s = 0; s < step; ++s) sums[s] += sums[s + step];
  return sums[0];
}

void approach(float* HWY_RESTRICT target, const float* HWY_RESTRICT online, float tau, std::size_t size) {
  for_each_vector(size, [=](auto d, std::size_t i) HWY_ATTR {
    const auto old = hn::LoadU(d, target + i);
    hn::StoreU(hn::MulAdd(hn::Set(d, tau), hn::Sub(hn::LoadU(d, online + i), old), old), d, target + i);
  });
}

// Words of blocks 16·group … 16·group + 15 as numbers in (0, 1).
#if HWY_TARGET == HWY_SCALAR
void uniform_group(float* values, std::uint64_t key, std::uint32_t domain, std::uint64_t group) {
  for (std::uint64_t j = 0; j < 16; ++j) {
    const std::uint64_t counter = 16 * group + j;
    const PhiloxBlock block =
        philox4x32({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), domain, 0},
                   {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
    for (std::size_t w = 0; w < 4; ++w) values[16 * w + j] = (static_cast<float>(block[w] >> 9) + 0.5f) * 0x1p-23f;
  }
}
#else
void uniform_group(float* values, std::uint64_t key, std::uint32_t domain, std::uint64_t group) {
  const hn::ScalableTag<std::uint64_t> wide;  // 32-bit words in the low halves; the high halves are never looked at
  const hn::Repartition<std::uint32_t, decltype(wide)> narrow;
  const hn::RebindToSigned<decltype(narrow)> integers;
  const Floats d;
  using V = hn::Vec<decltype(wide)>;
  const auto low = [&](V words) HWY_ATTR { return hn::BitCast(narrow, words); };
  for (std::size_t j = 0; j < 16; j += hn::Lanes(narrow)) {
    V c[2][4];
    for (std::size_t half = 0; half < 2; ++half) {
      const V counter = hn::Iota(wide, 16 * group + j + half * hn::Lanes(wide));
      c[half][0] = counter;
      c[half][1] = hn::ShiftRight<32>(counter);
      c[half][2] = hn::Set(wide, domain);
      c[half][3] = hn::Zero(wide);
    }
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    const auto left_factor = hn::Set(narrow, 0xD2511F53u), right_factor = hn::Set(narrow, 0xCD9E8D57u);
    for (int round = 0; round < 10; ++round) {
      const V key0 = hn::Set(wide, k0), key1 = hn::Set(wide, k1);
      HWY_UNROLL(2) for (std::size_t half = 0; half < 2; ++half) {
        V* const words = c[half];
        const V left = hn::MulEven(low(words[0]), left_factor), right = hn::MulEven(low(words[2]), right_factor);
        words[0] = hn::Xor(hn::Xor(hn::ShiftRight<32>(right), words[1]), key0);
        words[1] = right;
        words[2] = hn::Xor(hn::Xor(hn::ShiftRight<32>(left), words[3]), key1);
        words[3] = left;
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    HWY_UNROLL(4) for (std::size_t w = 0; w < 4; ++w) {
      const auto bits = hn::ShiftRight<9>(hn::ConcatEven(narrow, low(c[1][w]), low(c[0][w])));
      const auto number = hn::ConvertTo(d, hn::BitCast(integers, bits));
      hn::StoreU(hn::Mul(hn::Add(number, hn::Set(d, 0.5f)), hn::Set(d, 0x1p-23f)), d, values + 16 * w + j);
    }
  }
}
#endif

void uniform(float* values, std::size_t size, std::uint64_t key, std::uint32_t domain, std::uint64_t first) {
  std::size_t done = 0;
  while (done < size) {
    const std::uint64_t group = (first + done) / 64;
    const auto skipped = static_cast<std::size_t>((first + done) % 64);
    const std::size_t taken = std::min(64 - skipped, size - done);
    if (taken == 64) {
      uniform_group(values + done, key, domain, group);
    } else {
      alignas(64) std::array<float, 64> buffer;
      uniform_group(buffer.data(), key, domain, group);
      std::copy_n(buffer.data() + skipped, taken, values + done);
    }
    done += taken;
  }
}

void gumbel(float* values, std::size_t size) {
  for_each_vector(size, [=](auto d, std::size_t i) HWY_ATTR {
    const auto inner = hn::Neg(natural_logarithm(d, hn::LoadU(d, values + i)));
    hn::StoreU(hn::Neg(natural_logarithm(d, inner)), d, values + i);
  });
}

// Wichura's rational approximations (AS 241, PPND7), about seven digits. Our uniform numbers keep 2^-24 away from 0 and 1,
// so that his third one, for the far tails, is never needed.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V inverse_normal(D d, V u) {
  const auto number = [d](float value) HWY_ATTR { return hn::Set(d, value); };
  const V q = hn::Sub(u, number(0.5f));
  const V r = hn::NegMulAdd(q, q, number(0.180625f));
  V top = hn::MulAdd(number(59.109374720f), r, number(159.29113202f));
  top = hn::MulAdd(hn::MulAdd(top, r, number(50.434271938f)), r, number(3.3871327179f));
  V bottom = hn::MulAdd(number(67.187563600f), r, number(78.757757664f));
  bottom = hn::MulAdd(hn::MulAdd(bottom, r, number(17.895169469f)), r, number(1.0f));
  const V centre = hn::Mul(q, hn::Div(top, bottom));

  const V distance = hn::Abs(q);
  const V s = hn::Sub(hn::Sqrt(hn::Neg(natural_logarithm(d, hn::Sub(number(0.5f), distance)))), number(1.6f));
  V tail = hn::MulAdd(number(0.17023821103f), s, number(1.3067284816f));
  tail = hn::MulAdd(hn::MulAdd(tail, s, number(2.7568153900f)), s, number(1.4234372777f));
  const V below = hn::MulAdd(hn::MulAdd(number(0.12021132975f), s, number(0.73700164250f)), s, number(1.0f));
  const V outside = hn::CopySign(hn::Div(tail, below), q);
  return hn::IfThenElse(hn::Le(distance, number(0.425f)), centre, outside);
}

void normal(float* values, std::size_t size) {
  for_each_vector(
      size, [=](auto d, std::size_t i) HWY_ATTR { hn::StoreU(inverse_normal(d, hn::LoadU(d, values + i)), d, values + i); });
}

void logarithm(float* values, std::size_t size) {
  for_each_vector(size, [=](auto d, std::size_t i)
                            HWY_ATTR { hn::StoreU(natural_logarithm(d, hn::LoadU(d, values + i)), d, values + i); });
}

void copy_rows(const float* HWY_RESTRICT from, std::size_t from_stride, float* HWY_RESTRICT to, std::size_t to_stride,
               std::size_t rows, std::size_t columns) {
  const hn::CappedTag<float, 8> d;
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t c = 0;
    for (; c + hn::Lanes(d) <= columns; c += hn::Lanes(d)) hn::StoreU(hn::LoadU(d, from + c), d, to + c);
    if (c < columns) store_part(d, hn::LoadU(d, from + c), to + c, columns - c);
    from += from_stride;
    to += to_stride;
  }
}

}  // namespace
}  // namespace tilewright::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewright::kernels {
namespace {
HWY_EXPORT(adam);
HWY_EXPORT(squared_norm);
HWY_EXPORT(approach);
HWY_EXPORT(uniform);
HWY_EXPORT(gumbel);
HWY_EXPORT(normal);
HWY_EXPORT(logarithm);
HWY_EXPORT(copy_rows);
}  // namespace

void adam(float* values, float* first, float* second, const float* gradient, std::size_t size, const AdamFactors& factors) {
  HWY_DYNAMIC_DISPATCH(adam)(values, first, second, gradient, size, factors);
}
double squared_norm(const float* values, std::size_t size) { return HWY_DYNAMIC_DISPATCH(squared_norm)(values, size); }
void approach(float* target, const float* online, float tau, std::size_t size) {
  HWY_DYNAMIC_DISPATCH(approach)(target, online, tau, size);
}
void uniform(float* values, std::size_t size, std::uint64_t key, std::uint32_t domain, std::uint64_t first) {
  HWY_DYNAMIC_DISPATCH(uniform)(values, size, key, domain, first);
}
void gumbel(float* uniform, std::size_t size) { HWY_DYNAMIC_DISPATCH(gumbel)(uniform, size); }
void normal(float* uniform, std::size_t size) { HWY_DYNAMIC_DISPATCH(normal)(uniform, size); }
void logarithm(float* values, std::size_t size) { HWY_DYNAMIC_DISPATCH(logarithm)(values, size); }
void copy_rows(const float* from, std::size_t from_stride, float* to, std::size_t to_stride, std::size_t rows,
               std::size_t columns) {
  HWY_DYNAMIC_DISPATCH(copy_rows)(from, from_stride, to, to_stride, rows, columns);
}

}  // namespace tilewright::kernels
#endif
