#include "tilewright/nn/kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tilewright/nn/kernels.cpp"
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>

#include "tilewright/nn/vector_math-inl.hpp"

// All products are c(M,N) <- finish(start + a(M,K)·b(K,N)), made of tiles of c that stay in registers while k runs. A number
// of c is one lane of one register from beginning to end, so its sum runs in the order of k whatever the tile.
HWY_BEFORE_NAMESPACE();
namespace tilewright::kernels::HWY_NAMESPACE {
namespace {

using Full = hn::ScalableTag<float>;
using Eight = hn::CappedTag<float, 8>;
using One = hn::CappedTag<float, 1>;

enum class Start { Zero, Bias, Continue };
enum class Finish { None, Relu, ReluSlope, TanhSlope };

struct Product {
  const float* a = nullptr;  // a(m,k) at m·a_row + k·a_step
  std::size_t a_row = 0, a_step = 0;
  const float* b = nullptr;
  std::size_t b_row = 0;
  std::size_t k = 0;  // terms of each sum
  float* c = nullptr;
  std::size_t c_row = 0;
  Start start = Start::Zero;
  const float* bias = nullptr;
  Finish finish = Finish::None;
  const float* kept = nullptr;  // values whose slope multiplies c
  std::size_t kept_row = 0;
};

// A tile of rows × vectors sums also needs registers for one row of b and one number of a.
constexpr bool kHas32Registers = HWY_TARGET == HWY_AVX3;
constexpr std::size_t kMostVectors = kHas32Registers ? 4 : 2;
constexpr std::size_t kLineVectors = kHas32Registers ? 4 : 8;  // of a tile of one row
constexpr std::size_t tile_rows(std::size_t vectors) { return vectors == kMostVectors ? 6 : 8; }

template <class D, class V>
HWY_INLINE V finished(D d, Finish finish, V sum, const float* kept) {
  switch (finish) {
    case Finish::Relu:
      return hn::Max(hn::Zero(d), sum);  // in this order not-a-number stays visible
    case Finish::ReluSlope:
      return hn::IfThenElseZero(hn::Gt(hn::LoadU(d, kept), hn::Zero(d)), sum);
    case Finish::TanhSlope: {
      const V h = hn::LoadU(d, kept);
      return hn::Mul(sum, hn::NegMulAdd(h, h, hn::Set(d, 1.0f)));
    }
    default:
      return sum;
  }
}

// `columns`: how many of c are left to the right of n.
template <std::size_t kRows, std::size_t kVectors, class D>
HWY_NOINLINE void tile(D d, const Product& p, std::size_t m, std::size_t n, std::size_t columns) {
  using V = hn::Vec<D>;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  float* const c = p.c + m * p.c_row + n;
  V sum[kRows][kVectors];
  HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) {
      if (p.start == Start::Zero) {
        sum[r][v] = hn::Zero(d);
      } else if (p.start == Start::Bias) {
        sum[r][v] = hn::LoadU(d, p.bias + n + v * kLanes);
      } else {
        sum[r][v] = hn::LoadU(d, c + r * p.c_row + v * kLanes);
      }
    }
  }
  const float* HWY_RESTRICT a = p.a + m * p.a_row;
  const float* HWY_RESTRICT b = p.b + n;
  for (std::size_t k = 0; k < p.k; ++k) {
    V row[kVectors];
    HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * kLanes);
    HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
      const V factor = hn::Set(d, a[r * p.a_row]);
      HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
    }
    a += p.a_step;
    b += p.b_row;
  }
  const float* const kept = p.kept == nullptr ? c : p.kept + m * p.kept_row + n;  // c: any place, not read
  HWY_UNROLL(8) for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) {
      const V value = finished(d, p.finish, sum[r][v], kept + r * p.kept_row + v * kLanes);
      float* const to = c + r * p.c_row + v * kLanes;
      if (columns >= (v + 1) * kLanes) {
        hn::StoreU(value, d, to);
      } else if (columns > v * kLanes) {
        store_part(d, value, to, columns - v * kLanes);
      }
    }
  }
}

template <std::size_t kVectors, class D>
void strip(D d, const Product& p, std::size_t rows, std::size_t n, std::size_t columns) {
  constexpr std::size_t kRows = tile_rows(kVectors);
  std::size_t m = 0;
  for (; m + kRows <= rows; m += kRows) tile<kRows, kVectors>(d, p, m, n, columns);
  const std::size_t rest = rows - m;  // at most 7
  if ((rest & 4) != 0) tile<4, kVectors>(d, p, m, n, columns);
  if ((rest & 2) != 0) tile<2, kVectors>(d, p, m + (rest & 4), n, columns);
  if ((rest & 1) != 0) tile<1, kVectors>(d, p, m + (rest & 6), n, columns);
}

// `readable`: the columns of b (and of c, bias, kept where they are read) that may be looked at, at least `columns`.
void multiply(const Product& p, std::size_t rows, std::size_t columns, std::size_t readable) {
  const std::size_t lanes = hn::Lanes(Full());
  for (std::size_t n = 0; n < columns;) {
    const std::size_t left = columns - n, wide = readable - n;
    if (rows == 1 && wide >= kLineVectors * lanes) {
      tile<1, kLineVectors>(Full(), p, 0, n, left);
      n += kLineVectors * lanes;
    } else if (wide >= kMostVectors * lanes) {
      strip<kMostVectors>(Full(), p, rows, n, left);
      n += kMostVectors * lanes;
    } else if (kMostVectors > 2 && wide >= 2 * lanes) {
      strip<2>(Full(), p, rows, n, left);
      n += 2 * lanes;
    } else if (wide >= lanes) {
      strip<1>(Full(), p, rows, n, left);
      n += lanes;
    } else if (wide >= hn::Lanes(Eight())) {
      strip<1>(Eight(), p, rows, n, left);
      n += hn::Lanes(Eight());
    } else {
      for (std::size_t m = 0; m < rows; ++m) tile<1, 1>(One(), p, m, n, left);
      n += 1;
    }
  }
}

template <class D, class V>
HWY_INLINE float folded([[maybe_unused]] D d, V value) {
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(value);
#else
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return folded(half, hn::Add(hn::LowerHalf(half, value), hn::UpperHalf(half, value)));
  } else {
    value = hn::Add(value, hn::Shuffle1032(value));
    return hn::GetLane(hn::Add(value, hn::Shuffle2301(value)));
  }
#endif
}

// Sixteen interleaved sums, folded by halves: the same numbers for every vector width.
float dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t size) {
  const hn::CappedTag<float, 16> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::CappedTag<float, 16>()), kVectors = 16 / kLanes;
  hn::Vec<decltype(d)> sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  const auto add = [&](const float* left, const float* right) HWY_ATTR {
    HWY_UNROLL(16) for (std::size_t v = 0; v < kVectors; ++v) {
      sum[v] = hn::MulAdd(hn::LoadU(d, left + v * kLanes), hn::LoadU(d, right + v * kLanes), sum[v]);
    }
  };
  std::size_t i = 0;
  for (; i + 16 <= size; i += 16) add(a + i, b + i);
  if (i < size) {
    HWY_ALIGN float rest[2][16] = {};
    std::copy(a + i, a + size, rest[0]);
    std::copy(b + i, b + size, rest[1]);
    add(rest[0], rest[1]);
  }
  for (std::size_t step = kVectors / 2; step > 0; step /= 2) {
    for (std::size_t v = 0; v < step; ++v) sum[v] = hn::Add(sum[v], sum[v + step]);
  }
  return folded(d, sum[0]);
}

void apply_tanh(View y) {
  for (std::size_t r = 0; r < y.rows; ++r) {
    float* const row = y.row(r);
    std::size_t c = 0;
    for (; c + hn::Lanes(Full()) <= y.columns; c += hn::Lanes(Full()))
      hn::StoreU(hn::Tanh(Full(), hn::LoadU(Full(), row + c)), Full(), row + c);
    for (; c < y.columns; ++c) hn::StoreU(hn::Tanh(One(), hn::LoadU(One(), row + c)), One(), row + c);
  }
}

void dense(ConstView x, ConstView weight, const float* bias, Curve f, View y) {
  if (y.columns == 1) {
    for (std::size_t r = 0; r < x.rows; ++r) {
      const float sum = *bias + dot(x.row(r), weight.data, x.columns);
      *y.row(r) = f == Curve::Relu ? std::max(sum, 0.0f) : sum;
    }
  } else {
    multiply({.a = x.data,
              .a_row = x.stride,
              .a_step = 1,
              .b = weight.data,
              .b_row = weight.stride,
              .k = x.columns,
              .c = y.data,
              .c_row = y.stride,
              .start = Start::Bias,
              .bias = bias,
              .finish = f == Curve::Relu ? Finish::Relu : Finish::None},
             x.rows, y.columns, padded(y.columns));
  }
  if (f == Curve::Tanh) apply_tanh(y);
}

void dense_gradient(ConstView x, ConstView dy, View dweight, float* dbias) {
  const float one = 1;
  Product p{.b = dy.data, .b_row = dy.stride, .k = x.rows, .start = Start::Continue};
  p.a = &one;
  p.c = dbias;
  multiply(p, 1, dy.columns, padded(dy.columns));
  if (dy.columns == 1) {  // along the inputs, which lie together
    p = {.a = dy.data, .a_step = dy.stride, .b = x.data, .b_row = x.stride, .k = x.rows, .start = Start::Continue};
    p.c = dweight.data;
    multiply(p, 1, x.columns, x.columns);
  } else {
    p.a = x.data;
    p.a_row = 1;
    p.a_step = x.stride;
    p.c = dweight.data;
    p.c_row = dweight.stride;
    multiply(p, x.columns, dy.columns, padded(dy.columns));
  }
}

void dense_backward(ConstView dy, ConstView transposed, std::size_t first, Curve f, ConstView kept, View dx) {
  multiply({.a = dy.data,
            .a_row = dy.stride,
            .a_step = 1,
            .b = transposed.data + first,
            .b_row = transposed.stride,
            .k = dy.columns,
            .c = dx.data,
            .c_row = dx.stride,
            .finish = f == Curve::Relu   ? Finish::ReluSlope
                      : f == Curve::Tanh ? Finish::TanhSlope
                                         : Finish::None,
            .kept = kept.data,
            .kept_row = kept.stride},
           dx.rows, dx.columns, (dx.columns + kRowPadding - 1) / kRowPadding * kRowPadding);
}

}  // namespace
}  // namespace tilewright::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewright::kernels {
namespace {
HWY_EXPORT(dense);
HWY_EXPORT(dense_gradient);
HWY_EXPORT(dense_backward);
}  // namespace

void dense(ConstView x, ConstView weight, const float* bias, Curve f, View y) {
  HWY_DYNAMIC_DISPATCH(dense)(x, weight, bias, f, y);
}

void dense_gradient(ConstView x, ConstView dy, View dweight, float* dbias) {
  HWY_DYNAMIC_DISPATCH(dense_gradient)(x, dy, dweight, dbias);
}

void dense_backward(ConstView dy, ConstView transposed, std::size_t first, Curve f, ConstView kept, View dx) {
  HWY_DYNAMIC_DISPATCH(dense_backward)(dy, transposed, first, f, kept, dx);
}

void transpose(ConstView weight, View transposed) {
  for (std::size_t i = 0; i < weight.rows; ++i)
    for (std::size_t o = 0; o < weight.columns; ++o) transposed.row(o)[i] = weight.row(i)[o];
}

}  // namespace tilewright::kernels
#endif
