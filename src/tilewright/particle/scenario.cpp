#include "tilewright/particle/scenario.hpp"

#include <algorithm>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr ScenarioEntry kScenarios[] = {
    {"simple", "one agent drives to one landmark", {1, 0, 0}, false, make_simple},
    {"simple_spread",
     "cooperative navigation: N agents cover N landmarks and avoid one another",
     {3, 0, 0},
     true,
     make_spread},
    {"simple_tag", "predator and prey: N slower predators chase faster prey among obstacles", {3, 1, 2}, true, make_tag},
    {"simple_adversary", "N agents reach a goal that one adversary must not guess", {2, 0, 0}, true, make_adversary},
    {"simple_speaker_listener", "one names the goal, the other drives to it", {2, 0, 0}, false, make_speaker_listener},
    {"simple_reference", "two agents tell each other where to go", {2, 0, 0}, false, make_reference},
    {"simple_push", "one agent heads for its goal, one adversary pushes it away", {2, 0, 0}, false, make_push},
    {"simple_crypto", "Alice sends Bob a message that Eve must not understand", {3, 0, 0}, false, make_crypto},
    {"simple_world_comm",
     "predators with a talking leader, prey, food, and forests to hide in",
     {6, 0, 0},
     false,
     make_world_comm},
};

double pairwise_sum(const double* values, std::size_t count) {
  if (count < 8) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += values[i];
    return sum;
  }
  if (count > 128) {
    const std::size_t half = count / 2 - count / 2 % 8;
    return pairwise_sum(values, half) + pairwise_sum(values + half, count - half);
  }
  double part[8];
  std::copy_n(values, 8, part);
  std::size_t i = 8;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) part[k] += values[i + k];
  }
  double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  for (; i < count; ++i) sum += values[i];
  return sum;
}

}  // namespace

ViewOf& ViewOf::others() {
  relative(shape_.position(0), 2 * agent_);
  return relative(shape_.position(agent_ + 1), 2 * (shape_.agents.size() - agent_ - 1));
}

ViewOf& ViewOf::relative(std::size_t first, std::size_t count) {
  if (count > 0) {
    blocks_.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(shape_.position(agent_)),
                       static_cast<std::int32_t>(count)});
  }
  return *this;
}

ViewOf& ViewOf::numbers(std::size_t first, std::size_t count) {
  if (count > 0) blocks_.push_back({static_cast<std::int32_t>(first), ViewBlock::kNone, static_cast<std::int32_t>(count)});
  return *this;
}

ViewOf& ViewOf::zeros(std::size_t count) {
  if (count > 0) blocks_.push_back({ViewBlock::kNone, ViewBlock::kNone, static_cast<std::int32_t>(count)});
  return *this;
}

std::size_t view_size(const AgentView& view) {
  std::size_t size = 0;
  for (const ViewBlock& block : view) size += static_cast<std::size_t>(block.count);
  return size;
}

std::span<const ScenarioEntry> scenario_entries() { return kScenarios; }

Result<const ScenarioEntry*> find_scenario(std::string_view name) {
  std::vector<std::string> names;
  for (const ScenarioEntry& entry : kScenarios) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
  }
  return Error{ErrorCode::NotFound, "there is no scenario '" + printable(name) + "', expected one of: " + join(names, ", ") +
                                        did_you_mean(name, names)};
}

ObservationTable table_of(const Scenario& scenario, std::size_t agents) {
  TW_ASSERT(scenario.shape().derived_size == 0);
  ObservationTable table{.state_size = scenario.shape().state_size(), .entries = {}};
  for (std::size_t agent = 0; agent < agents; ++agent) {
    for (const ViewBlock& block : scenario.view(agent)) {
      for (std::int32_t k = 0; k < block.count; ++k) {
        table.entries.push_back({.plus = block.plus == ViewBlock::kNone ? ObservationEntry::kNone : block.plus + k,
                                 .minus = block.minus == ViewBlock::kNone ? ObservationEntry::kNone : block.minus + k % 2});
      }
    }
  }
  return table;
}

double numpy_sum(std::span<const double> values) { return pairwise_sum(values.data(), values.size()); }

void share_rewards(std::span<double> rewards) { std::fill(rewards.begin(), rewards.end(), numpy_sum(rewards)); }

}  // namespace tilewright
