// A game of several agents, many copies of it ("worlds") side by side, with the semantics of PettingZoo's parallel
// interface: every agent acts in every step and gets its own observation, reward, termination and truncation.
//
// All numbers of a step lie in flat arrays, world after world, agent after agent, so that a learner reads them without a
// copy. A world whose agents have all ended stands still until the next reset; learners skip it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/nn/heads.hpp"

namespace tilewright {

struct AgentSpec {
  std::string name;  // "agent_0", "adversary_2", …
  std::string team;  // agents of one team are reported together
  std::size_t observation_size = 0;
  ActionSpace actions;
};

// One observation entry as a difference of two entries of the world state: state[plus] - state[minus]; kNone leaves that
// side out, and both make an entry that is always zero.
struct ObservationEntry {
  static constexpr std::int32_t kNone = -1;
  std::int32_t plus = kNone;
  std::int32_t minus = kNone;
};

// The observations of all agents, one after another, as functions of a small world state.
struct ObservationTable {
  std::size_t state_size = 0;
  std::vector<ObservationEntry> entries;
};

struct EnvironmentSpec {
  std::string name;
  std::vector<AgentSpec> agents;
  std::size_t episode_length = 25;  // steps until truncation
  bool terminates = false;          // whether an agent can ever terminate (time limits are truncations)
  bool masks = false;               // whether arrays().masks is filled
  std::optional<ObservationTable> table;

  std::size_t agent_count() const { return agents.size(); }
  std::size_t observation_size() const;                     // of all agents together
  std::size_t action_size() const;                          // of all agents together
  std::size_t observation_offset(std::size_t agent) const;  // where an agent begins in a world's observations
  std::size_t action_offset(std::size_t agent) const;       // … in a world's actions
  std::size_t state_size() const { return table ? table->state_size : 0; }
};

struct WorldArrays {
  std::vector<float> observations;       // worlds × observation_size()
  std::vector<float> states;             // worlds × state_size()
  std::vector<float> rewards;            // worlds × agents, of the last step
  std::vector<float> masks;              // worlds × action_size(), 1 = allowed; empty without masks
  std::vector<std::uint8_t> terminated;  // worlds × agents
  std::vector<std::uint8_t> truncated;   // worlds × agents
};

class Environment {
 public:
  virtual ~Environment() = default;
  virtual const EnvironmentSpec& spec() const = 0;
  virtual std::size_t world_count() const = 0;

  // World w begins episode first_episode + w. What it draws depends on the environment's seed and the episode's number only.
  virtual void reset(std::uint64_t first_episode) = 0;

  // One step of every world that has not ended; `actions` is worlds × action_size().
  virtual void step(std::span<const float> actions) = 0;

  // What reset or step left; valid until the next of them.
  virtual const WorldArrays& arrays() const = 0;
};

// True when all agents of the world have terminated or been truncated.
bool has_ended(const WorldArrays& arrays, std::size_t world, std::size_t agent_count);

}  // namespace tilewright
