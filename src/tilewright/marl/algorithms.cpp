#include "tilewright/marl/algorithms.hpp"

namespace tilewright {

std::string_view summary_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::Maddpg:
      return "off-policy; soft Gumbel actions, one critic per agent on what all agents see and do";
    case Algorithm::Masac:
      return "off-policy; MADDPG with twin critics and an entropy bonus";
    case Algorithm::Ippo:
      return "on-policy; every agent learns by itself, its critic sees what the agent sees";
    case Algorithm::Mappo:
      return "on-policy; the same actors, the critics see what all agents see";
  }
  return "";
}

bool is_on_policy(Algorithm algorithm) { return algorithm == Algorithm::Ippo || algorithm == Algorithm::Mappo; }

Result<std::unique_ptr<Learner>> make_learner(Algorithm algorithm, const EnvironmentSpec& spec,
                                              const AlgorithmOptions& options, std::uint64_t seed, ThreadPool& threads,
                                              Profile& profile) {
  if (algorithm == Algorithm::Maddpg) return make_maddpg(spec, options.off_policy, seed, threads, profile);
  if (algorithm == Algorithm::Masac) return make_masac(spec, options.off_policy, seed, threads, profile);
  PpoOptions ppo = options.ppo;
  ppo.critic = algorithm == Algorithm::Ippo ? Critic::Own : Critic::Central;
  return make_ppo(spec, ppo, seed, threads, profile);
}

}  // namespace tilewright
