#include <cmath>

#include <gtest/gtest.h>

#include "off_policy_fixture.hpp"
#include "tilewright/marl/guarded_entropy.hpp"

namespace tilewright {
namespace {

oracle::Rules masac_rules() {
  oracle::Rules rules;
  rules.soft_actor_critic = true;
  rules.epsilon = 1e-7;
  return rules;
}

TEST(Masac, OracleGradientsAreSlopesOfItsLosses) {
  oracle::Rules rules = masac_rules();
  rules.entropy = 0.7;
  expect_true_gradients(Algorithm::Masac, rules);
}

TEST(Masac, AgreesWithTheOracle) {
  OffPolicyOptions options = small_options(60);
  expect_agreement_with_oracle(Algorithm::Masac, options, masac_rules());
  options.layout = ReplayLayout::State;
  expect_agreement_with_oracle(Algorithm::Masac, options, masac_rules());
}

TEST(Masac, AgreesWithTheOracleInTurn) {
  OffPolicyOptions options = small_options(60);
  options.semantics = Semantics::OpenAi;
  expect_agreement_with_oracle(Algorithm::Masac, options, masac_rules());
  options.layout = ReplayLayout::State;
  expect_agreement_with_oracle(Algorithm::Masac, options, masac_rules());
}

TEST(Masac, AgreesWithTheOracleOnPrioritizedBatches) {
  OffPolicyOptions options = small_options(60);
  options.sampler.kind = SamplerKind::Prioritized;
  expect_agreement_with_oracle(Algorithm::Masac, options, masac_rules());
}

TEST(Masac, CanGiveEverySampleTheMeanEntropy) {
  OffPolicyOptions options = small_options(60);
  oracle::Rules rules = masac_rules();
  options.entropy = rules.entropy = 0.5;
  expect_agreement_with_oracle(Algorithm::Masac, options, rules);
  options.entropy_batch_mean = rules.entropy_batch_mean = true;
  expect_agreement_with_oracle(Algorithm::Masac, options, rules);
}

TEST(GuardedEntropy, IsThatOfProbabilities) {
  const ActionSpace space{{2, 4}, 0};
  Matrix outputs(2, 6);
  outputs.row(1)[0] = 100;  // one choice for sure: ln(1 + 1e-6) is all that the guard leaves
  std::vector<float> entropies(2);
  EntropyRoom room(2, 6);
  guarded_entropies(space, outputs.view(), {}, room, entropies);
  EXPECT_NEAR(entropies[0], std::log(2) + std::log(4), 1e-5);
  EXPECT_NEAR(entropies[1], std::log(4), 1e-5);
}

TEST(Masac, SolvesGamesWhoseBestPlayIsKnown) {
  OffPolicyOptions options = game_options();
  options.entropy = 1;  // payoffs are up to 8: with less it may settle before it has tried everything
  expect_learning(Algorithm::Masac, "toy:matrix", options, 2000, best_return("toy:matrix") - 0.5);
  options.entropy = 0.2;
  expect_learning(Algorithm::Masac, "toy:heads", options, 3000, best_return("toy:heads") - 0.1);
  expect_learning(Algorithm::Masac, "toy:reach", options, 800, best_return("toy:reach") - 5);  // standing still: -70
  options.layout = ReplayLayout::State;
  expect_learning(Algorithm::Masac, "toy:line", options, 500, best_return("toy:line") - 1);
}

}  // namespace
}  // namespace tilewright
