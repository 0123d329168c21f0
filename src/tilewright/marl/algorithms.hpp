// Learners by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tilewright/base/names.hpp"
#include "tilewright/marl/off_policy.hpp"
#include "tilewright/marl/ppo.hpp"

namespace tilewright {

enum class Algorithm : std::uint8_t { Maddpg, Masac, Ippo, Mappo };
template <>
struct Names<Algorithm> {
  static constexpr std::string_view kWhat = "algorithm";
  static constexpr NameTable<Algorithm, 4> kTable = {
      {{Algorithm::Maddpg, "maddpg"}, {Algorithm::Masac, "masac"}, {Algorithm::Ippo, "ippo"}, {Algorithm::Mappo, "mappo"}}};
};

std::string_view summary_of(Algorithm algorithm);  // one line
bool is_on_policy(Algorithm algorithm);

struct AlgorithmOptions {
  OffPolicyOptions off_policy;
  PpoOptions ppo;  // its critic follows the name: ippo own, mappo central
};

Result<std::unique_ptr<Learner>> make_learner(Algorithm algorithm, const EnvironmentSpec& spec,
                                              const AlgorithmOptions& options, std::uint64_t seed, ThreadPool& threads,
                                              Profile& profile);

}  // namespace tilewright
