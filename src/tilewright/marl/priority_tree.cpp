#include "tilewright/marl/priority_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "tilewright/base/result.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kChildren = 16;  // a power of two
constexpr float kNothing = std::numeric_limits<float>::infinity();

// The first child whose running sum lies beyond `mass`. Rounding may leave `mass` at or behind the last sum: then the last
// child that has weight is meant.
inline std::size_t choose(const double* running, double mass) {
  if (running[kChildren - 1] <= mass) [[unlikely]] {
    return static_cast<std::size_t>(std::find(running, running + kChildren, running[kChildren - 1]) - running);
  }
  std::size_t first = 0;
  for (std::size_t half = kChildren / 2; half > 0; half /= 2) first += running[first + half - 1] <= mass ? half : 0;
  return first;
}

}  // namespace

PriorityTree::PriorityTree(std::size_t slots) {
  const auto families = [](std::size_t count) { return (count + kChildren - 1) / kChildren; };
  std::size_t count = std::max<std::size_t>(1, families(slots));
  weights_.resize(count * kChildren);
  while (true) {
    const std::size_t room = families(count) * kChildren;
    levels_.push_back({std::vector<double>(room), std::vector<double>(room), std::vector<float>(room, kNothing)});
    if (count == 1) break;
    count = families(count);
  }
}

void PriorityTree::update_node(std::size_t level, std::size_t index) {
  double sum = 0;
  float least = kNothing;
  for (std::size_t child = index * kChildren; child < (index + 1) * kChildren; ++child) {
    if (level == 0) {
      sum += static_cast<double>(weights_[child]);
      if (weights_[child] > 0) least = std::min(least, weights_[child]);
    } else {
      Level& below = levels_[level - 1];
      below.running[child] = sum += below.sums[child];
      least = std::min(least, below.least[child]);
    }
  }
  levels_[level].sums[index] = sum;
  levels_[level].least[index] = least;
}

void PriorityTree::set(std::size_t slot, float weight) { set(std::span(&slot, 1), std::span(&weight, 1)); }

void PriorityTree::set(std::span<const std::size_t> slots, std::span<const float> weights) {
  TW_ASSERT(slots.size() == weights.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    TW_ASSERT(weights[i] >= 0 && weights[i] < kNothing);
    weights_[slots[i]] = weights[i];
  }
  touched_.assign(slots.begin(), slots.end());
  std::ranges::sort(touched_);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (std::size_t& index : touched_) index /= kChildren;
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const std::size_t index : touched_) update_node(level, index);
  }
}

std::size_t PriorityTree::find(double mass) const {
  std::size_t family = 0;
  for (std::size_t level = levels_.size() - 1; level-- > 0;) {
    const double* running = levels_[level].running.data() + family * kChildren;
    const std::size_t child = choose(running, mass);
    if (child > 0) mass -= running[child - 1];
    family = family * kChildren + child;
  }
  std::array<double, kChildren> running;
  double sum = 0;
  for (std::size_t child = 0; child < kChildren; ++child) {
    running[child] = sum += static_cast<double>(weights_[family * kChildren + child]);
  }
  return family * kChildren + choose(running.data(), mass);
}

}  // namespace tilewright
