// How rows of policy heads lie in vectors; compiled once per vector target, see vector_math-inl.hpp.
//
// Heads are narrow. A vector holds a part of up to kWidth columns of kGroup rows, one row after the other; sums over columns
// come in the same order wherever kWidth is the same.
#if defined(TILEWRIGHT_NN_HEAD_PART_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEWRIGHT_NN_HEAD_PART_INL_HPP
#undef TILEWRIGHT_NN_HEAD_PART_INL_HPP
#else
#define TILEWRIGHT_NN_HEAD_PART_INL_HPP
#endif

#include <algorithm>
#include <cstddef>

#include "tilewright/nn/matrix.hpp"
#include "tilewright/nn/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilewright::kernels::HWY_NAMESPACE {
namespace {

using Full = hn::ScalableTag<float>;
using V = hn::Vec<Full>;
constexpr std::size_t kLanes = hn::MaxLanes(Full());
constexpr std::size_t kWidth = kLanes < 8 ? kLanes : 8;
constexpr std::size_t kGroup = kLanes / kWidth;

HWY_INLINE V number(float value) { return hn::Set(Full(), value); }

// Which rows and columns a vector stands for.
struct Part {
  std::size_t row, rows;        // rows <= kGroup
  std::size_t column, columns;  // columns <= kWidth
};

#if HWY_TARGET == HWY_AVX3
using Half = hn::Half<Full>;
HWY_INLINE V load(ConstView from, const Part& at) {
  const auto lower = load_part(Half(), from.row(at.row) + at.column, at.columns);
  const auto upper = load_part(Half(), from.row(at.row + at.rows - 1) + at.column, at.columns);
  return hn::Combine(Full(), upper, lower);
}
HWY_INLINE void store(V value, View to, const Part& at) {
  store_part(Half(), hn::LowerHalf(Half(), value), to.row(at.row) + at.column, at.columns);
  if (at.rows > 1) store_part(Half(), hn::UpperHalf(Half(), value), to.row(at.row + 1) + at.column, at.columns);
}
HWY_INLINE V load_scalars(const float* from, const Part& at) {
  return hn::Combine(Full(), hn::Set(Half(), from[at.row + at.rows - 1]), hn::Set(Half(), from[at.row]));
}
HWY_INLINE void add_scalars(V value, float* to, const Part& at) {
  to[at.row] += hn::GetLane(value);
  if (at.rows > 1) to[at.row + 1] += hn::GetLane(hn::UpperHalf(Half(), value));
}
#else
HWY_INLINE V load(ConstView from, const Part& at) { return load_part(Full(), from.row(at.row) + at.column, at.columns); }
HWY_INLINE void store(V value, View to, const Part& at) {
  store_part(Full(), value, to.row(at.row) + at.column, at.columns);
}
HWY_INLINE V load_scalars(const float* from, const Part& at) { return number(from[at.row]); }
HWY_INLINE void add_scalars(V value, float* to, const Part& at) { to[at.row] += hn::GetLane(value); }
#endif

// The first part of the group of rows that begins at `row`; and the one to the right.
HWY_INLINE Part first_part(std::size_t row, std::size_t rows, std::size_t columns) {
  return {row, std::min(kGroup, rows - row), 0, std::min(kWidth, columns)};
}
HWY_INLINE void advance(Part& at, std::size_t columns) {
  at.column += kWidth;
  at.columns = std::min(kWidth, columns - std::min(at.column, columns));
}

HWY_INLINE V inside(const Part& at, V value, V otherwise) {
  alignas(64) static constexpr float kColumn[16] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
  const V column = hn::Load(Full(), kColumn);
  return hn::IfThenElse(hn::Lt(column, number(static_cast<float>(at.columns))), value, otherwise);
}

// Over the columns of each row, in all its lanes.
template <class Join>
HWY_INLINE V joined(V value, [[maybe_unused]] const Join& join) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kWidth == 8) value = join(value, hn::Reverse8(Full(), value));
  value = join(value, hn::Reverse4(Full(), value));
  value = join(value, hn::Reverse2(Full(), value));
#endif
  return value;
}
HWY_INLINE V sum_of(V value) {
  return joined(value, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
}

}  // namespace
}  // namespace tilewright::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
