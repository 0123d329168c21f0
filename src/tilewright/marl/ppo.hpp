// Proximal policy optimisation for teams: decentralised actors, each with its own critic on its own observation (IPPO) or a
// critic on the observations of all (MAPPO), or none, advantages being returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/marl/profile.hpp"
#include "tilewright/nn/mlp.hpp"

namespace tilewright {

enum class Critic { None, Own, Central };
template <>
struct Names<Critic> {
  static constexpr std::string_view kWhat = "critic";
  static constexpr NameTable<Critic, 3> kTable = {
      {{Critic::None, "none"}, {Critic::Own, "own"}, {Critic::Central, "central"}}};
};

struct PpoOptions {
  Critic critic = Critic::Own;
  std::size_t rollout = 2'000;  // environment steps (of every world together) per update
  std::size_t epochs = 4;       // passes over a rollout
  std::size_t minibatches = 4;  // per pass
  std::vector<std::size_t> hidden = {64, 64};
  Activation activation = Activation::Relu;
  double learning_rate = 2e-3;  // 0: nothing is learned
  double gamma = 0.95;
  double gae_lambda = 0.95;  // 1 is Monte Carlo, 0 is one-step TD
  double clip = 0.2;         // keeps the ratio within [1 - clip, 1 + clip]
  double entropy_bonus = 0.01;
  double max_gradient_norm = 0.5;    // of all tensors of a network together; 0 = no limit
  bool normalise_advantages = true;  // of each agent, over a rollout
  bool normalise_returns = true;     // critics learn returns in units of their spread
};

// The first option outside its range, as an Error.
Result<Done> check(const PpoOptions& options);

Result<std::unique_ptr<Learner>> make_ppo(const EnvironmentSpec& spec, const PpoOptions& options, std::uint64_t seed,
                                          ThreadPool& threads, Profile& profile);

}  // namespace tilewright
