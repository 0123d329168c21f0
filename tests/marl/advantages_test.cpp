#include "tilewright/marl/advantages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/marl/return_scale.hpp"
#include "tilewright/marl/rollout.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

struct Steps {
  std::vector<float> rewards, values, successor_values;
  std::vector<std::uint8_t> terminated, ended;
  std::vector<std::int32_t> next;
  RecordedSteps view() const { return {rewards, values, successor_values, terminated, ended, next}; }
  void add(float reward, float value, float successor_value, bool is_terminated, bool is_ended, std::int32_t next_row) {
    rewards.push_back(reward);
    values.push_back(value);
    successor_values.push_back(successor_value);
    terminated.push_back(is_terminated);
    ended.push_back(is_ended);
    next.push_back(next_row);
  }
  std::vector<float> advantages(double gamma, double lambda) const {
    std::vector<float> result(rewards.size());
    estimate_advantages(view(), gamma, lambda, result);
    return result;
  }
};

TEST(Advantages, TerminationForgetsWhatComesAfterAndTruncationDoesNot) {
  Steps steps;
  steps.add(1, 10, 20, true, true, kNoRow);
  steps.add(1, 10, 20, false, true, kNoRow);
  EXPECT_THAT(steps.advantages(0.5, 0.9), ElementsAre(1 - 10, 1 + 0.5F * 20 - 10));
}

TEST(Advantages, ErrorsAreHandedBackWithinAnEpisodeOnly) {
  Steps steps;  // two worlds in turn; the first truncates at row 2 and begins anew at row 4
  steps.add(1, 0, 0, false, false, 2);
  steps.add(2, 0, 0, false, false, 3);
  steps.add(4, 0, 0, false, true, 4);  // even a link is not followed over the end
  steps.add(8, 0, 0, false, false, kNoRow);
  steps.add(16, 0, 0, false, false, kNoRow);
  EXPECT_THAT(steps.advantages(1, 0.5), ElementsAre(1 + 0.5F * 4, 2 + 0.5F * 8, 4, 8, 16));
}

TEST(Advantages, AgreeWithTheDefinitionOnRandomRollouts) {
  Rng rng(3, "advantages");
  for (int round = 0; round < 50; ++round) {
    const std::size_t worlds = static_cast<std::size_t>(rng.between(1, 4));
    Steps steps;
    std::vector<std::int32_t> latest(worlds, kNoRow);
    for (std::int32_t row = 0; row < 60; ++row) {
      const auto world = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(worlds)));
      const std::int64_t fate = rng.below(10);  // 0 terminates, 1 truncates
      const auto number = [&] { return static_cast<float>(2 * rng.uniform() - 1); };
      if (latest[world] != kNoRow) steps.next[static_cast<std::size_t>(latest[world])] = row;
      steps.add(number(), number(), number(), fate == 0, fate <= 1, kNoRow);
      latest[world] = fate <= 1 ? kNoRow : row;
    }
    const double gamma = rng.uniform(), lambda = rng.uniform();
    const std::vector<float> advantages = steps.advantages(gamma, lambda);
    for (std::size_t begin = 0; begin < advantages.size(); ++begin) {
      double expected = 0;
      auto row = static_cast<std::int32_t>(begin);
      for (int k = 0; row != kNoRow; ++k) {
        const auto at = static_cast<std::size_t>(row);
        const double after = steps.terminated[at] != 0 ? 0 : gamma * static_cast<double>(steps.successor_values[at]);
        const double delta = static_cast<double>(steps.rewards[at]) + after - static_cast<double>(steps.values[at]);
        expected += std::pow(gamma * lambda, k) * delta;
        row = steps.ended[at] != 0 ? kNoRow : steps.next[at];
      }
      EXPECT_NEAR(advantages[begin], expected, 1e-5);
    }
  }
}

TEST(Advantages, NormalisedOnesHaveMeanZeroAndDeviationOne) {
  std::vector<float> values = {1, 100, 3, 5};
  const std::vector<std::uint32_t> rows = {0, 2, 3};
  normalise(values, rows);
  const float step = std::sqrt(1.5F);  // 1, 3, 5 have deviation sqrt(8/3)
  EXPECT_THAT(values, ElementsAre(::testing::FloatNear(-step, 1e-6F), 100, ::testing::FloatNear(0, 1e-6F),
                                  ::testing::FloatNear(step, 1e-6F)));
}

// Two agents with one observation and one action number each, in two worlds.
struct Recorder {
  EnvironmentSpec spec{
      .name = "test",
      .agents = {{.name = "a", .team = "", .observation_size = 1, .actions = {.categorical = {}, .continuous = 1}},
                 {.name = "b", .team = "", .observation_size = 1, .actions = {.categorical = {}, .continuous = 1}}},
      .episode_length = 9,
      .terminates = true,
      .masks = false,
      .table = std::nullopt};
  Rollout rollout{spec};
  std::vector<float> observations, next_observations, numbers;
  std::vector<std::uint8_t> terminated, truncated, live;

  // Observation of agent a in world w before step t: 100·t + 10·w + a.
  void step(int t, std::vector<std::uint8_t> live_worlds, std::vector<std::uint8_t> are_terminated,
            std::vector<std::uint8_t> are_truncated, bool cut = false) {
    observations.clear();
    next_observations.clear();
    for (int entry = 0; entry < 4; ++entry) {
      observations.push_back(static_cast<float>(100 * t + 10 * (entry / 2) + entry % 2));
      next_observations.push_back(observations.back() + 100);
    }
    numbers = observations;
    live = std::move(live_worlds);
    terminated = std::move(are_terminated);
    truncated = std::move(are_truncated);
    const Experience experience{.world_count = 2,
                                .observations = observations,
                                .states = {},
                                .masks = {},
                                .actions = numbers,
                                .rewards = numbers,
                                .next_observations = next_observations,
                                .next_states = {},
                                .terminated = terminated,
                                .truncated = truncated,
                                .live = live};
    rollout.add(experience);
    if (cut) rollout.close(experience);
  }
};

TEST(Rollout, LinksTheStepsOfEachWorldAndKeepsSuccessors) {
  Recorder recorder;
  recorder.step(0, {1, 1}, {0, 0, 1, 0}, {0, 0, 0, 0});  // agent a of world 1 is done early
  recorder.step(1, {1, 1}, {0, 0, 1, 0}, {0, 0, 0, 1});  // agent b of world 1 is truncated: world 1 has ended
  recorder.step(2, {1, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, true);
  const Rollout& rollout = recorder.rollout;
  ASSERT_EQ(rollout.size(), 5u);
  EXPECT_THAT(rollout.next(), ElementsAre(2, 3, 4, kNoRow, kNoRow));
  ASSERT_EQ(rollout.successors().rows, 2u);
  EXPECT_EQ(rollout.successors().row(0)[1], 211);  // world 1 after step 1
  EXPECT_EQ(rollout.successors().row(1)[0], 300);  // world 0 after step 2

  AgentSteps steps;
  rollout.read(0, steps);
  EXPECT_THAT(steps.samples, ElementsAre(0, 1, 2, 4));  // waits in row 3
  EXPECT_THAT(steps.rewards, ElementsAre(0, 10, 100, 110, 200));
  rollout.read(1, steps);
  EXPECT_THAT(steps.samples, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(steps.terminated, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(steps.ended, ElementsAre(0, 0, 0, 1, 0));

  std::vector<float> shifted;
  rollout.shift_values(std::vector<float>{1, 2, 3, 4, 5}, std::vector<float>{6, 7}, shifted);
  EXPECT_THAT(shifted, ElementsAre(3, 4, 5, 6, 7));
}

TEST(Rollout, EpisodesThatGoOnKeepWhoHasEnded) {
  Recorder recorder;
  recorder.step(0, {1, 1}, {0, 0, 1, 0}, {0, 0, 0, 0}, true);
  recorder.rollout.clear();
  recorder.step(1, {1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
  AgentSteps steps;
  recorder.rollout.read(0, steps);
  EXPECT_THAT(steps.samples, ElementsAre(0));            // of world 0 only
  EXPECT_EQ(recorder.rollout.successors().rows, 0u);     // nothing follows a world in which all terminated
  recorder.step(2, {1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0});  // world 1 begins anew
  recorder.rollout.read(0, steps);
  EXPECT_THAT(steps.samples, ElementsAre(0, 2, 3));
  EXPECT_THAT(recorder.rollout.next(), ElementsAre(2, kNoRow, kNoRow, kNoRow));
}

TEST(Rollout, DamagedFilesAreErrors) {
  Recorder recorder;
  recorder.step(0, {1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0});
  recorder.step(1, {1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0});
  TensorFile file;
  recorder.rollout.save("rollout", file);
  Rollout other(recorder.spec);
  ASSERT_TRUE(other.load("rollout", file));
  EXPECT_THAT(other.next(), ElementsAre(2, 3, kNoRow, kNoRow));

  TensorFile wrong = file;
  wrong.put("rollout.next", std::vector<std::int64_t>{2, 1, kNoRow, kNoRow});  // back to itself
  EXPECT_FALSE(other.load("rollout", wrong));
  wrong = file;
  wrong.put("rollout.successor", std::vector<std::int64_t>{kNoRow, kNoRow, 0, kNoRow});  // nothing is kept
  EXPECT_FALSE(other.load("rollout", wrong));
  wrong = file;
  wrong.put("rollout.latest", std::vector<std::int64_t>{2, 4});
  EXPECT_FALSE(other.load("rollout", wrong));
  wrong = file;
  wrong.put("rollout.observations", std::vector<float>(7));
  EXPECT_FALSE(other.load("rollout", wrong));
  wrong = file;
  wrong.tensors.erase("rollout.next");
  EXPECT_FALSE(other.load("rollout", wrong));
}

TEST(ReturnScale, KeepsWhatTheCriticStandsFor) {
  Mlp critic({2, {8}, 1, Activation::Tanh});
  initialise_orthogonal(critic, 1.4, 1, Rng(1, "critic"));
  const std::vector<float> x = {0.3F, -0.7F};
  ReturnScale scale;
  float y = 0;
  forward_one(critic, x.data(), &y);
  const float before = scale.to_return(y);
  EXPECT_EQ(before, y);
  for (int round = 0; round < 3; ++round) {
    const std::vector<float> returns = {-90, 1e6F, -110, -100 + static_cast<float>(round)};
    scale.follow(returns, std::vector<std::uint32_t>{0, 2, 3}, critic);
    forward_one(critic, x.data(), &y);
    EXPECT_NEAR(scale.to_return(y), before, 1e-3);
    EXPECT_NEAR(scale.to_return(scale.to_output(42)), 42, 1e-4);
  }
  EXPECT_NEAR(scale.mean, -99.6, 0.1);
  EXPECT_NEAR(scale.deviation, 8.2, 0.1);
}

}  // namespace
}  // namespace tilewright
