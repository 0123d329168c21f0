#include "tilewright/marl/samplers_prioritized.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace tilewright {
namespace {

float tree_weight(double priority) { return static_cast<float>(std::pow(priority, kPriorityExponent)); }

}  // namespace

PrioritizedSampler::PrioritizedSampler(std::size_t capacity, std::size_t window)
    : capacity_(capacity), window_(window), tree_(capacity) {}

// Brings the tree to what the memory holds now.
void PrioritizedSampler::follow(const ReplayPosition& position) {
  TW_ASSERT(position.capacity == capacity_ && position.size <= position.added);
  const std::uint64_t oldest = position.added - position.size;
  if (position.added < end_) {  // another memory than the one we knew
    for (std::uint64_t number = first_; number < end_; ++number) tree_.set(slot_of(number), 0);
    first_ = end_ = oldest;
    kept_.clear();
  }
  for (std::uint64_t number = first_; number < std::min(oldest, end_); ++number) {
    const bool overwritten = number + capacity_ < position.added;
    if (!overwritten) tree_.set(slot_of(number), 0);
  }
  slots_.clear();
  for (std::uint64_t number = std::max(end_, oldest); number < position.added; ++number) slots_.push_back(slot_of(number));
  weights_.assign(slots_.size(), tree_weight(max_priority_));
  tree_.set(slots_, weights_);
  first_ = oldest;
  end_ = position.added;
}

void PrioritizedSampler::draw(const ReplayPosition& position, std::size_t count, Rng& rng,
                              std::vector<std::uint32_t>& indices, std::vector<float>& weights) {
  TW_ASSERT(position.size >= 1);
  follow(position);
  indices.clear();
  weights.clear();
  const bool first_of_window = draws_left_ == 0 || kept_.size() > count;
  if (first_of_window) {
    kept_.clear();
    draws_left_ = window_;
  }
  for (const Kept& kept : kept_) {
    if (kept.number < first_) continue;
    indices.push_back(static_cast<std::uint32_t>(kept.number - first_));
    weights.push_back(kept.weight);
  }
  const double progress = std::min(1.0, static_cast<double>(draws_) / static_cast<double>(kBetaDraws));
  const double beta = kFirstBeta + (1 - kFirstBeta) * progress;
  const std::size_t oldest_slot = slot_of(first_);
  while (indices.size() < count) {
    const std::size_t slot = tree_.find(rng.uniform() * tree_.sum());
    indices.push_back(static_cast<std::uint32_t>(slot >= oldest_slot ? slot - oldest_slot : slot + capacity_ - oldest_slot));
    // (size·P)^-β over its largest value: size and Σ p^α cancel.
    const double ratio = static_cast<double>(tree_.least()) / static_cast<double>(tree_.weight(slot));
    weights.push_back(static_cast<float>(std::pow(ratio, beta)));
  }
  ++draws_;
  --draws_left_;
  if (first_of_window && window_ > 1) keep_best(first_, indices, weights);
}

void PrioritizedSampler::keep_best(std::uint64_t oldest, std::span<const std::uint32_t> indices,
                                   std::span<const float> weights) {
  const auto priority = [&](std::size_t i) { return tree_.weight(slot_of(oldest + indices[i])); };
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return priority(a) > priority(b); });
  for (std::size_t i = 0; i < order.size() / 2; ++i) kept_.push_back({oldest + indices[order[i]], weights[order[i]]});
}

void PrioritizedSampler::feedback(const ReplayPosition& position, std::span<const std::uint32_t> indices,
                                  std::span<const float> squared_errors) {
  TW_ASSERT(indices.size() == squared_errors.size());
  follow(position);
  slots_.clear();
  weights_.clear();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const double error = static_cast<double>(squared_errors[i]);
    // An error that is no number says that learning has failed, not how much is to be learnt here.
    const double priority = std::isfinite(error) ? error + kLeastPriority : max_priority_;
    slots_.push_back(slot_of(first_ + indices[i]));
    weights_.push_back(tree_weight(priority));
    max_priority_ = std::max(max_priority_, priority);
  }
  tree_.set(slots_, weights_);
}

void PrioritizedSampler::save(const std::string& name, TensorFile& file) const {
  std::vector<float> priorities;
  for (std::uint64_t number = first_; number < end_; ++number) priorities.push_back(tree_.weight(slot_of(number)));
  std::vector<std::int64_t> kept_numbers;
  std::vector<float> kept_weights;
  for (const Kept& kept : kept_) {
    kept_numbers.push_back(static_cast<std::int64_t>(kept.number));
    kept_weights.push_back(kept.weight);
  }
  file.put(name + ".priorities", std::span<const float>(priorities));
  file.put(name + ".first", static_cast<std::int64_t>(first_));
  file.put(name + ".end", static_cast<std::int64_t>(end_));
  file.put(name + ".max_priority", std::span<const double>(&max_priority_, 1));
  file.put(name + ".draws", static_cast<std::int64_t>(draws_));
  file.put(name + ".draws_left", static_cast<std::int64_t>(draws_left_));
  file.put(name + ".kept", std::span<const std::int64_t>(kept_numbers));
  file.put(name + ".kept_weights", std::span<const float>(kept_weights));
}

Result<Done> PrioritizedSampler::load(const std::string& name, const TensorFile& file) {
  TW_TRY(const std::int64_t first, file.get(name + ".first"));
  TW_TRY(const std::int64_t end, file.get(name + ".end"));
  TW_TRY(const std::int64_t draws, file.get(name + ".draws"));
  TW_TRY(const std::int64_t draws_left, file.get(name + ".draws_left"));
  if (first < 0 || end < first || end - first > static_cast<std::int64_t>(capacity_)) {
    return invalid(fmt::format("{}: priorities are of the transitions {} to {}, expected at most {} of them", name, first,
                               end, capacity_));
  }
  if (draws < 0 || draws_left < 0 || draws_left >= static_cast<std::int64_t>(window_)) {
    return invalid(fmt::format("{}: {} draws are left of the window, expected 0 to {}", name, draws_left, window_ - 1));
  }
  std::vector<float> priorities(static_cast<std::size_t>(end - first));
  TW_TRY(const Done have_priorities, file.get(name + ".priorities", std::span<float>(priorities)));
  double max_priority = 0;
  TW_TRY(const Done have_maximum, file.get(name + ".max_priority", std::span<double>(&max_priority, 1)));
  const auto usable = [](double priority) { return priority > 0 && std::isfinite(priority); };
  if (!usable(max_priority) || !std::ranges::all_of(priorities, [&](float p) { return usable(static_cast<double>(p)); })) {
    return invalid(fmt::format("{}: a priority is not a number above zero, expected all to be", name));
  }
  const auto kept = file.tensors.find(name + ".kept");
  std::vector<std::int64_t> kept_numbers(kept == file.tensors.end() ? 0 : kept->second.bytes.size() / sizeof(std::int64_t));
  std::vector<float> kept_weights(kept_numbers.size());
  TW_TRY(const Done have_kept, file.get(name + ".kept", std::span<std::int64_t>(kept_numbers)));
  TW_TRY(const Done have_weights, file.get(name + ".kept_weights", std::span<float>(kept_weights)));
  if (!std::ranges::all_of(kept_numbers, [&](std::int64_t number) { return number >= 0 && number < end; })) {
    return invalid(fmt::format("{}: a kept transition is not below {}, expected all to be", name, end));
  }

  tree_ = PriorityTree(capacity_);
  first_ = static_cast<std::uint64_t>(first);
  end_ = static_cast<std::uint64_t>(end);
  slots_.clear();
  for (std::uint64_t number = first_; number < end_; ++number) slots_.push_back(slot_of(number));
  tree_.set(slots_, priorities);
  max_priority_ = max_priority;
  draws_ = static_cast<std::uint64_t>(draws);
  draws_left_ = static_cast<std::size_t>(draws_left);
  kept_.clear();
  for (std::size_t i = 0; i < kept_numbers.size(); ++i) {
    kept_.push_back({static_cast<std::uint64_t>(kept_numbers[i]), kept_weights[i]});
  }
  return Done{};
}

}  // namespace tilewright
