// What the vector loops of nn share. Like every "-inl" header of Highway's kind it is compiled once per vector target, which
// is why its guard is of that odd form.
#if defined(TILEWRIGHT_NN_VECTOR_MATH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEWRIGHT_NN_VECTOR_MATH_INL_HPP
#undef TILEWRIGHT_NN_VECTOR_MATH_INL_HPP
#else
#define TILEWRIGHT_NN_VECTOR_MATH_INL_HPP
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tilewright::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The first `count` lanes, the others zero, without touching the memory beyond.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const float* from, std::size_t count) {
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN float lanes[hn::MaxLanes(D())] = {};
    std::copy_n(from, std::min(count, hn::MaxLanes(D())), lanes);
    return hn::Load(d, lanes);
  }
}

// And back. Stores with a mask take very long on AMD's processors before AVX-512, hence the pieces.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_pieces(D d, V value, float* to, std::size_t count) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2;
    const hn::Half<D> half;
    if (count < kHalf) return store_pieces(half, hn::LowerHalf(half, value), to, count);
    hn::StoreU(hn::LowerHalf(half, value), half, to);
    return store_pieces(half, hn::UpperHalf(half, value), to + kHalf, count - kHalf);
  }
#endif
  if (count > 0) hn::StoreU(value, d, to);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_part(D d, V value, float* to, std::size_t count) {
  if (HWY_TARGET == HWY_AVX3) {
    hn::BlendedStore(value, hn::FirstN(d, count), d, to);
  } else if (count >= hn::MaxLanes(D())) {
    hn::StoreU(value, d, to);
  } else {
    store_pieces(d, value, to, count);
  }
}

// ln x of a positive normal x = 2^e·(1 + t), 1 + t within a factor √2 of 1: t - t²/2 + t³·p(t) + e·ln 2, where p is the
// polynomial of degree 7 that makes the largest relative error least (6e-9). Highway's has a division; this one takes half
// the time, as does the exponential below.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V natural_logarithm(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const auto number = [d](float value) HWY_ATTR { return hn::Set(d, value); };
  const auto root_half = hn::Set(integers, 0x3f3504f3);  // the bits of √½
  const auto bits = hn::Sub(hn::BitCast(integers, x), root_half);
  const V e = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
  const auto mantissa = hn::Add(hn::And(bits, hn::Set(integers, 0x7fffff)), root_half);
  const V t = hn::Sub(hn::BitCast(d, mantissa), number(1.0f)), t2 = hn::Mul(t, t);
  V p = hn::MulAdd(number(-0.07634495198726654f), t, number(0.12761574983596802f));
  p = hn::MulAdd(p, t, number(-0.13160182535648346f));
  p = hn::MulAdd(p, t, number(0.14201758801937103f));
  p = hn::MulAdd(p, t, number(-0.16623356938362122f));
  p = hn::MulAdd(p, t, number(0.20001226663589478f));
  p = hn::MulAdd(p, t, number(-0.2500081956386566f));
  p = hn::MulAdd(p, t, number(0.3333333134651184f));
  const V rest = hn::MulAdd(hn::Mul(t, t2), p, hn::MulAdd(number(-0.5f), t2, hn::Mul(e, number(-2.12194440e-4f))));
  return hn::MulAdd(e, number(0.693359375f), hn::Add(t, rest));
}

// e^x of x < 88 as 2^k·(1 + r + r²·q(r)) with |r| <= ln(2)/2 and the best q of degree 4 (relative error 3e-9); exactly 0
// where the result would not be normal, so also for minus infinity.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V natural_exponential(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const auto number = [d](float value) HWY_ATTR { return hn::Set(d, value); };
  const V least = number(-87.0f);
  const V k = hn::Round(hn::Mul(hn::Max(x, least), number(1.44269504f)));
  const V r = hn::NegMulAdd(k, number(-2.12194440e-4f), hn::NegMulAdd(k, number(0.693359375f), hn::Max(x, least)));
  V q = hn::MulAdd(number(0.0013814595295116305f), r, number(0.008368716575205326f));
  q = hn::MulAdd(q, r, number(0.04166838899254799f));
  q = hn::MulAdd(q, r, number(0.1666652113199234f));
  q = hn::MulAdd(q, r, number(0.4999999403953552f));
  const V mantissa = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), number(1.0f));
  const auto bits = hn::Add(hn::BitCast(integers, mantissa), hn::ShiftLeft<23>(hn::ConvertTo(integers, k)));
  return hn::IfThenElseZero(hn::Ge(x, least), hn::BitCast(d, bits));
}

}  // namespace
}  // namespace tilewright::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
