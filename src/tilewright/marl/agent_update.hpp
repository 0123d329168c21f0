// The steps that updates of off-policy agents are made of. maddpg.cpp and masac.cpp put them together.
//
// Everything runs over tiles of kTileRows samples, in rooms that a thread makes once; nothing here allocates.
//
// x = (representation | actions of all agents), B samples; see Batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/marl/agent_networks.hpp"
#include "tilewright/marl/guarded_entropy.hpp"
#include "tilewright/marl/off_policy.hpp"
#include "tilewright/marl/off_policy_streams.hpp"

namespace tilewright {

// Agents whose actors have the same form share workspaces, so that these stay in the caches.
struct NetworkForms {
  NetworkForms(const EnvironmentSpec& spec, const Representation& representation, const std::vector<std::size_t>& hidden);

  NetworkForm critic;
  std::vector<NetworkForm> actors;                             // different ones
  std::vector<std::size_t> actor_of;                           // agent -> index into actors
  std::vector<std::size_t> observation_column, action_column;  // where an agent begins among all
};

// What one thread needs to update any agent.
struct UpdateRoom {
  UpdateRoom(const EnvironmentSpec& spec, const NetworkForms& forms, std::size_t batch);

  MlpWorkspace critic;
  Mlp critic_gradient;
  std::vector<MlpWorkspace> actors;  // by form
  std::vector<Mlp> actor_gradients;

  Matrix observations, outputs, doutputs, noise, dactions;  // of one tile, wide enough for every agent
  Matrix dvalues;
  Matrix own_actions;  // of all samples
  EntropyRoom entropy;
  std::vector<float> targets, values, entropies;
};

// One agent's turn.
struct AgentUpdate {
  std::size_t agent = 0;
  const EnvironmentSpec& spec;
  const OffPolicyOptions& options;
  const AdamOptions& adam;
  const Representation& representation;
  const Batch& batch;
  View x;                      // batch.current, or a copy: the agent's own actions are replaced in it for a while
  std::size_t own_column = 0;  // of these actions
  AgentNetworks& networks;
  std::size_t actor_form = 0;
  UpdateRoom& room;
  PhaseClock& clock;
  const OffPolicyStreams& streams;
  std::uint64_t first_noise_row = 0;  // of sample 0
  std::span<float> squared_errors;    // B, for the sampler; empty when nobody asks
  double critic_loss = 0, actor_loss = 0;

  const ActionSpace& actions() const { return spec.agents[agent].actions; }
};

struct Tile {
  std::size_t first = 0, count = 0;
};
template <typename Work>
void for_each_tile(std::size_t rows, const Work& work) {
  for (std::size_t first = 0; first < rows; first += kTileRows) work(Tile{first, std::min(kTileRows, rows - first)});
}

// actions <- g(ℓ) with the first rows of room.outputs as ℓ; the noise stays in the room. Without `noise` there is none: the
// probabilities themselves.
void draw_actions(const ActionSpace& space, const Rng* noise, std::uint64_t first_noise_row, UpdateRoom& room, View actions);

// The same with ℓ = actor(observations), for at most a tile.
void sample_actions(const ActionSpace& space, const Mlp& actor, std::size_t actor_form, ConstView observations,
                    const Rng* noise, std::uint64_t first_noise_row, UpdateRoom& room, View actions);

// values[b] <- critic(rows[b])
void critic_values(const Mlp& critic, ConstView rows, UpdateRoom& room, std::span<float> values);

// values[b] <- r[b] + γ·(1 - terminated[b])·values[b]
void discount(const AgentUpdate& update, std::span<float> values);

// One step of `critic` down the loss mean w·(Q(x) - y)², which it returns. Squared errors go to update.squared_errors; those
// of several critics by their maximum.
double regress(AgentUpdate& update, TrainedNetwork& critic, std::span<const float> y);

// The actor step: begin; for every tile propose, then descend_value, then whatever the algorithm adds to its outputs'
// gradient, then accumulate; end.
struct PolicyTile {
  Tile tile;  // of the mini-batch
  ConstView observations;
  ConstView outputs;  // ℓ = π(o)
  ConstView noise;
  View actions;   // g(ℓ), in place of the agent's own columns of x
  View doutputs;  // gradient of the loss
};
void begin_actor_step(AgentUpdate& update);
PolicyTile propose(AgentUpdate& update, Tile tile);
// doutputs <- gradient of -mean Q(x), with the agent's own action as proposed. Returns the tile's share of that loss.
double descend_value(AgentUpdate& update, const Mlp& critic, const PolicyTile& policy);
void accumulate(AgentUpdate& update, const PolicyTile& policy);
void end_actor_step(AgentUpdate& update);

// All targets of the agent.
void move_targets(AgentUpdate& update);

}  // namespace tilewright
