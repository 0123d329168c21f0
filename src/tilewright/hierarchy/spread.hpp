// How one tensor is spread over the copies inside a level: who gets the same data, how far it travels, and who can take it
// from a neighbour.
//
// Copies are numbered, the innermost spatial loop fastest, and stand in a grid of `width` columns: copy e in column e mod
// width, row e div width. (Timeloop takes the width of the hardware with this dense numbering, so a block that uses fewer
// columns wraps oddly; the numbers depend on it.) Data enters at the left edge, half way up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/hierarchy/tensor_view.hpp"

namespace tilewright::hierarchy {

// Groups of copies that get the same data. `hops` is the sum over the groups, for one word each.
struct Signature {
  std::int64_t multicast = 1;  // copies per group
  std::int64_t scatter = 1;    // groups of that size
  double hops = 0;
};

enum class Multicast : std::uint8_t { Yes, No };
enum class Hops : std::uint8_t { Count, Ignore };

class Spread {
 public:
  explicit Spread(std::int64_t most_elements);

  // The copies of `block` as `tensor` sees them, in a grid of at least fan_x times fan_y.
  void set(const SpatialBlock& block, const TensorView& tensor, std::int64_t fan_x, std::int64_t fan_y, Multicast multicast,
           Hops hops);

  // Groups of all copies, by rising size. Valid until the next call of any function.
  std::span<const Signature> groups();
  std::int64_t group_count() const { return group_count_; }  // of the last grouping

  // Groups of the copies that find what they need, moved by `shift`, with none of their four neighbours.
  std::span<const Signature> groups_without_links(const Shift& shift);
  std::int64_t served_count() const { return served_count_; }

 private:
  void enumerate();
  void group(bool skip_served);
  std::size_t slot_of(std::int64_t key);

  struct Slot {
    std::int64_t key = 0;
    std::uint32_t epoch = 0;
    std::uint32_t value = 0;
  };
  struct Group {
    std::int64_t size = 0;
    std::int64_t last_column = 0;
    double climb = 0;
  };
  struct Cell {  // one column of one group
    std::uint32_t group = 0;
    std::int64_t lowest = 0, highest = 0;
  };

  const SpatialBlock* block_ = nullptr;
  Multicast multicast_ = Multicast::Yes;
  Hops hops_ = Hops::Ignore;
  std::size_t rank_count_ = 0;
  std::int64_t width_ = 1;
  double centre_ = 0;
  std::int64_t element_count_ = 1;
  bool enumerated_ = false;
  bool collides_ = false;  // two loops move the same rank, so that different copies may want the same data
  Shift range_{}, stride_{};
  std::array<std::int64_t, kMostDims> key_step_{};
  std::int64_t group_count_ = 0;
  std::int64_t served_count_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<std::uint8_t> served_;
  std::vector<Slot> slots_;
  std::vector<Group> groups_;
  std::vector<Cell> cells_;
  std::vector<Signature> by_size_;  // [size - 1]; scatter 0 = no group of that size
  std::vector<Signature> signatures_;
};

}  // namespace tilewright::hierarchy
