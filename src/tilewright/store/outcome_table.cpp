#include "tilewright/store/outcome_table.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright {

DesignHash hash_of_design(std::string_view design) {
  const XXH128_hash_t hash = XXH3_128bits(design.data(), design.size());
  return {hash.low64, hash.high64};
}

std::size_t OutcomeTable::slot_of(const DesignHash& hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t index = hash.low & mask;
  while (slots_[index].state != State::Empty && slots_[index].hash != hash) index = (index + 1) & mask;
  return index;
}

std::optional<StoredOutcome> OutcomeTable::find(const DesignHash& hash) const {
  if (size_ == 0) return std::nullopt;
  const Slot& slot = slots_[slot_of(hash)];
  if (slot.state == State::Empty) return std::nullopt;
  if (slot.state == State::Infeasible) return StoredOutcome{false, slot.reason, {}};
  return StoredOutcome{true, 0, std::span(numbers_).subspan(slot.place * *width_, *width_)};
}

bool OutcomeTable::add(const DesignHash& hash, const StoredOutcome& outcome) {
  if (4 * (size_ + 1) > 3 * slots_.size()) grow();
  Slot& slot = slots_[slot_of(hash)];
  if (slot.state != State::Empty) return false;
  slot.hash = hash;
  ++size_;
  if (!outcome.feasible) {
    slot.state = State::Infeasible;
    slot.reason = outcome.reason;
    return true;
  }
  TW_ASSERT(!width_ || *width_ == outcome.numbers.size());
  width_ = outcome.numbers.size();
  slot.state = State::Feasible;
  slot.place = feasible_++;
  numbers_.insert(numbers_.end(), outcome.numbers.begin(), outcome.numbers.end());
  return true;
}

void OutcomeTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.state != State::Empty) slots_[slot_of(slot.hash)] = slot;
  }
}

}  // namespace tilewright
