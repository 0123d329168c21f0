// Where the transitions of a replay memory lie: in one row each, or spread over buffers of the agents. Slots are places of
// the ring; what lies in them is the caller's business.
#pragma once

#include <cstddef>
#include <vector>

#include "tilewright/marl/environment.hpp"
#include "tilewright/marl/memory_region.hpp"
#include "tilewright/marl/replay.hpp"

namespace tilewright {

// The parts of one transition, each of all agents together.
template <typename T>
struct TransitionParts {
  T *representation = nullptr, *actions = nullptr, *next = nullptr, *rewards = nullptr;
  T* terminated = nullptr;  // null when the environment never terminates
};

// How many floats the parts have; side by side in that order they are a row.
struct TransitionShape {
  std::size_t representation = 0, actions = 0, agents = 0;
  bool terminates = false;

  std::size_t row_size() const { return 2 * representation + actions + agents * (terminates ? 2 : 1); }
  template <typename T>
  TransitionParts<T> parts(T* row) const {
    T* next = row + representation + actions;
    T* rewards = next + representation;
    return {row, row + representation, next, rewards, terminates ? rewards + agents : nullptr};
  }
};

// From ages to slots of a ring.
struct Ring {
  std::size_t oldest = 0, capacity = 0;
  std::size_t slot(std::size_t age) const {
    const std::size_t at = oldest + age;
    return at < capacity ? at : at - capacity;
  }
};

// A few floats per slot.
class FloatColumn {
 public:
  FloatColumn() = default;
  FloatColumn(std::size_t size, std::size_t stride, std::size_t slots, Pages pages)
      : size_(size), stride_(stride), region_(slots, stride * sizeof(float), pages == Pages::Huge) {}

  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  float* row(std::size_t slot) { return region_.data() + slot * stride_; }
  const float* row(std::size_t slot) const { return region_.data() + slot * stride_; }

 private:
  std::size_t size_ = 0, stride_ = 0;
  MemoryRegion region_;
};

// The layouts `joint` and `state`.
class RowStore {
 public:
  RowStore(const TransitionShape& shape, std::size_t slots, Pages pages);
  void put(std::size_t slot, const TransitionParts<const float>& from);
  void take(std::size_t slot, float* row) const;
  void gather(const Ring& ring, Batch& batch) const;
  std::size_t bytes_per_slot() const { return rows_.stride() * sizeof(float); }

 private:
  TransitionShape shape_;
  FloatColumn rows_;
};

// The layout `per-agent`.
class AgentStore {
 public:
  AgentStore(const EnvironmentSpec& spec, const TransitionShape& shape, std::size_t slots, Pages pages);
  void put(std::size_t slot, TransitionParts<const float> from);
  void take(std::size_t slot, float* row) const;
  void gather(const Ring& ring, Batch& batch) const;
  std::size_t bytes_per_slot() const { return shape_.row_size() * sizeof(float); }

 private:
  struct Buffer {
    FloatColumn observations, actions, rewards, next_observations, terminated;
  };
  TransitionShape shape_;
  std::vector<Buffer> agents_;
};

}  // namespace tilewright
