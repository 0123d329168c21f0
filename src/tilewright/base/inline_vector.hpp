// A vector of at most `Capacity` elements that lives where it is declared: mappings and workspaces copy without the heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "tilewright/base/result.hpp"

namespace tilewright {

template <typename T, std::size_t Capacity>
class InlineVector {
 public:
  static constexpr std::size_t capacity() { return Capacity; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == Capacity; }

  T& operator[](std::size_t index) { return items_[index]; }
  const T& operator[](std::size_t index) const { return items_[index]; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

  void push_back(const T& item) {
    TW_ASSERT(!full());
    items_[size_++] = item;
  }
  void push_front(const T& item) {
    TW_ASSERT(!full());
    std::copy_backward(begin(), end(), end() + 1);
    items_[0] = item;
    ++size_;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  bool operator==(const InlineVector& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::array<T, Capacity> items_{};
  std::size_t size_ = 0;
};

}  // namespace tilewright
