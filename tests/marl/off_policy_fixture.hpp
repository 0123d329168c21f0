// Worlds and learners that the tests of off-policy learners share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "off_policy_oracle.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/off_policy.hpp"

namespace tilewright {

// Three agents of different sizes: one head, two heads, one head and two continuous components. Observations follow from
// nine numbers.
EnvironmentSpec mixed_spec(bool terminates = true);

// Transitions between random states, of which about one in four terminates each agent.
struct Journey {
  Journey(const EnvironmentSpec& spec, std::size_t length, std::uint64_t seed = 1);

  EnvironmentSpec spec;
  std::size_t length = 0;
  std::vector<float> states, next_states, observations, next_observations, actions, rewards;
  std::vector<std::uint8_t> terminated, truncated, live;

  Experience part(std::size_t first, std::size_t count) const;  // as that many worlds
};

// A learner with the threads and the profile it needs.
struct Pupil {
  Pupil(Algorithm algorithm, const EnvironmentSpec& spec, const OffPolicyOptions& options, std::uint64_t seed = 1,
        std::size_t thread_count = 1);

  ThreadPool threads;
  Profile profile;
  std::unique_ptr<Learner> learner;

  TensorFile saved() const;
};

// Updates only when asked: every `every` transitions, once that many are there.
OffPolicyOptions small_options(std::size_t every);

// A batch of `options.batch` transitions of the journey as the oracle wants it. `batch_number` counts the learner's batches
// from 0; `self` is the agent that is updated.
oracle::Samples samples_of(const Journey& journey, const std::vector<std::uint32_t>& indices,
                           const std::vector<float>& weights, std::uint64_t seed, std::uint64_t batch_number,
                           std::size_t self);

// Two updates of all agents against the oracle: losses, networks and targets.
void expect_agreement_with_oracle(Algorithm algorithm, OffPolicyOptions options, oracle::Rules rules);

// Three seeds, each beside a twin whose learning rate is 0: mean return of all agents together in 200 greedy episodes after
// `episodes` of training. Those that learn must have more than `enough`, their twins clearly less.
void expect_learning(Algorithm algorithm, const std::string& game, const OffPolicyOptions& options, std::int64_t episodes,
                     double enough);
OffPolicyOptions game_options();  // small networks, many updates
double best_return(const std::string& game);

// |a - b| / |b|.
double relative_distance(const oracle::Row& a, const oracle::Row& b);

// Gradients of the oracle against differences of its losses.
void expect_true_gradients(Algorithm algorithm, oracle::Rules rules);

// The full rows of a critic's first weight, added up to rows of (state | actions).
oracle::Row folded(const EnvironmentSpec& spec, const oracle::Row& weight, std::size_t columns);

}  // namespace tilewright
