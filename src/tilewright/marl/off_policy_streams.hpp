// The random numbers of an off-policy learner. Each is a function of the seed, the purpose, the agent and a row number, so
// that no order of work changes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/base/rng.hpp"

namespace tilewright {

struct OffPolicyStreams {
  OffPolicyStreams(std::uint64_t seed, std::size_t agents) : OffPolicyStreams(Rng(seed, "off_policy"), agents) {}

  // One of each per agent.
  std::vector<Rng> weights;         // initial networks
  std::vector<Rng> acting;          // noise of the n-th acted row
  std::vector<Rng> sampling;        // mini-batches; agents that share one use the first
  std::vector<Rng> target_actions;  // noise of a', row b·batch + r for row r of mini-batch b
  std::vector<Rng> policy_actions;  // noise of the actor step, likewise
  std::vector<Rng> next_actions;    // noise of MASAC's entropy after the step, likewise

 private:
  OffPolicyStreams(const Rng& root, std::size_t agents) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      weights.push_back(root.fork("weights", agent));
      acting.push_back(root.fork("acting", agent));
      sampling.push_back(root.fork("sampling", agent));
      target_actions.push_back(root.fork("target_actions", agent));
      policy_actions.push_back(root.fork("policy_actions", agent));
      next_actions.push_back(root.fork("next_actions", agent));
    }
  }
};

}  // namespace tilewright
