// Rows of floats: what every kernel reads and writes. A row is a sample (or, for weights, an input); columns lie together.
//
// Rows of our own matrices begin on multiples of eight floats and the columns that fill them up stay zero, so that kernels
// need no remainder code. A single column is kept dense.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

template <typename T>
struct BasicView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;  // from one row to the next

  T* row(std::size_t index) const { return data + index * stride; }
  BasicView row_range(std::size_t first, std::size_t count) const { return {row(first), count, columns, stride}; }
  BasicView column_range(std::size_t first, std::size_t count) const { return {data + first, rows, count, stride}; }
  operator BasicView<const T>() const { return {data, rows, columns, stride}; }  // NOLINT: implicit on purpose
};
using View = BasicView<float>;
using ConstView = BasicView<const float>;

inline constexpr std::size_t kRowPadding = 8;
constexpr std::size_t padded(std::size_t columns) {
  return columns <= 1 ? columns : (columns + kRowPadding - 1) / kRowPadding * kRowPadding;
}

// std::allocator on cache lines.
template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT: implicit as the standard asks
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* pointer, std::size_t) { ::operator delete (pointer, std::align_val_t{64}); }
  bool operator==(const AlignedAllocator&) const = default;
};
template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// An owned matrix, zero at first.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), stride_(padded(columns)), values_(rows * stride_ + 2 * kRowPadding) {}

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  View view() { return {values_.data(), rows_, columns_, stride_}; }
  ConstView view() const { return {values_.data(), rows_, columns_, stride_}; }
  View row_range(std::size_t first, std::size_t count) { return view().row_range(first, count); }
  float* row(std::size_t index) { return values_.data() + index * stride_; }
  const float* row(std::size_t index) const { return values_.data() + index * stride_; }

 private:
  std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
  AlignedVector<float> values_;
};

}  // namespace tilewright
