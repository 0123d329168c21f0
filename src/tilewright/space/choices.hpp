// The legal values of one parameter: ascending indices, either all below a bound or a list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

// What a space remembers from one question to the next, for the asker that keeps the same Choices.
struct ChoicesMemo {
  explicit ChoicesMemo(std::uint64_t owner) : space(owner) {}
  virtual ~ChoicesMemo() = default;
  std::uint64_t space;  // whose memo it is; no two spaces of a process share a number
};

class Choices {
 public:
  Choices() = default;
  Choices(const Choices& other) : bound_(other.bound_), list_(other.list_), listed_(other.listed_) {}
  Choices& operator=(const Choices&) = delete;

  // All indices below `bound` (at least 1).
  void set_below(std::int32_t bound) {
    bound_ = bound;
    listed_ = false;
  }
  // An empty list to be filled with add(), ascending, at least one.
  void set_list() {
    list_.clear();
    listed_ = true;
  }
  void add(std::int32_t index) { list_.push_back(index); }

  std::int32_t count() const { return listed_ ? static_cast<std::int32_t>(list_.size()) : bound_; }
  std::int32_t operator[](std::int32_t n) const { return listed_ ? list_[static_cast<std::size_t>(n)] : n; }
  std::int32_t back() const { return listed_ ? list_.back() : bound_ - 1; }

  bool contains(std::int32_t index) const {
    return listed_ ? std::binary_search(list_.begin(), list_.end(), index) : index >= 0 && index < bound_;
  }
  // The legal index nearest to `index`, the smaller of two equally near ones.
  std::int32_t nearest(std::int32_t index) const {
    if (!listed_) return std::clamp(index, 0, bound_ - 1);
    const auto above = std::lower_bound(list_.begin(), list_.end(), index);
    if (above == list_.end()) return list_.back();
    if (above == list_.begin() || *above == index) return *above;
    return *above - index < index - *(above - 1) ? *above : *(above - 1);
  }

  // Belongs to the space asked last; only a help, never a part of the answer.
  std::unique_ptr<ChoicesMemo>& memo() { return memo_; }

 private:
  std::int32_t bound_ = 1;
  std::vector<std::int32_t> list_;
  bool listed_ = false;
  std::unique_ptr<ChoicesMemo> memo_;
};

}  // namespace tilewright
