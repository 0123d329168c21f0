#include "tilewright/marl/replay_stores.hpp"

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

constexpr std::size_t kLineFloats = 64 / sizeof(float);
// The beginnings of rows that are fetched ahead: so many lines of a row, and so many in all. The processor fetches the rest
// of a row by itself once it sees it read in order.
constexpr std::size_t kHeadLines = 4;
constexpr std::size_t kAheadLines = 32;
// Rewards are turned from rows to agents in blocks of one cache line.
constexpr std::size_t kBlockRows = kLineFloats;

// Rows that begin on a cache line touch one line less, unless the gap costs more than that saves.
std::size_t aligned_row(std::size_t floats) {
  const std::size_t rounded = (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
  return (rounded - floats) * 8 <= floats ? rounded : floats;
}

void copy(float* to, const float* from, std::size_t count) { std::memcpy(to, from, count * sizeof(float)); }

// Always inlined, because GCC drops calls of a function that does nothing else.
[[gnu::always_inline]] inline void prefetch_head(const float* row, std::size_t count) {
  const std::size_t head = std::min(count, kHeadLines * kLineFloats);
  for (std::size_t at = 0; at < head; at += kLineFloats) __builtin_prefetch(row + at);
  if (head > 0) __builtin_prefetch(row + head - 1);  // rows that do not begin on a line touch one more
}

// Calls visit(i, row) for each index of the batch, with the rows that follow on their way.
template <typename Visit>
void for_each_row(const FloatColumn& column, const Ring& ring, const Batch& batch, const Visit& visit) {
  const std::size_t ahead = kAheadLines / std::clamp<std::size_t>(column.size() / kLineFloats, 1, kHeadLines);
  const auto row_of = [&](std::size_t i) { return column.row(ring.slot(batch.indices[i])); };
  for (std::size_t i = 0; i < std::min(ahead, batch.rows); ++i) prefetch_head(row_of(i), column.size());
  for (std::size_t i = 0; i < batch.rows; ++i) {
    if (i + ahead < batch.rows) prefetch_head(row_of(i + ahead), column.size());
    visit(i, row_of(i));
  }
}

}  // namespace

RowStore::RowStore(const TransitionShape& shape, std::size_t slots, Pages pages)
    : shape_(shape), rows_(shape.row_size(), aligned_row(shape.row_size()), slots, pages) {}

void RowStore::put(std::size_t slot, const TransitionParts<const float>& from) {
  const TransitionParts<float> to = shape_.parts(rows_.row(slot));
  copy(to.representation, from.representation, shape_.representation);
  copy(to.actions, from.actions, shape_.actions);
  copy(to.next, from.next, shape_.representation);
  copy(to.rewards, from.rewards, shape_.agents);
  if (shape_.terminates) copy(to.terminated, from.terminated, shape_.agents);
}

void RowStore::take(std::size_t slot, float* row) const { copy(row, rows_.row(slot), rows_.size()); }

void RowStore::gather(const Ring& ring, Batch& batch) const {
  TransitionParts<const float> block[kBlockRows];
  for_each_row(rows_, ring, batch, [&](std::size_t i, const float* row) {
    const TransitionParts<const float> from = block[i % kBlockRows] = shape_.parts(row);
    copy(batch.current.row(i), row, shape_.representation + shape_.actions);
    copy(batch.next.row(i), from.next, shape_.representation);
    const std::size_t count = i % kBlockRows + 1;
    if (count < kBlockRows && i + 1 < batch.rows) return;
    for (std::size_t agent = 0; agent < shape_.agents; ++agent) {
      float* rewards = batch.rewards.row(agent) + i + 1 - count;
      for (std::size_t k = 0; k < count; ++k) rewards[k] = block[k].rewards[agent];
      if (!shape_.terminates) continue;
      float* terminated = batch.terminated.row(agent) + i + 1 - count;
      for (std::size_t k = 0; k < count; ++k) terminated[k] = block[k].terminated[agent];
    }
  });
}

AgentStore::AgentStore(const EnvironmentSpec& spec, const TransitionShape& shape, std::size_t slots, Pages pages)
    : shape_(shape) {
  const auto column = [&](std::size_t size) { return FloatColumn(size, size, slots, pages); };
  for (const AgentSpec& agent : spec.agents) {
    agents_.push_back({column(agent.observation_size), column(agent.actions.action_size()), column(1),
                       column(agent.observation_size), shape.terminates ? column(1) : FloatColumn()});
  }
}

void AgentStore::put(std::size_t slot, TransitionParts<const float> from) {
  for (Buffer& agent : agents_) {
    copy(agent.observations.row(slot), from.representation, agent.observations.size());
    copy(agent.actions.row(slot), from.actions, agent.actions.size());
    copy(agent.next_observations.row(slot), from.next, agent.observations.size());
    *agent.rewards.row(slot) = *from.rewards++;
    if (shape_.terminates) *agent.terminated.row(slot) = *from.terminated++;
    from.representation += agent.observations.size();
    from.actions += agent.actions.size();
    from.next += agent.observations.size();
  }
}

void AgentStore::take(std::size_t slot, float* row) const {
  TransitionParts<float> to = shape_.parts(row);
  for (const Buffer& agent : agents_) {
    copy(to.representation, agent.observations.row(slot), agent.observations.size());
    copy(to.actions, agent.actions.row(slot), agent.actions.size());
    copy(to.next, agent.next_observations.row(slot), agent.observations.size());
    *to.rewards++ = *agent.rewards.row(slot);
    if (shape_.terminates) *to.terminated++ = *agent.terminated.row(slot);
    to.representation += agent.observations.size();
    to.actions += agent.actions.size();
    to.next += agent.observations.size();
  }
}

// Agent by agent and array by array, as the published implementations do it.
void AgentStore::gather(const Ring& ring, Batch& batch) const {
  const auto each = [&](const FloatColumn& column, float* to, std::size_t step) {
    for_each_row(column, ring, batch, [&](std::size_t i, const float* row) { copy(to + i * step, row, column.size()); });
  };
  std::size_t observation = 0, action = shape_.representation;
  for (std::size_t index = 0; index < agents_.size(); ++index) {
    const Buffer& agent = agents_[index];
    each(agent.observations, batch.current.row(0) + observation, batch.current.view().stride);
    each(agent.actions, batch.current.row(0) + action, batch.current.view().stride);
    each(agent.next_observations, batch.next.row(0) + observation, batch.next.view().stride);
    each(agent.rewards, batch.rewards.row(index), 1);
    if (shape_.terminates) each(agent.terminated, batch.terminated.row(index), 1);
    observation += agent.observations.size();
    action += agent.actions.size();
  }
}

}  // namespace tilewright
