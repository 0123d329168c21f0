#include "tilewright/marl/algorithms.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"

namespace tilewright {

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms = {
      {"maddpg", "off-policy; soft Gumbel actions, one critic per agent on what all agents see and do"},
      {"masac", "off-policy; MADDPG with twin critics and an entropy bonus"},
      {"ippo", "on-policy; every agent learns by itself, its critic sees what the agent sees"},
      {"mappo", "on-policy; the same actors, the critics see what all agents see"},
  };
  return kAlgorithms;
}

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Algorithm& algorithm : algorithms()) names.emplace_back(algorithm.name);
    return names;
  }();
  return kNames;
}

Error unknown_algorithm(std::string_view name) {
  return invalid(fmt::format("algorithm {} is not known{}, expected one of {}", in_quotes(name),
                             did_you_mean(name, algorithm_names()), join(algorithm_names(), ", ")));
}

Result<std::unique_ptr<Learner>> make_learner(std::string_view name, const EnvironmentSpec& spec,
                                              const AlgorithmOptions& options, std::uint64_t seed, ThreadPool& threads,
                                              Profile& profile) {
  if (name == "maddpg") return make_maddpg(spec, options.off_policy, seed, threads, profile);
  if (name == "masac") return make_masac(spec, options.off_policy, seed, threads, profile);
  if (name == "ippo" || name == "mappo") {
    PpoOptions ppo = options.ppo;
    ppo.critic = name == "ippo" ? Critic::Own : Critic::Central;
    return make_ppo(spec, ppo, seed, threads, profile);
  }
  return unknown_algorithm(name);
}

}  // namespace tilewright
