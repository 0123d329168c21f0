// Multi-agent soft actor-critic as in tf2multiagentrl: MADDPG with two critics and a reward for the entropy H of the agent's
// own policy, of fixed weight α. It acts with the slow copy of the policy.
//
//   x  all observations and actions of a sample      π, Q1, Q2     the agent's actor and critics
//   o  the agent's own observation                   π', Q1', Q2'  their slow copies
#include <numeric>

#include "tilewright/marl/off_policy_learner.hpp"

namespace tilewright {
namespace {

// H of π at o', the agent's own next observations; or everywhere the mean of these.
std::span<const float> next_entropies(AgentUpdate& update) {
  UpdateRoom& room = update.room;
  const ActionSpace& space = update.actions();
  for_each_tile(update.batch.rows, [&](Tile tile) {
    const ConstView rows = update.batch.next.view().row_range(tile.first, tile.count);
    const View outputs = room.outputs.row_range(0, tile.count).column_range(0, space.output_size());
    const View noise = room.noise.row_range(0, tile.count).column_range(0, space.action_size());
    forward(update.networks.actor.online, update.representation.observations(update.agent, rows, room.observations), outputs,
            room.actors[update.actor_form]);
    if (space.continuous > 0)
      sample_noise(space, noise, update.streams.next_actions[update.agent], update.first_noise_row + tile.first);
    guarded_entropies(space, outputs, noise, room.entropy, std::span(room.entropies).subspan(tile.first, tile.count));
  });
  if (update.options.entropy_batch_mean) {
    const double sum = std::accumulate(room.entropies.begin(), room.entropies.end(), 0.0);
    std::ranges::fill(room.entropies, static_cast<float>(sum / static_cast<double>(update.batch.rows)));
  }
  return room.entropies;
}

void update_masac_agent(AgentUpdate& update) {
  const auto alpha = static_cast<float>(update.options.entropy);
  TrainedNetwork& critic1 = update.networks.critics[0];
  TrainedNetwork& critic2 = update.networks.critics[1];

  // y = r + γ·(1 - terminated)·(min(Q1', Q2')(x') + α·H(π(o'))), where x' has everyone's target actions
  const std::span<float> y = update.room.targets;
  const std::span<float> other = update.room.values;
  critic_values(critic1.target, update.batch.next.view(), update.room, y);
  critic_values(critic2.target, update.batch.next.view(), update.room, other);
  const std::span<const float> entropy = next_entropies(update);
  for (std::size_t b = 0; b < y.size(); ++b) y[b] = std::min(y[b], other[b]) + alpha * entropy[b];
  discount(update, y);
  update.clock.lap(Phase::TargetQ);

  // Q1, Q2: one step each down mean (Q(x) - y)²
  for (TrainedNetwork& critic : update.networks.critics) update.critic_loss += regress(update, critic, y) / 2;
  update.clock.lap(Phase::QLoss);

  // π: one step down -mean (Q1(x with the own action g(π(o))) + α·H(π(o))), with the Q1 just updated
  const float share = alpha / static_cast<float>(update.batch.rows);
  begin_actor_step(update);
  for_each_tile(update.batch.rows, [&](Tile tile) {
    const PolicyTile policy = propose(update, tile);
    update.actor_loss += descend_value(update, critic1.online, policy);
    update.actor_loss -= share * add_entropy_gradient(update.actions(), policy.outputs, policy.noise, -share,
                                                      update.room.entropy, policy.doutputs);
    accumulate(update, policy);
  });
  end_actor_step(update);
  update.clock.lap(Phase::PLoss);

  move_targets(update);
  update.clock.lap(Phase::TargetUpdate);
}

}  // namespace

Result<std::unique_ptr<Learner>> make_masac(const EnvironmentSpec& spec, const OffPolicyOptions& options, std::uint64_t seed,
                                            ThreadPool& threads, Profile& profile) {
  return make_off_policy({.name = "masac",
                          .critics = 2,
                          .acts_with_target = true,
                          .target_start = TargetStart::Copy,
                          .adam_epsilon = 1e-7,
                          .update_agent = update_masac_agent},
                         spec, options, seed, threads, profile);
}

}  // namespace tilewright
