// What MADDPG and MASAC have in common: their hyper-parameters (those of arXiv 2305.13411), and the two ways of going
// through the agents in an update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/marl/profile.hpp"
#include "tilewright/marl/replay.hpp"
#include "tilewright/marl/samplers.hpp"

namespace tilewright {

enum class Semantics {
  Shared,  // one mini-batch for all agents, target actions once, all agents from the same weights; targets start as copies
  OpenAi,  // openai/maddpg: agents in turn, each with its own batch, targets moved at once and started independently
};
Result<Semantics> parse_semantics(std::string_view text);  // "shared", "openai"
std::string_view to_string(Semantics semantics);

struct OffPolicyOptions {
  Semantics semantics = Semantics::Shared;
  ReplayLayout layout = ReplayLayout::Joint;
  SamplerSpec sampler;
  std::size_t capacity = 1'000'000;
  std::size_t batch = 1024;
  std::size_t warm_up = 25'600;    // transitions before the first update
  std::size_t update_every = 100;  // environment steps (of every world together)
  std::vector<std::size_t> hidden = {64, 64};
  double learning_rate = 0.01;
  double gamma = 0.95;          // discount
  double tau = 0.01;            // share of the online network that moves into the target
  double clip = 0.5;            // most norm of each tensor's gradient
  double logit_penalty = 1e-3;  // MADDPG: weight of the mean squared policy output
  double entropy = 0.05;        // MASAC: weight of the entropy
  bool entropy_batch_mean =
      false;  // MASAC: every sample gets the batch's mean entropy in its target, as tf2multiagentrl does
};

// `spec` must outlive nothing: it is copied. Environments with masks are refused.
Result<std::unique_ptr<Learner>> make_maddpg(const EnvironmentSpec& spec, const OffPolicyOptions& options,
                                             std::uint64_t seed, ThreadPool& threads, Profile& profile);
Result<std::unique_ptr<Learner>> make_masac(const EnvironmentSpec& spec, const OffPolicyOptions& options, std::uint64_t seed,
                                            ThreadPool& threads, Profile& profile);

}  // namespace tilewright
