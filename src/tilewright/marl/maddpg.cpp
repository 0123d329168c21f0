// Multi-agent deep deterministic policy gradient (Lowe et al. 2017), as in openai/maddpg: soft Gumbel-softmax samples
// g(ℓ) = softmax(ℓ + Gumbel noise) are the actions everywhere.
//
//   x  all observations and actions of a sample      π, Q    the agent's actor and critic
//   o  the agent's own observation                   π', Q'  their slow copies
#include "tilewright/marl/off_policy_learner.hpp"

namespace tilewright {
namespace {

// gradient += that of weight·mean ℓ² over samples and outputs; returns the tile's share of it.
double add_logit_penalty(const AgentUpdate& update, const PolicyTile& policy) {
  const double share = update.options.logit_penalty / static_cast<double>(update.batch.rows * policy.outputs.columns);
  double sum = 0;
  for (std::size_t i = 0; i < policy.tile.count; ++i) {
    for (std::size_t c = 0; c < policy.outputs.columns; ++c) {
      const float logit = policy.outputs.row(i)[c];
      sum += static_cast<double>(logit) * logit;
      policy.doutputs.row(i)[c] += static_cast<float>(2 * share) * logit;
    }
  }
  return share * sum;
}

void update_maddpg_agent(AgentUpdate& update) {
  TrainedNetwork& critic = update.networks.critics.front();

  // y = r + γ·(1 - terminated)·Q'(x'), where x' has everyone's target actions
  const std::span<float> y = update.room.targets;
  critic_values(critic.target, update.batch.next.view(), update.room, y);
  discount(update, y);
  update.clock.lap(Phase::TargetQ);

  // Q: one step down mean (Q(x) - y)²
  update.critic_loss = regress(update, critic, y);
  update.clock.lap(Phase::QLoss);

  // π: one step down -mean Q(x with the own action g(π(o))) + penalty·mean π(o)², with the Q just updated
  begin_actor_step(update);
  for_each_tile(update.batch.rows, [&](Tile tile) {
    const PolicyTile policy = propose(update, tile);
    update.actor_loss += descend_value(update, critic.online, policy);
    update.actor_loss += add_logit_penalty(update, policy);
    accumulate(update, policy);
  });
  end_actor_step(update);
  update.clock.lap(Phase::PLoss);

  move_targets(update);
  update.clock.lap(Phase::TargetUpdate);
}

}  // namespace

Result<std::unique_ptr<Learner>> make_maddpg(const EnvironmentSpec& spec, const OffPolicyOptions& options,
                                             std::uint64_t seed, ThreadPool& threads, Profile& profile) {
  const bool independent = options.semantics == Semantics::OpenAi;
  return make_off_policy({.name = "maddpg",
                          .critics = 1,
                          .acts_with_target = false,
                          .target_start = independent ? TargetStart::Independent : TargetStart::Copy,
                          .adam_epsilon = 1e-8,
                          .update_agent = update_maddpg_agent},
                         spec, options, seed, threads, profile);
}

}  // namespace tilewright
