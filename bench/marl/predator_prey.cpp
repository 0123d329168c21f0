#include "marl/predator_prey.hpp"

#include <algorithm>

#include "tilewright/base/rng.hpp"

namespace tilewright::bench {
namespace {

std::vector<float> uniform(std::size_t count, double least, double most, Rng rng) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(least + (most - least) * rng.uniform());
  return values;
}

std::vector<float> observe(const ObservationTable& table, const std::vector<float>& states) {
  const auto entry = [](const float* state, std::int32_t at) { return at == ObservationEntry::kNone ? 0.0f : state[at]; };
  std::vector<float> observations;
  for (const float* state = states.data(); state < states.data() + states.size(); state += table.state_size)
    for (const ObservationEntry& e : table.entries) observations.push_back(entry(state, e.plus) - entry(state, e.minus));
  return observations;
}

// Every agent's five numbers sum to one, as probabilities do.
std::vector<float> random_actions(const EnvironmentSpec& spec, std::size_t count, Rng rng) {
  std::vector<float> actions = uniform(count * spec.action_size(), 0.01, 1, rng);
  for (auto agent = actions.begin(); agent != actions.end(); agent += 5) {
    const float sum = agent[0] + agent[1] + agent[2] + agent[3] + agent[4];
    std::for_each(agent, agent + 5, [sum](float& value) { value /= sum; });
  }
  return actions;
}

}  // namespace

EnvironmentSpec predator_prey(std::size_t predators) {
  const std::size_t prey = std::max<std::size_t>(1, predators / 3);
  const std::size_t obstacles = predators == 3 ? 2 : predators == 6 ? 3 : std::max<std::size_t>(1, predators / 3);
  const std::size_t bodies = predators + prey;
  EnvironmentSpec spec;
  spec.name = "predator-prey";
  ObservationTable table;
  table.state_size = 4 * bodies + 2 * obstacles;
  const auto add_pair = [&](std::size_t plus, std::int32_t minus) {
    for (int axis = 0; axis < 2; ++axis) {
      table.entries.push_back({static_cast<std::int32_t>(plus) + axis,
                               minus == ObservationEntry::kNone ? ObservationEntry::kNone : minus + axis});
    }
  };
  const auto position = [](std::size_t body) { return 2 * body; };
  const auto velocity = [&](std::size_t body) { return 2 * (bodies + body); };
  for (std::size_t self = 0; self < predators; ++self) {
    const std::size_t before = table.entries.size();
    const auto here = static_cast<std::int32_t>(position(self));
    add_pair(velocity(self), ObservationEntry::kNone);
    add_pair(position(self), ObservationEntry::kNone);
    for (std::size_t k = 0; k < obstacles; ++k) add_pair(4 * bodies + 2 * k, here);
    for (std::size_t other = 0; other < bodies; ++other)
      if (other != self) add_pair(position(other), here);
    for (std::size_t other = predators; other < bodies; ++other) add_pair(velocity(other), ObservationEntry::kNone);
    spec.agents.push_back({.name = "predator_" + std::to_string(self),
                           .team = "predators",
                           .observation_size = table.entries.size() - before,
                           .actions = {.categorical = {5}, .continuous = 0}});
  }
  spec.table = std::move(table);
  return spec;
}

RandomExperience::RandomExperience(const EnvironmentSpec& spec, std::size_t count, std::uint64_t seed)
    : count_(count),
      states_(uniform(count * spec.state_size(), -1, 1, Rng(seed, "states"))),
      next_states_(uniform(count * spec.state_size(), -1, 1, Rng(seed, "next_states"))),
      observations_(observe(*spec.table, states_)),
      next_observations_(observe(*spec.table, next_states_)),
      actions_(random_actions(spec, count, Rng(seed, "actions"))),
      rewards_(uniform(count * spec.agent_count(), -1, 1, Rng(seed, "rewards"))),
      ended_(count * spec.agent_count()),
      live_(count, 1) {}

Experience RandomExperience::view() const {
  return {.world_count = count_,
          .observations = observations_,
          .states = states_,
          .masks = {},
          .actions = actions_,
          .rewards = rewards_,
          .next_observations = next_observations_,
          .next_states = next_states_,
          .terminated = ended_,
          .truncated = ended_,
          .live = live_};
}

}  // namespace tilewright::bench
