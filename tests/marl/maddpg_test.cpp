#include <cmath>

#include <gtest/gtest.h>

#include "off_policy_fixture.hpp"
#include "tilewright/marl/off_policy_streams.hpp"

namespace tilewright {
namespace {

TEST(Maddpg, OracleGradientsAreSlopesOfItsLosses) { expect_true_gradients(Algorithm::Maddpg, {}); }

TEST(Maddpg, AgreesWithTheOracle) {
  OffPolicyOptions options = small_options(60);
  expect_agreement_with_oracle(Algorithm::Maddpg, options, {});
  options.layout = ReplayLayout::State;
  expect_agreement_with_oracle(Algorithm::Maddpg, options, {});
}

TEST(Maddpg, AgreesWithTheOracleInTurn) {
  OffPolicyOptions options = small_options(60);
  options.semantics = Semantics::OpenAi;
  expect_agreement_with_oracle(Algorithm::Maddpg, options, {});
  options.layout = ReplayLayout::State;
  expect_agreement_with_oracle(Algorithm::Maddpg, options, {});
}

TEST(Maddpg, AgreesWithTheOracleOnPrioritizedBatches) {
  OffPolicyOptions options = small_options(60);
  options.sampler.kind = SamplerKind::Prioritized;
  expect_agreement_with_oracle(Algorithm::Maddpg, options, {});
  options.semantics = Semantics::OpenAi;
  expect_agreement_with_oracle(Algorithm::Maddpg, options, {});
}

// In openai/maddpg an agent's target moves before the next agent asks it for its action. The walker and the talker come
// before the glider; with slow copies that move halfway, its target values tell whether they had moved.
TEST(Maddpg, LaterAgentsSeeTheMovedTargetsOfEarlierOnes) {
  constexpr std::uint64_t kSeed = 4;
  const Journey journey(mixed_spec(), 60);
  const EnvironmentSpec& spec = journey.spec;
  OffPolicyOptions options = small_options(60);
  options.semantics = Semantics::OpenAi;
  options.tau = 0.5;
  Pupil pupil(Algorithm::Maddpg, spec, options, kSeed);
  const TensorFile before = pupil.saved();
  pupil.learner->learn(journey.part(0, 60));

  // The glider's critic loss, with the targets of the first `moved` agents as they are after the round.
  const auto loss_with_moved = [&](std::size_t moved) {
    const TensorFile after = pupil.saved();
    std::vector<oracle::Agent> agents;
    for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
      agents.push_back(oracle::agent(before, spec.agents[agent].name, 1));
      if (agent < moved) agents[agent].actor.target = oracle::net(after, spec.agents[agent].name + ".target_actor");
    }
    const std::size_t glider = 2;
    Rng stream = OffPolicyStreams(kSeed, spec.agent_count()).sampling[glider];
    std::vector<std::uint32_t> indices;
    std::vector<float> weights;
    make_sampler({}, options.capacity)->draw({60, options.capacity, 60}, options.batch, stream, indices, weights);
    const oracle::Samples samples = samples_of(journey, indices, weights, kSeed, glider, glider);
    oracle::Rules rules;
    rules.tau = options.tau;
    return oracle::update(spec, rules, glider, agents, samples, oracle::target_actions(spec, agents, samples)).critic;
  };
  const double found = pupil.learner->losses().critic[2];
  EXPECT_NEAR(found, loss_with_moved(2), 2e-5 * found);
  EXPECT_GT(std::abs(found - loss_with_moved(0)), 1e-3 * found);
  EXPECT_GT(std::abs(found - loss_with_moved(1)), 1e-3 * found);
}

TEST(Maddpg, TargetsStartAsCopiesOrByThemselves) {
  OffPolicyOptions options = small_options(60);
  const auto distance = [&](const std::string& role) {
    const TensorFile file = Pupil(Algorithm::Maddpg, mixed_spec(), options).saved();
    return relative_distance(oracle::tensor(file, "walker." + role + ".weight1"),
                             oracle::tensor(file, "walker.target_" + role + ".weight1"));
  };
  EXPECT_EQ(distance("actor"), 0);
  EXPECT_EQ(distance("critic"), 0);
  options.semantics = Semantics::OpenAi;
  EXPECT_GT(distance("actor"), 1);  // independent weights are sqrt(2) apart
  EXPECT_GT(distance("critic"), 1);
}

TEST(Maddpg, SolvesGamesWhoseBestPlayIsKnown) {
  OffPolicyOptions options = game_options();
  expect_learning(Algorithm::Maddpg, "toy:matrix", options, 2000, best_return("toy:matrix") - 0.5);
  expect_learning(Algorithm::Maddpg, "toy:heads", options, 3000, best_return("toy:heads") - 0.1);
  expect_learning(Algorithm::Maddpg, "toy:reach", options, 800, best_return("toy:reach") - 5);  // standing still: -70
  options.layout = ReplayLayout::State;
  expect_learning(Algorithm::Maddpg, "toy:line", options, 500, best_return("toy:line") - 1);
  options.semantics = Semantics::OpenAi;
  expect_learning(Algorithm::Maddpg, "toy:line", options, 500, best_return("toy:line") - 1);
}

}  // namespace
}  // namespace tilewright
