// Outcomes by the hash of their design: open addressing, one cache line for most finds, the numbers side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tilewright/store/store.hpp"

namespace tilewright {

// 128 bits, so that two designs of one store never meet.
struct DesignHash {
  std::uint64_t low = 0, high = 0;
  auto operator<=>(const DesignHash&) const = default;
};
DesignHash hash_of_design(std::string_view design);

class OutcomeTable {
 public:
  std::optional<StoredOutcome> find(const DesignHash& hash) const;
  // False, and nothing changes, when the design is known.
  bool add(const DesignHash& hash, const StoredOutcome& outcome);

  std::size_t size() const { return size_; }
  // How many numbers a feasible outcome has; nothing before the first.
  std::optional<std::size_t> width() const { return width_; }

 private:
  enum class State : std::uint8_t { Empty, Feasible, Infeasible };
  struct Slot {
    DesignHash hash;
    std::uint32_t place = 0;  // of its numbers, counted in outcomes
    std::uint8_t reason = 0;
    State state = State::Empty;
  };

  std::size_t slot_of(const DesignHash& hash) const;  // where it is, or the free slot where it belongs
  void grow();

  std::vector<Slot> slots_;  // a power of two of them, or none
  std::vector<double> numbers_;
  std::optional<std::size_t> width_;
  std::size_t size_ = 0;
  std::uint32_t feasible_ = 0;
};

}  // namespace tilewright
