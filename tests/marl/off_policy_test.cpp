// What MADDPG and MASAC have in common.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "off_policy_fixture.hpp"
#include "tilewright/marl/off_policy_streams.hpp"
#include "tilewright/marl/toy_games.hpp"

namespace tilewright {
namespace {

using testing::HasSubstr;

class OffPolicy : public testing::TestWithParam<Algorithm> {};
INSTANTIATE_TEST_SUITE_P(Algorithms, OffPolicy, testing::Values(Algorithm::Maddpg, Algorithm::Masac),
                         [](const auto& test) { return std::string(name(test.param)); });

// The saved bytes after `updates` updates.
std::string trained_bytes(Algorithm algorithm, const OffPolicyOptions& options, std::size_t threads, std::size_t updates) {
  const Journey journey(mixed_spec(), updates * options.update_every);
  Pupil pupil(algorithm, journey.spec, options, 5, threads);
  for (std::size_t u = 0; u < updates; ++u)
    pupil.learner->learn(journey.part(u * options.update_every, options.update_every));
  EXPECT_EQ(pupil.learner->update_count(), static_cast<std::int64_t>(updates));
  return to_safetensors(pupil.saved());
}

TEST_P(OffPolicy, IsTheSameToTheBitForAnyNumberOfThreads) {
  for (const Semantics semantics : {Semantics::Shared, Semantics::OpenAi}) {
    for (const ReplayLayout layout : {ReplayLayout::Joint, ReplayLayout::State}) {
      for (const SamplerKind sampler : {SamplerKind::Uniform, SamplerKind::Prioritized}) {
        OffPolicyOptions options = small_options(60);
        options.semantics = semantics;
        options.layout = layout;
        options.sampler.kind = sampler;
        const std::string one = trained_bytes(GetParam(), options, 1, 3);
        EXPECT_EQ(one, trained_bytes(GetParam(), options, 2, 3));
        EXPECT_EQ(one, trained_bytes(GetParam(), options, 4, 3));
      }
    }
  }
}

TEST_P(OffPolicy, LayoutsOfObservationsAgreeToTheBit) {
  OffPolicyOptions options = small_options(60);
  options.layout = ReplayLayout::Joint;
  Pupil joint(GetParam(), mixed_spec(), options);
  options.layout = ReplayLayout::PerAgent;
  Pupil apart(GetParam(), mixed_spec(), options);
  const Journey journey(mixed_spec(), 60);
  joint.learner->learn(journey.part(0, 60));
  apart.learner->learn(journey.part(0, 60));
  EXPECT_EQ(joint.learner->losses().critic, apart.learner->losses().critic);
  for (const auto& [name, tensor] : joint.saved().tensors) EXPECT_EQ(tensor.bytes, apart.saved().tensors.at(name).bytes);
}

TEST_P(OffPolicy, FoldingChangesRoundingOnly) {
  for (const auto& [semantics, clip] :
       {std::pair(Semantics::Shared, 0.5), {Semantics::Shared, 0.0}, {Semantics::OpenAi, 0.5}}) {
    const EnvironmentSpec spec = mixed_spec();
    const Journey journey(spec, 60);
    OffPolicyOptions options = small_options(60);
    options.semantics = semantics;
    options.clip = clip;
    Pupil plain(GetParam(), spec, options);
    options.layout = ReplayLayout::State;
    Pupil folding(GetParam(), spec, options);
    plain.learner->learn(journey.part(0, 60));
    folding.learner->learn(journey.part(0, 60));
    for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
      const double critic = plain.learner->losses().critic[agent], actor = plain.learner->losses().actor[agent];
      EXPECT_NEAR(folding.learner->losses().critic[agent], critic, 1e-5 * critic);
      EXPECT_NEAR(folding.learner->losses().actor[agent], actor, 1e-5 * (1 + std::abs(actor)));
    }
    const TensorFile expected = plain.saved(), found = folding.saved();
    std::size_t compared = 0;
    for (const auto& [name, tensor] : expected.tensors) {
      if (tensor.type != TensorType::F32 || name.find("adam") != std::string::npos) continue;
      oracle::Row row = oracle::tensor(expected, name);
      if (name.find("target_critic") != std::string::npos && name.ends_with("weight0"))
        row = folded(spec, row, tensor.shape[1]);
      EXPECT_LT(relative_distance(oracle::tensor(found, name), row), 1e-5) << name;
      ++compared;
    }
    EXPECT_EQ(compared, 3u * 6 * (GetParam() == Algorithm::Masac ? 6 : 4));
  }
}

TEST_P(OffPolicy, GoesOnToTheBitAfterSaveAndLoad) {
  for (const Semantics semantics : {Semantics::Shared, Semantics::OpenAi}) {
    for (const ReplayLayout layout : {ReplayLayout::Joint, ReplayLayout::State}) {
      const Journey journey(mixed_spec(), 220);
      OffPolicyOptions options = small_options(60);
      options.semantics = semantics;
      options.layout = layout;
      options.sampler.kind = SamplerKind::Prioritized;
      std::vector<float> actions(journey.spec.action_size()), resumed_actions(actions);
      const std::span<const float> observations(journey.observations.data(), journey.spec.observation_size());

      Pupil first(GetParam(), journey.spec, options, 5);
      first.learner->learn(journey.part(0, 140));  // two updates, and 20 steps towards the next
      first.learner->act(observations, {}, 1, Acting::Explore, actions);
      const TensorFile file = first.saved();
      const std::string memory = first.learner->replay()->transitions(0, 140);

      Pupil second(GetParam(), journey.spec, options, 6);
      const Result<Done> loaded = second.learner->load(file);
      ASSERT_TRUE(loaded) << loaded.error().message;
      ASSERT_TRUE(second.learner->replay()->restore(0, memory));
      EXPECT_EQ(second.learner->update_count(), 2);
      EXPECT_EQ(second.learner->losses().actor, first.learner->losses().actor);

      first.learner->act(observations, {}, 1, Acting::Explore, actions);
      second.learner->act(observations, {}, 1, Acting::Explore, resumed_actions);
      EXPECT_EQ(actions, resumed_actions);
      for (Pupil* pupil : {&first, &second}) pupil->learner->learn(journey.part(140, 80));
      EXPECT_EQ(first.learner->update_count(), 3);
      EXPECT_EQ(to_safetensors(first.saved()), to_safetensors(second.saved()));
    }
  }
}

TEST_P(OffPolicy, RefusesCheckpointsOfAnotherKind) {
  OffPolicyOptions options = small_options(60);
  const Pupil first(GetParam(), mixed_spec(), options);
  options.layout = ReplayLayout::State;
  Pupil second(GetParam(), mixed_spec(), options);
  const Result<Done> loaded = second.learner->load(first.saved());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "checkpoint has layout 'joint', expected 'state' as in this run");
}

TEST_P(OffPolicy, NothingFollowsATermination) {
  Journey journey(mixed_spec(), 60);
  std::ranges::fill(journey.terminated, std::uint8_t{1});
  OffPolicyOptions options = small_options(60);
  const auto losses = [&](double gamma) {
    options.gamma = gamma;
    Pupil pupil(GetParam(), journey.spec, options);
    pupil.learner->learn(journey.part(0, 60));
    return pupil.learner->losses().critic;
  };
  EXPECT_EQ(losses(0.95), losses(0));  // y = r either way
  std::ranges::fill(journey.terminated, std::uint8_t{0});
  EXPECT_NE(losses(0.95), losses(0));
}

TEST_P(OffPolicy, UpdatesWhenAMultipleOfStepsIsCrossed) {
  const Journey journey(mixed_spec(), 400);
  OffPolicyOptions options = small_options(100);
  options.warm_up = 150;
  options.batch = 8;
  Pupil pupil(GetParam(), journey.spec, options);
  const auto count_after = [&](std::size_t first, std::size_t worlds) {
    pupil.learner->learn(journey.part(first, worlds));
    return pupil.learner->update_count();
  };
  EXPECT_EQ(count_after(0, 120), 0);    // due at 100, but the warm-up is not over
  EXPECT_EQ(count_after(120, 79), 0);   // 199 steps
  EXPECT_EQ(count_after(199, 3), 1);    // 202: crossed 200
  EXPECT_EQ(count_after(202, 97), 1);   // 299
  EXPECT_EQ(count_after(299, 101), 3);  // 400: crossed 300 and reached 400
}

TEST_P(OffPolicy, WorldsThatHaveEndedDoNotCount) {
  Journey journey(mixed_spec(), 40);
  journey.live[3] = journey.live[17] = 0;
  OffPolicyOptions options = small_options(39);
  options.batch = 8;
  options.warm_up = 1;
  Pupil pupil(GetParam(), journey.spec, options);
  pupil.learner->learn(journey.part(0, 40));  // 38 steps
  EXPECT_EQ(pupil.learner->update_count(), 0);
  EXPECT_EQ(pupil.learner->replay()->size(), 38u);
  pupil.learner->learn(journey.part(0, 1));
  EXPECT_EQ(pupil.learner->update_count(), 1);
}

// Soft samples of MADDPG's policy, of the slow copy of MASAC's, which differ after an update.
TEST_P(OffPolicy, ActsByItsPolicy) {
  const Journey journey(mixed_spec(), 60);
  const EnvironmentSpec& spec = journey.spec;
  constexpr std::uint64_t kSeed = 9;
  constexpr std::size_t kWorlds = 5;
  Pupil pupil(GetParam(), spec, small_options(60), kSeed);
  pupil.learner->learn(journey.part(0, 60));
  ASSERT_EQ(pupil.learner->update_count(), 1);
  const std::span<const float> observations(journey.observations.data(), kWorlds * spec.observation_size());
  std::vector<float> explored(kWorlds * spec.action_size()), again(explored), greedy(explored), single(spec.action_size());
  pupil.learner->act(observations, {}, kWorlds, Acting::Greedy, greedy);
  pupil.learner->act(observations.first(spec.observation_size()), {}, 1, Acting::Explore, single);  // takes noise row 0
  pupil.learner->act(observations, {}, kWorlds, Acting::Explore, explored);                         // rows 1 … 5
  pupil.learner->act(observations, {}, kWorlds, Acting::Explore, again);
  EXPECT_NE(explored, again);

  const TensorFile file = pupil.saved();
  const OffPolicyStreams streams(kSeed, spec.agent_count());
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    const ActionSpace& space = spec.agents[agent].actions;
    const std::string role = GetParam() == Algorithm::Masac ? ".target_actor" : ".actor";
    const oracle::Net policy = oracle::net(file, spec.agents[agent].name + role);
    const std::size_t offset = spec.action_offset(agent);
    const auto expect_action = [&](std::size_t world, const oracle::Row& noise, const std::vector<float>& actions) {
      const auto first = observations.begin() +
                         static_cast<std::ptrdiff_t>(world * spec.observation_size() + spec.observation_offset(agent));
      const oracle::Row seen(first, first + static_cast<std::ptrdiff_t>(spec.agents[agent].observation_size));
      const oracle::Row expected = oracle::soft_action(space, oracle::run(policy, seen), noise);
      for (std::size_t c = 0; c < expected.size(); ++c)
        EXPECT_NEAR(actions[world * spec.action_size() + offset + c], expected[c], 1e-5) << "agent " << agent;
    };
    Matrix noise(1 + kWorlds, space.action_size());
    sample_noise(space, noise.view(), streams.acting[agent]);
    const auto noise_row = [&](std::size_t row) {
      return oracle::Row(noise.row(row), noise.row(row) + space.action_size());
    };
    expect_action(0, noise_row(0), single);
    for (std::size_t world = 0; world < kWorlds; ++world) {
      expect_action(world, noise_row(1 + world), explored);
      expect_action(world, oracle::Row(space.action_size()), greedy);
    }
  }
}

TEST_P(OffPolicy, ManyWorldsActAlikeOnAnyNumberOfThreads) {
  const Journey journey(mixed_spec(), 300);
  std::vector<float> one(300 * journey.spec.action_size()), three(one);
  Pupil(GetParam(), journey.spec, small_options(60), 1, 1).learner->act(journey.observations, {}, 300, Acting::Explore, one);
  Pupil(GetParam(), journey.spec, small_options(60), 1, 3)
      .learner->act(journey.observations, {}, 300, Acting::Explore, three);
  EXPECT_EQ(one, three);
}

TEST_P(OffPolicy, RefusesWhatItCannotDo) {
  const auto message = [&](const EnvironmentSpec& spec, const OffPolicyOptions& options) -> std::string {
    try {
      const Pupil pupil(GetParam(), spec, options);
      return "accepted";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EnvironmentSpec spec = mixed_spec();
  spec.masks = true;
  EXPECT_EQ(message(spec, small_options(60)), "environment 'mixed' forbids actions by masks, which " +
                                                  std::string(name(GetParam())) + " cannot follow, expected ippo or mappo");
  spec = mixed_spec();
  spec.table.reset();
  OffPolicyOptions options = small_options(60);
  EXPECT_EQ(message(spec, options), "accepted");
  options.layout = ReplayLayout::State;
  EXPECT_THAT(message(spec, options), HasSubstr("does not say how observations follow from states"));
  options = small_options(60);
  options.capacity = 59;
  EXPECT_EQ(message(mixed_spec(), options), "replay holds 59 transitions, expected at least the 60 of the warm-up");
}

TEST(Semantics, HaveNames) {
  EXPECT_EQ(*parse_semantics("openai"), Semantics::OpenAi);
  EXPECT_EQ(to_string(*parse_semantics("shared")), "shared");
  EXPECT_EQ(parse_semantics("share").error().message,
            "semantics 'share' are not known (did you mean 'shared'?), expected one of shared, openai");
}

}  // namespace
}  // namespace tilewright
