// What an OffPolicyLearner saves: every network with its optimiser, where the samplers stand, and counters. All random
// numbers are functions of the seed and these counters.
#include <fmt/format.h>

#include "tilewright/marl/off_policy_learner.hpp"

namespace tilewright {

std::vector<std::string> OffPolicyLearner::critic_roles() const {
  return algorithm_.critics == 1 ? std::vector<std::string>{"critic"} : std::vector<std::string>{"critic", "critic2"};
}

std::map<std::string, std::string> OffPolicyLearner::identity() const {
  return {{"algorithm", algorithm_.name},
          {"semantics", std::string(to_string(options_.semantics))},
          {"layout", std::string(to_string(options_.layout))},
          {"sampler", to_string(options_.sampler)}};
}

std::string OffPolicyLearner::sampler_name(std::size_t sampler) const {
  return samplers_.size() == 1 ? "sampler" : spec_.agents[sampler].name + ".sampler";
}

void OffPolicyLearner::save(TensorFile& file) const {
  file.metadata.merge(identity());
  file.put("learner.seed", seed_);
  file.put("learner.steps", steps_);
  file.put("learner.updates", updates_);
  file.put("learner.batches", batches_);
  file.put("learner.acted", acted_);
  file.put("learner.losses.critic", std::span<const double>(losses_.critic));
  file.put("learner.losses.actor", std::span<const double>(losses_.actor));
  for (std::size_t agent = 0; agent < agent_count(); ++agent) {
    const std::string& name = spec_.agents[agent].name;
    tilewright::save(networks_[agent].actor, name, "actor", file);
    for (std::size_t c = 0; c < algorithm_.critics; ++c)
      tilewright::save(networks_[agent].critics[c], name, critic_roles()[c], file);
  }
  for (std::size_t s = 0; s < samplers_.size(); ++s) {
    file.put(sampler_name(s) + ".position", static_cast<std::int64_t>(streams_.sampling[s].position()));
    samplers_[s]->save(sampler_name(s), file);
  }
}

Result<Done> OffPolicyLearner::load(const TensorFile& file) {
  for (const auto& [key, expected] : identity()) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end() || found->second != expected) {
      return invalid(fmt::format("checkpoint has {} '{}', expected '{}' as in this run", key,
                                 found == file.metadata.end() ? "" : found->second, expected));
    }
  }
  TW_TRY(seed_, file.get("learner.seed"));
  TW_TRY(steps_, file.get("learner.steps"));
  TW_TRY(updates_, file.get("learner.updates"));
  TW_TRY(batches_, file.get("learner.batches"));
  TW_TRY(acted_, file.get("learner.acted"));
  TW_TRY(const Done critic_losses, file.get("learner.losses.critic", std::span<double>(losses_.critic)));
  TW_TRY(const Done actor_losses, file.get("learner.losses.actor", std::span<double>(losses_.actor)));
  streams_ = OffPolicyStreams(static_cast<std::uint64_t>(seed_), agent_count());
  for (std::size_t agent = 0; agent < agent_count(); ++agent) {
    const std::string& name = spec_.agents[agent].name;
    TW_TRY(const Done actor, tilewright::load(networks_[agent].actor, name, "actor", file));
    for (std::size_t c = 0; c < algorithm_.critics; ++c) {
      TW_TRY(const Done critic, tilewright::load(networks_[agent].critics[c], name, critic_roles()[c], file));
    }
  }
  for (std::size_t s = 0; s < samplers_.size(); ++s) {
    TW_TRY(const std::int64_t position, file.get(sampler_name(s) + ".position"));
    streams_.sampling[s].seek(static_cast<std::uint64_t>(position));
    TW_TRY(const Done sampler, samplers_[s]->load(sampler_name(s), file));
  }
  return Done{};
}

}  // namespace tilewright
