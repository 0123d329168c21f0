#include "tilewright/agents/team.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright {
namespace {

EnvironmentSpec spec_of(const TeamHeads& heads, std::size_t observation_size, bool masks) {
  EnvironmentSpec spec;
  spec.name = "design";
  spec.episode_length = 1;
  spec.terminates = true;
  spec.masks = masks;
  for (std::size_t agent = 0; agent < heads.agent_count(); ++agent) {
    spec.agents.push_back({fmt::format("agent_{}", agent), "team", observation_size, heads.actions(agent)});
  }
  return spec;
}

// Off-policy learners remember many updates' worth of rows; rewards of a single step need no discount.
OffPolicyOptions off_policy_options(const LearningOptions& options) {
  OffPolicyOptions off;
  off.capacity = 100'000;
  off.batch = 256;
  off.warm_up = 256;
  off.update_every = 1;
  off.hidden.assign(2, static_cast<std::size_t>(options.hidden));
  off.learning_rate = options.learning_rate;
  off.gamma = 0;
  return off;
}

PpoOptions ppo_options(const LearningOptions& options) {
  PpoOptions ppo;
  ppo.critic = options.learner == Algorithm::Mappo ? Critic::Central : options.critic;
  ppo.rollout = 1;  // whatever rows there are
  ppo.epochs = static_cast<std::size_t>(options.epochs);
  ppo.minibatches = static_cast<std::size_t>(options.minibatches);
  ppo.hidden.assign(2, static_cast<std::size_t>(options.hidden));
  ppo.learning_rate = options.learning_rate;
  ppo.entropy_bonus = options.entropy_bonus;
  ppo.gamma = 0;
  ppo.gae_lambda = 0;
  return ppo;
}

}  // namespace

void TeamRows::add() {
  observations_.resize(observations_.size() + observation_size_);
  masks_.resize(masks_.size() + choice_count_);
  actions_.resize(actions_.size() + choice_count_);
}

void TeamRows::append(const TeamRows& other, std::size_t row) {
  const auto copy = [row](std::vector<float>& to, const std::vector<float>& from, std::size_t width) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(row * width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  copy(observations_, other.observations_, observation_size_);
  copy(masks_, other.masks_, choice_count_);
  copy(actions_, other.actions_, choice_count_);
}

Result<std::unique_ptr<Team>> Team::make(const TeamHeads& heads, std::size_t observation_size,
                                         const LearningOptions& options, std::uint64_t seed, ThreadPool& threads) {
  auto team = std::unique_ptr<Team>(new Team(heads, observation_size, threads.thread_count()));
  team->masked_ = is_on_policy(options.learner);
  const EnvironmentSpec spec = spec_of(heads, observation_size, team->masked_);
  if (is_on_policy(options.learner)) {
    TW_TRY(team->learner_, make_ppo(spec, ppo_options(options), seed, threads, team->profile_));
  } else {
    AlgorithmOptions algorithm;
    algorithm.off_policy = off_policy_options(options);
    TW_TRY(team->learner_, make_learner(options.learner, spec, algorithm, seed, threads, team->profile_));
  }
  return team;
}

void Team::act(TeamRows& rows) {
  const std::size_t count = rows.size(), agents = heads_.agent_count();
  repeated_.resize(count * agents * observation_size_);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      std::ranges::copy(rows.observation(row),
                        repeated_.begin() + static_cast<std::ptrdiff_t>((row * agents + agent) * observation_size_));
    }
  }
  const std::span<const float> masks = masked_ ? std::span<const float>(rows.masks_) : std::span<const float>();
  learner_->act(repeated_, masks, count, Acting::Explore, rows.actions_);
  if (masked_) return;
  // What is held shows as chosen to learners that do not know of masks.
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t head = 0; head < heads_.head_count(); ++head) {
      const auto open = rows.mask(row).subspan(heads_.offset_of(head), heads_.size_of(head));
      if (std::ranges::count_if(open, [](float allowed) { return allowed > 0; }) > 1) continue;
      std::ranges::copy(open, rows.actions(row).subspan(heads_.offset_of(head)).begin());
    }
  }
}

std::size_t Team::choice(TeamRows& rows, std::size_t row, std::size_t head) const {
  const auto actions = rows.actions(row).subspan(heads_.offset_of(head), heads_.size_of(head));
  const auto open = rows.mask(row).subspan(heads_.offset_of(head), heads_.size_of(head));
  std::size_t best = heads_.size_of(head);
  for (std::size_t choice = 0; choice < actions.size(); ++choice) {
    if (open[choice] > 0 && (best == actions.size() || actions[choice] > actions[best])) best = choice;
  }
  return best;
}

void Team::learn(TeamRows& rows, std::span<const float> rewards) {
  const std::size_t count = rows.size(), agents = heads_.agent_count();
  if (count == 0) return;
  repeated_.resize(count * agents * observation_size_);
  rewards_.resize(count * agents);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      const std::size_t place = row * agents + agent;
      std::ranges::copy(rows.observation(row), repeated_.begin() + static_cast<std::ptrdiff_t>(place * observation_size_));
      rewards_[place] = rewards[row];
    }
  }
  ended_.assign(count * agents, 1);
  running_.assign(count * agents, 0);
  live_.assign(count, 1);
  Experience experience;
  experience.world_count = count;
  experience.observations = repeated_;
  if (masked_) experience.masks = rows.masks_;
  experience.actions = rows.actions_;
  experience.rewards = rewards_;
  experience.next_observations = repeated_;
  experience.terminated = ended_;
  experience.truncated = running_;
  experience.live = live_;
  learner_->learn(experience);
}

}  // namespace tilewright
