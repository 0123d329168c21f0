// Points that were proposed before, told apart by their hashes: one flat table, because a node for each of millions of
// points would cost more than judging it.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/space/design_space.hpp"

namespace tilewright {

class SeenPoints {
 public:
  bool add(PointView point) { return add_hash(hash_of(point)); }  // false when it was there already
  bool contains(PointView point) const { return !slots_.empty() && slots_[slot_of(key_of(hash_of(point)))] != kFree; }

  bool add_hash(std::uint64_t hash) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    std::uint64_t& slot = slots_[slot_of(key_of(hash))];
    if (slot != kFree) return false;
    slot = key_of(hash);
    ++count_;
    return true;
  }

 private:
  static constexpr std::uint64_t kFree = 0;
  static std::uint64_t key_of(std::uint64_t hash) { return hash == kFree ? 1 : hash; }

  // Where the key is, or would be: the first free slot at its place or after. Half of all slots are free.
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t last = slots_.size() - 1;
    std::size_t slot = key & last;
    while (slots_[slot] != kFree && slots_[slot] != key) slot = (slot + 1) & last;
    return slot;
  }

  void grow() {
    std::vector<std::uint64_t> old(slots_.empty() ? 16 : 2 * slots_.size(), kFree);
    old.swap(slots_);
    for (const std::uint64_t key : old) {
      if (key != kFree) slots_[slot_of(key)] = key;
    }
  }

  std::vector<std::uint64_t> slots_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace tilewright
