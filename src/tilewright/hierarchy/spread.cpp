#include "tilewright/hierarchy/spread.hpp"

#include <algorithm>
#include <bit>

namespace tilewright::hierarchy {

Spread::Spread(std::int64_t most_elements) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(most_elements, 1));
  keys_.resize(count);
  served_.resize(count);
  slots_.resize(std::bit_ceil(2 * count));
  groups_.reserve(count);
  cells_.reserve(count);
  by_size_.resize(count, {1, 0, 0});
  signatures_.reserve(64);
}

void Spread::set(const SpatialBlock& block, const TensorView& tensor, std::int64_t fan_x, std::int64_t fan_y,
                 Multicast multicast, Hops hops) {
  block_ = &block;
  multicast_ = multicast;
  hops_ = hops;
  rank_count_ = tensor.rank_count;
  width_ = std::max(fan_x, block.columns);
  centre_ = static_cast<double>(std::max(fan_y, block.rows) - 1) / 2.0;
  element_count_ = block.elements();
  enumerated_ = false;
  collides_ = false;
  std::int64_t stride = 1;
  key_step_.fill(0);
  for (std::size_t rank = 0; rank < rank_count_; ++rank) {
    std::int64_t reach = 0;
    int movers = 0;
    for (std::size_t at = 0; at < block.loops.size(); ++at) {
      const Loop& loop = block.loops[at];
      const std::int64_t move = tensor.move[loop.dim][rank] * loop.step;
      if (move == 0) continue;
      ++movers;
      reach += std::abs(move) * (loop.trips - 1);
      key_step_[at] += move * stride;
    }
    collides_ = collides_ || movers > 1;
    range_[rank] = reach;
    stride_[rank] = stride;
    stride *= 2 * reach + 1;  // differences of offsets have a key of their own, too
  }
}

void Spread::enumerate() {
  if (enumerated_) return;
  enumerated_ = true;
  std::size_t count = 1;
  keys_[0] = 0;
  for (std::size_t at = 0; at < block_->loops.size(); ++at) {
    const auto trips = static_cast<std::size_t>(block_->loops[at].trips);
    for (std::size_t trip = 1; trip < trips; ++trip) {
      const std::int64_t move = key_step_[at] * static_cast<std::int64_t>(trip);
      for (std::size_t element = 0; element < count; ++element) keys_[trip * count + element] = keys_[element] + move;
    }
    count *= trips;
  }
}

std::size_t Spread::slot_of(std::int64_t key) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u >> 20) & mask;
  while (slots_[slot].epoch == epoch_ && slots_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

void Spread::group(bool skip_served) {
  enumerate();
  groups_.clear();
  const auto next_epoch = [&] {
    if (++epoch_ != 0) return;
    for (Slot& slot : slots_) slot.epoch = 0;
    epoch_ = 1;
  };
  next_epoch();
  // While groups are told apart by their keys, columns of groups wait in `cells_`: (group, row) of every copy in turn.
  std::int64_t column = 0, row = 0;
  cells_.clear();
  for (std::int64_t element = 0; element < element_count_; ++element) {
    const auto at = static_cast<std::size_t>(element);
    if (!skip_served || served_[at] == 0) {
      const std::int64_t key = multicast_ == Multicast::Yes ? keys_[at] : element;
      Slot& slot = slots_[slot_of(key)];
      if (slot.epoch != epoch_) {
        slot = {key, epoch_, static_cast<std::uint32_t>(groups_.size())};
        groups_.push_back({});
      }
      Group& group = groups_[slot.value];
      ++group.size;
      group.last_column = std::max(group.last_column, column);
      if (hops_ == Hops::Count) cells_.push_back({slot.value, column, row});
    }
    if (++column == width_) column = 0, ++row;
  }
  if (hops_ == Hops::Count) {
    // Rows rise with the number, so the first copy of a group in a column is the lowest and the last the highest.
    next_epoch();
    const auto climb = [&](std::int64_t lowest, std::int64_t highest) {
      return std::max(0.0, centre_ - static_cast<double>(lowest)) + std::max(0.0, static_cast<double>(highest) - centre_);
    };
    std::size_t used = 0;
    for (std::size_t at = 0; at < cells_.size(); ++at) {
      const Cell copy = cells_[at];
      Slot& slot = slots_[slot_of(static_cast<std::int64_t>(copy.group) * width_ + copy.lowest)];
      if (slot.epoch != epoch_) {
        slot = {static_cast<std::int64_t>(copy.group) * width_ + copy.lowest, epoch_, static_cast<std::uint32_t>(used)};
        cells_[used++] = {copy.group, copy.highest, copy.highest};
      } else {
        cells_[slot.value].highest = copy.highest;
      }
    }
    for (std::size_t at = 0; at < used; ++at)
      groups_[cells_[at].group].climb += climb(cells_[at].lowest, cells_[at].highest);
  }
  signatures_.clear();
  for (const Group& group : groups_) {
    Signature& signature = by_size_[static_cast<std::size_t>(group.size - 1)];
    if (signature.scatter == 0) signatures_.push_back({group.size, 0, 0});
    ++signature.scatter;
    signature.hops += static_cast<double>(group.last_column) + group.climb;
  }
  std::ranges::sort(signatures_, {}, &Signature::multicast);
  for (Signature& signature : signatures_) {
    Signature& counted = by_size_[static_cast<std::size_t>(signature.multicast - 1)];
    signature.scatter = counted.scatter;
    signature.hops = hops_ == Hops::Count ? counted.hops : 0;
    counted = {1, 0, 0};
  }
  group_count_ = static_cast<std::int64_t>(groups_.size());
}

std::span<const Signature> Spread::groups() {
  if (hops_ == Hops::Count || (collides_ && multicast_ == Multicast::Yes)) {
    group(false);
    return signatures_;
  }
  Signature all{1, 1, 0};
  for (std::size_t at = 0; at < block_->loops.size(); ++at) {
    const bool shared = key_step_[at] == 0 && multicast_ == Multicast::Yes;
    (shared ? all.multicast : all.scatter) *= block_->loops[at].trips;
  }
  group_count_ = all.scatter;
  signatures_.assign(1, all);
  return signatures_;
}

std::span<const Signature> Spread::groups_without_links(const Shift& shift) {
  served_count_ = 0;
  std::int64_t key_shift = 0;
  for (std::size_t rank = 0; rank < rank_count_; ++rank) {
    if (std::abs(shift[rank]) > range_[rank]) return {};
    key_shift += shift[rank] * stride_[rank];
  }
  enumerate();
  std::int64_t column = 0;
  for (std::int64_t element = 0; element < element_count_; ++element) {
    const auto at = static_cast<std::size_t>(element);
    const std::int64_t wanted = keys_[at] + key_shift;
    const auto holds = [&](std::int64_t neighbour) {
      return neighbour >= 0 && neighbour < element_count_ && keys_[static_cast<std::size_t>(neighbour)] == wanted;
    };
    const bool served = (column > 0 && holds(element - 1)) || (column + 1 < width_ && holds(element + 1)) ||
                        holds(element - width_) || holds(element + width_);
    served_[at] = served ? 1 : 0;
    served_count_ += served ? 1 : 0;
    if (++column == width_) column = 0;
  }
  if (served_count_ == 0) return {};
  group(true);
  return signatures_;
}

}  // namespace tilewright::hierarchy
