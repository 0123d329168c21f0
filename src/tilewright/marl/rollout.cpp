#include "tilewright/marl/rollout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/marl/advantages.hpp"

namespace tilewright {
namespace {

void append(std::vector<float>& to, std::span<const float> from, std::size_t world, std::size_t size) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(world * size);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
}

ConstView rows_of(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  return {values.data(), rows, columns, columns};
}

bool is_row(std::int32_t row, std::size_t rows) {
  return row == kNoRow || (row >= 0 && static_cast<std::size_t>(row) < rows);
}

std::size_t entries_of(const TensorFile& file, const std::string& name) {
  const auto tensor = file.tensors.find(name);
  if (tensor == file.tensors.end()) return 0;  // reading it will be the Error
  std::size_t entries = 1;
  for (const std::size_t size : tensor->second.shape) entries *= size;
  return entries;
}

template <typename T>
std::vector<std::int64_t> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

template <typename T>
Result<Done> get_narrow(const TensorFile& file, const std::string& name, std::size_t size, std::vector<T>& values) {
  std::vector<std::int64_t> wide(size);
  TW_TRY(const Done read, file.get(name, std::span<std::int64_t>(wide)));
  values.resize(size);
  std::ranges::transform(wide, values.begin(), [](std::int64_t value) { return static_cast<T>(value); });
  return Done{};
}

Result<Done> get_sized(const TensorFile& file, const std::string& name, std::size_t size, std::vector<float>& values) {
  values.resize(size);
  return file.get(name, std::span<float>(values));
}

}  // namespace

Rollout::Rollout(const EnvironmentSpec& spec)
    : agents_(spec.agent_count()),
      observation_size_(spec.observation_size()),
      action_size_(spec.action_size()),
      mask_size_(spec.masks ? spec.action_size() : 0) {}

ConstView Rollout::observations() const { return rows_of(observations_, size(), observation_size_); }
ConstView Rollout::actions() const { return rows_of(actions_, size(), action_size_); }
ConstView Rollout::masks() const { return rows_of(masks_, size(), mask_size_); }
ConstView Rollout::successors() const {
  return rows_of(successors_, observation_size_ == 0 ? 0 : successors_.size() / observation_size_, observation_size_);
}

void Rollout::add(const Experience& experience) {
  if (latest_.size() != experience.world_count) {
    clear();  // what other worlds began cannot go on
    latest_.assign(experience.world_count, kNoRow);
    ended_.assign(experience.world_count * agents_, 0);
  }
  for (std::size_t world = 0; world < experience.world_count; ++world) {
    if (experience.live[world] == 0) continue;
    const auto row = static_cast<std::int32_t>(size());
    append(observations_, experience.observations, world, observation_size_);
    append(actions_, experience.actions, world, action_size_);
    append(masks_, experience.masks, world, mask_size_);
    append(rewards_, experience.rewards, world, agents_);
    next_.push_back(kNoRow);
    successor_.push_back(kNoRow);
    if (latest_[world] != kNoRow) next_[static_cast<std::size_t>(latest_[world])] = row;

    bool all_ended = true, any_cut = false;
    for (std::size_t entry = world * agents_; entry < (world + 1) * agents_; ++entry) {
      const bool terminated = experience.terminated[entry] != 0, truncated = experience.truncated[entry] != 0;
      flags_.push_back(static_cast<std::uint8_t>((terminated ? kTerminated : 0) | (truncated ? kTruncated : 0) |
                                                 (ended_[entry] != 0 ? kWaits : 0)));
      any_cut |= !terminated && ended_[entry] == 0;
      ended_[entry] |= static_cast<std::uint8_t>(terminated || truncated);
      all_ended &= ended_[entry] != 0;
    }
    latest_[world] = all_ended ? kNoRow : row;
    if (!all_ended) continue;
    if (any_cut) keep_successor(row, experience, world);
    std::fill_n(ended_.begin() + static_cast<std::ptrdiff_t>(world * agents_), agents_, std::uint8_t{0});
  }
}

void Rollout::close(const Experience& last) {
  for (std::size_t world = 0; world < latest_.size(); ++world) {
    if (latest_[world] == kNoRow) continue;
    TW_ASSERT(last.live[world] != 0);
    keep_successor(latest_[world], last, world);
    latest_[world] = kNoRow;
  }
}

void Rollout::keep_successor(std::int32_t row, const Experience& experience, std::size_t world) {
  successor_[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(successors().rows);
  append(successors_, experience.next_observations, world, observation_size_);
}

void Rollout::read(std::size_t agent, AgentSteps& steps) const {
  steps.rewards.resize(size());
  steps.terminated.resize(size());
  steps.ended.resize(size());
  steps.samples.clear();
  for (std::size_t row = 0; row < size(); ++row) {
    const std::uint8_t flags = flags_[row * agents_ + agent];
    steps.rewards[row] = rewards_[row * agents_ + agent];
    steps.terminated[row] = (flags & kTerminated) != 0;
    steps.ended[row] = (flags & (kTerminated | kTruncated)) != 0;
    if ((flags & kWaits) == 0) steps.samples.push_back(static_cast<std::uint32_t>(row));
  }
}

void Rollout::shift_values(std::span<const float> values, std::span<const float> kept,
                           std::vector<float>& successor_values) const {
  successor_values.resize(size());
  for (std::size_t row = 0; row < size(); ++row) {
    const std::int32_t next = next_[row], successor = successor_[row];
    successor_values[row] = next != kNoRow        ? values[static_cast<std::size_t>(next)]
                            : successor != kNoRow ? kept[static_cast<std::size_t>(successor)]
                                                  : 0;
  }
}

void Rollout::clear() {
  for (auto* values : {&observations_, &actions_, &masks_, &rewards_, &successors_}) values->clear();
  for (auto* values : {&next_, &successor_}) values->clear();
  flags_.clear();
  std::ranges::fill(latest_, kNoRow);
}

void Rollout::save(const std::string& name, TensorFile& file) const {
  file.put(name + ".observations", observations_);
  file.put(name + ".actions", actions_);
  file.put(name + ".masks", masks_);
  file.put(name + ".rewards", rewards_);
  file.put(name + ".successors", successors_);
  file.put(name + ".flags", widened(flags_));
  file.put(name + ".next", widened(next_));
  file.put(name + ".successor", widened(successor_));
  file.put(name + ".latest", widened(latest_));
  file.put(name + ".ended", widened(ended_));
}

Result<Done> Rollout::load(const std::string& name, const TensorFile& file) {
  // Sizes follow from the tensors that are there, so that a damaged file cannot ask for more memory than it has.
  const std::size_t rows = entries_of(file, name + ".next"), worlds = entries_of(file, name + ".latest");
  const std::size_t kept = entries_of(file, name + ".successors") / std::max<std::size_t>(1, observation_size_);
  TW_TRY(const Done a, get_sized(file, name + ".observations", rows * observation_size_, observations_));
  TW_TRY(const Done b, get_sized(file, name + ".actions", rows * action_size_, actions_));
  TW_TRY(const Done c, get_sized(file, name + ".masks", rows * mask_size_, masks_));
  TW_TRY(const Done d, get_sized(file, name + ".rewards", rows * agents_, rewards_));
  TW_TRY(const Done e, get_sized(file, name + ".successors", kept * observation_size_, successors_));
  TW_TRY(const Done f, get_narrow(file, name + ".flags", rows * agents_, flags_));
  TW_TRY(const Done g, get_narrow(file, name + ".next", rows, next_));
  TW_TRY(const Done h, get_narrow(file, name + ".successor", rows, successor_));
  TW_TRY(const Done i, get_narrow(file, name + ".latest", worlds, latest_));
  TW_TRY(const Done j, get_narrow(file, name + ".ended", worlds * agents_, ended_));
  for (std::size_t row = 0; row < rows; ++row) {
    const bool forward = next_[row] == kNoRow || (next_[row] > static_cast<std::int32_t>(row) && is_row(next_[row], rows));
    if (!forward || !is_row(successor_[row], kept))
      return invalid(fmt::format("{}: the links of row {} lead nowhere, expected later rows", name, row));
  }
  if (!std::ranges::all_of(latest_, [&](std::int32_t row) { return is_row(row, rows); }))
    return invalid(fmt::format("{}.latest: leads nowhere, expected rows below {}", name, rows));
  return Done{};
}

}  // namespace tilewright
