// Learners by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/marl/off_policy.hpp"
#include "tilewright/marl/ppo.hpp"

namespace tilewright {

struct AlgorithmOptions {
  OffPolicyOptions off_policy;
  PpoOptions ppo;  // its critic follows the name: ippo own, mappo central
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;  // one line for the list of algorithms
};
const std::vector<Algorithm>& algorithms();
const std::vector<std::string>& algorithm_names();  // maddpg, masac, ippo, mappo

// "algorithm 'madppg' is not known (did you mean 'maddpg'?), expected one of …".
Error unknown_algorithm(std::string_view name);

Result<std::unique_ptr<Learner>> make_learner(std::string_view name, const EnvironmentSpec& spec,
                                              const AlgorithmOptions& options, std::uint64_t seed, ThreadPool& threads,
                                              Profile& profile);

}  // namespace tilewright
