#include <algorithm>

#include "tilewright/marl/replay.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kBlock = 8;

// out[k] = from[k] - (x, y, x, y, …)[k]
void subtract_pair(float* __restrict out, const float* __restrict from, std::size_t count, float x, float y) {
  const float pair[kBlock] = {x, y, x, y, x, y, x, y};
  std::size_t k = 0;
  for (; k + kBlock <= count; k += kBlock) {
    for (std::size_t j = 0; j < kBlock; ++j) out[k + j] = from[k + j] - pair[j];
  }
  for (; k < count; ++k) out[k] = from[k] - pair[k % 2];
}

void negate_pair(float* __restrict out, std::size_t count, float x, float y) {
  for (std::size_t k = 0; k < count; ++k) out[k] = 0.0f - (k % 2 == 0 ? x : y);
}

}  // namespace

Representation::Representation(const EnvironmentSpec& spec, ReplayLayout layout) {
  for (std::size_t agent = 0; agent <= spec.agent_count(); ++agent) offsets_.push_back(spec.observation_offset(agent));
  size_ = spec.observation_size();
  if (layout != ReplayLayout::State) return;
  TW_ASSERT(spec.table && spec.table->entries.size() == spec.observation_size());
  table_ = *spec.table;
  size_ = table_.state_size;
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    // Entries that are always zero make up the padding.
    std::vector<ObservationEntry> entries(padded(spec.agents[agent].observation_size));
    std::copy_n(table_.entries.begin() + static_cast<std::ptrdiff_t>(offsets_[agent]), spec.agents[agent].observation_size,
                entries.begin());
    runs_.emplace_back();
    for (std::size_t first = 0; first < entries.size();) {
      Run run{entries[first].plus, {entries[first].minus, ObservationEntry::kNone}, 0};
      if (first + 1 < entries.size()) run.minus[1] = entries[first + 1].minus;
      const auto continues = [&](const ObservationEntry& entry) {
        const std::int32_t plus =
            run.plus == ObservationEntry::kNone ? ObservationEntry::kNone : run.plus + static_cast<std::int32_t>(run.count);
        return entry.plus == plus && entry.minus == run.minus[run.count % 2];
      };
      while (first + run.count < entries.size() && continues(entries[first + run.count])) ++run.count;
      first += run.count;
      runs_.back().push_back(run);
    }
  }
}

ConstView Representation::observations(std::size_t agent, ConstView rows, Matrix& scratch) const {
  const std::size_t begin = offsets_[agent], count = offsets_[agent + 1] - begin;
  if (table() == nullptr) return rows.column_range(begin, count);
  const View result = scratch.view();
  TW_ASSERT(rows.columns >= size_ && result.rows >= rows.rows && result.stride >= padded(count));
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const float* state = rows.row(row);
    float* out = result.row(row);
    const auto entry = [state](std::int32_t index) { return index == ObservationEntry::kNone ? 0.0f : state[index]; };
    for (const Run& run : runs_[agent]) {
      if (run.plus == ObservationEntry::kNone) {
        negate_pair(out, run.count, entry(run.minus[0]), entry(run.minus[1]));
      } else {
        subtract_pair(out, state + run.plus, run.count, entry(run.minus[0]), entry(run.minus[1]));
      }
      out += run.count;
    }
  }
  return {result.data, rows.rows, count, result.stride};
}

}  // namespace tilewright
