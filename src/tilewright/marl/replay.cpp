#include "tilewright/marl/replay.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <variant>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/marl/replay_stores.hpp"

namespace tilewright {
namespace {

using Store = std::variant<RowStore, AgentStore>;

Store make_store(const EnvironmentSpec& spec, ReplayLayout layout, const TransitionShape& shape, std::size_t capacity,
                 Pages pages) {
  if (layout == ReplayLayout::PerAgent) return AgentStore(spec, shape, capacity, pages);
  return RowStore(shape, capacity, pages);
}

const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = {"per-agent", "joint", "state"};
  return names;
}

}  // namespace

Result<ReplayLayout> parse_layout(std::string_view text) {
  const auto& names = layout_names();
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<ReplayLayout>(found - names.begin());
  return invalid(fmt::format("replay layout is '{}', expected per-agent, joint or state{}", printable(text),
                             did_you_mean(text, names)));
}

std::string_view to_string(ReplayLayout layout) { return layout_names()[static_cast<std::size_t>(layout)]; }

struct Replay::Storage {
  ReplayLayout layout;
  Representation representation;
  TransitionShape shape;
  std::size_t capacity;
  Store store;
  std::size_t size = 0;
  std::uint64_t added = 0;
  std::vector<float> terminated;  // of the world that is being added

  Storage(const EnvironmentSpec& spec, ReplayLayout chosen, std::size_t most, Pages pages)
      : layout(chosen),
        representation(spec, chosen),
        shape{representation.size(), spec.action_size(), spec.agent_count(), spec.terminates},
        capacity(most),
        store(make_store(spec, chosen, shape, most, pages)),
        terminated(shape.agents) {}

  std::size_t slot_of(std::uint64_t number) const { return static_cast<std::size_t>(number % capacity); }

  // Overwrites the oldest when full.
  void push(const TransitionParts<const float>& parts) {
    std::visit([&](auto& chosen) { chosen.put(slot_of(added), parts); }, store);
    ++added;
    size = std::min(size + 1, capacity);
  }
};

Replay::Replay(const EnvironmentSpec& spec, ReplayLayout layout, std::size_t capacity, Pages pages)
    : storage_(std::make_unique<Storage>(spec, layout, capacity, pages)) {
  TW_ASSERT(capacity >= 1 && capacity <= std::numeric_limits<std::uint32_t>::max());
}
Replay::~Replay() = default;
Replay::Replay(Replay&&) noexcept = default;

void Replay::add(const Experience& experience) {
  Storage& s = *storage_;
  const bool states = s.layout == ReplayLayout::State;
  const float* before = states ? experience.states.data() : experience.observations.data();
  const float* after = states ? experience.next_states.data() : experience.next_observations.data();
  for (std::size_t world = 0; world < experience.world_count; ++world) {
    if (experience.live[world] == 0) continue;
    const std::size_t first_agent = world * s.shape.agents;
    for (std::size_t agent = 0; s.shape.terminates && agent < s.shape.agents; ++agent) {
      s.terminated[agent] = experience.terminated[first_agent + agent] != 0 ? 1.0f : 0.0f;
    }
    s.push({before + world * s.shape.representation, experience.actions.data() + world * s.shape.actions,
            after + world * s.shape.representation, experience.rewards.data() + first_agent, s.terminated.data()});
  }
}

ReplayLayout Replay::layout() const { return storage_->layout; }
const Representation& Replay::representation() const { return storage_->representation; }
std::size_t Replay::size() const { return storage_->size; }
std::size_t Replay::capacity() const { return storage_->capacity; }
std::uint64_t Replay::added() const { return storage_->added; }
std::size_t Replay::row_bytes() const { return storage_->shape.row_size() * sizeof(float); }
std::size_t Replay::bytes_per_transition() const {
  return std::visit([](const auto& store) { return store.bytes_per_slot(); }, storage_->store);
}

Batch Replay::make_batch(std::size_t rows) const {
  const TransitionShape& shape = storage_->shape;
  Batch batch;
  batch.rows = rows;
  batch.current = Matrix(rows, shape.representation + shape.actions);
  batch.next = Matrix(rows, shape.representation + shape.actions);
  batch.rewards = Matrix(shape.agents, rows);
  if (shape.terminates) batch.terminated = Matrix(shape.agents, rows);
  batch.indices.resize(rows);
  return batch;
}

std::size_t Replay::gather(Batch& batch) const {
  const Storage& s = *storage_;
  TW_ASSERT(batch.indices.size() == batch.rows && batch.current.rows() >= batch.rows);
  TW_ASSERT(std::ranges::all_of(batch.indices, [&](std::uint32_t age) { return age < s.size; }));
  const Ring ring{s.slot_of(s.added - s.size), s.capacity};
  std::visit([&](const auto& store) { store.gather(ring, batch); }, s.store);
  return batch.rows * row_bytes();
}

std::string Replay::transitions(std::uint64_t first, std::uint64_t last) const {
  const Storage& s = *storage_;
  TW_ASSERT(first <= last && last <= s.added && (first == last || first >= s.added - s.size));
  std::string bytes(static_cast<std::size_t>(last - first) * row_bytes(), '\0');
  std::vector<float> row(s.shape.row_size());
  char* to = bytes.data();
  for (std::uint64_t number = first; number < last; ++number, to += row_bytes()) {
    std::visit([&](const auto& store) { store.take(s.slot_of(number), row.data()); }, s.store);
    std::memcpy(to, row.data(), row_bytes());
  }
  return bytes;
}

Result<Done> Replay::restore(std::uint64_t first, std::string_view transitions) {
  Storage& s = *storage_;
  if (transitions.size() % row_bytes() != 0) {
    return invalid(fmt::format("replay piece has {} bytes, expected a multiple of {}, the size of a {} transition",
                               transitions.size(), row_bytes(), to_string(s.layout)));
  }
  if (s.size > 0 && first != s.added) {
    return invalid(fmt::format("replay piece begins with transition {}, expected {}, which follows the piece before it",
                               first, s.added));
  }
  s.added = first;
  std::vector<float> row(s.shape.row_size());
  for (; !transitions.empty(); transitions.remove_prefix(row_bytes())) {
    std::memcpy(row.data(), transitions.data(), row_bytes());
    s.push(s.shape.parts(static_cast<const float*>(row.data())));
  }
  return Done{};
}

}  // namespace tilewright
