// The learner that MADDPG and MASAC share: it acts, remembers, and when an update is due leads every agent through its
// algorithm's update, in one of the two orders of `Semantics`.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/marl/agent_update.hpp"
#include "tilewright/marl/off_policy.hpp"

namespace tilewright {

// What tells one algorithm from the other.
struct OffPolicyAlgorithm {
  std::string name;
  std::size_t critics = 1;  // per agent
  bool acts_with_target = false;
  TargetStart target_start = TargetStart::Copy;
  double adam_epsilon = 1e-8;
  void (*update_agent)(AgentUpdate& update) = nullptr;  // laps its own phases
};

// Options and environments that cannot work are Errors.
Result<std::unique_ptr<Learner>> make_off_policy(const OffPolicyAlgorithm& algorithm, const EnvironmentSpec& spec,
                                                 const OffPolicyOptions& options, std::uint64_t seed, ThreadPool& threads,
                                                 Profile& profile);

class OffPolicyLearner final : public Learner {
 public:
  OffPolicyLearner(const OffPolicyAlgorithm& algorithm, const EnvironmentSpec& spec, const OffPolicyOptions& options,
                   std::uint64_t seed, ThreadPool& threads, Profile& profile);

  void act(std::span<const float> observations, std::span<const float> masks, std::size_t world_count, Acting acting,
           std::span<float> actions) override;
  void learn(const Experience& experience) override;
  std::int64_t update_count() const override { return updates_; }
  const Losses& losses() const override { return updates_ > 0 ? losses_ : no_losses_; }
  void save(TensorFile& file) const override;
  Result<Done> load(const TensorFile& file) override;
  Replay* replay() override { return &replay_; }

 private:
  std::size_t agent_count() const { return spec_.agent_count(); }
  const Mlp& acting_network(std::size_t agent) const;

  void update_all_together();
  void update_all_in_turn();
  void draw_batch(std::size_t sampler);
  void tell_sampler(std::size_t sampler, std::span<const float> squared_errors);
  void write_all_target_actions();
  void update_agent(std::size_t agent, std::size_t thread, View x);
  // Of the noise for sample 0 of the current batch.
  std::uint64_t first_noise_row() const { return static_cast<std::uint64_t>(batches_ - 1) * options_.batch; }

  std::vector<std::string> critic_roles() const;        // names of an agent's critics
  std::map<std::string, std::string> identity() const;  // what a checkpoint must agree with
  std::string sampler_name(std::size_t sampler) const;
  ReplayPosition position() const { return {replay_.size(), replay_.capacity(), replay_.added()}; }

  OffPolicyAlgorithm algorithm_;
  EnvironmentSpec spec_;
  OffPolicyOptions options_;
  AdamOptions adam_;
  ThreadPool& threads_;
  Profile& profile_;

  std::int64_t seed_ = 0;
  OffPolicyStreams streams_;
  Replay replay_;
  NetworkForms forms_;
  std::vector<AgentNetworks> networks_;
  std::vector<std::unique_ptr<Sampler>> samplers_;  // one; or one per agent when they draw their own batches

  std::vector<UpdateRoom> rooms_;  // by thread
  std::vector<Matrix> copies_;     // by thread, of batch_.current; the first thread uses the batch itself
  Batch batch_;
  Matrix squared_errors_;  // agents × samples; without rows when the sampler does not ask
  std::vector<float> mean_squared_errors_;

  std::int64_t steps_ = 0;    // of all worlds together
  std::int64_t updates_ = 0;  // of all agents
  std::int64_t batches_ = 0;  // drawn so far
  std::int64_t acted_ = 0;    // rows of actions that were explored with
  Losses no_losses_;
  Losses losses_;  // sized at the start, shown after the first update
};

}  // namespace tilewright
