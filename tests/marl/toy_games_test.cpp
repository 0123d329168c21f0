#include "tilewright/marl/toy_games.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

namespace tilewright {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Environment> game(std::string_view name, std::size_t agents = 0, std::size_t worlds = 1,
                                  std::uint64_t seed = 7) {
  auto result = make_toy_game(name, agents, worlds, seed);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(result).value();
}

double listed_best_return(std::string_view name) {
  for (const ToyGame& toy : toy_games()) {
    if (toy.name == name) return toy.best_return;
  }
  return std::nan("");
}

// Sum of all rewards of one episode in world 0 under actions chosen by `policy` from the environment.
template <typename Policy>
double play_episode(Environment& environment, std::uint64_t episode, Policy policy) {
  environment.reset(episode);
  double total = 0;
  while (!has_ended(environment.arrays(), 0, environment.spec().agent_count())) {
    environment.step(policy(environment));
    total += std::accumulate(environment.arrays().rewards.begin(), environment.arrays().rewards.end(), 0.0);
  }
  return total;
}

// The best mean over `episodes` of a one-step game: every joint choice tried in every episode.
double best_by_trying(Environment& environment, std::uint64_t episodes) {
  const EnvironmentSpec& spec = environment.spec();
  std::vector<std::size_t> heads;
  for (const AgentSpec& agent : spec.agents)
    heads.insert(heads.end(), agent.actions.categorical.begin(), agent.actions.categorical.end());
  std::size_t joint_count = 1;
  for (const std::size_t choices : heads) joint_count *= choices;
  double sum = 0;
  for (std::uint64_t episode = 0; episode < episodes; ++episode) {
    double best = -1e9;
    for (std::size_t joint = 0; joint < joint_count; ++joint) {
      best = std::max(best, play_episode(environment, episode, [&](Environment& at) {
                        std::vector<float> actions(spec.action_size());
                        std::size_t rest = joint, offset = 0;
                        bool allowed = true;
                        for (const std::size_t choices : heads) {
                          const std::size_t entry = offset + rest % choices;
                          actions[entry] = 1;
                          allowed &= !spec.masks || at.arrays().masks[entry] == 1.0F;
                          rest /= choices;
                          offset += choices;
                        }
                        if (!allowed) std::ranges::fill(actions, 0.0F);  // counts as no payoff
                        return actions;
                      }));
    }
    sum += best;
  }
  return sum / static_cast<double>(episodes);
}

TEST(ToyGames, BestReturnsOfOneStepGamesAreTheBestOfAllJointChoices) {
  for (const char* name : {"toy:matrix", "toy:climbing", "toy:heads"}) {
    EXPECT_DOUBLE_EQ(best_by_trying(*game(name), 20), listed_best_return(name)) << name;
  }
  // Half of the episodes, by chance: 400 coins of +-4 have a standard error of 0.2.
  EXPECT_NEAR(best_by_trying(*game("toy:masked"), 400), listed_best_return("toy:masked"), 0.8);
}

TEST(ToyGames, WalkingStraightToTheMarksIsBest) {
  const auto toward_mark = [](Environment& at) {
    std::vector<float> actions(at.spec().action_size());
    for (std::size_t agent = 0; agent < at.spec().agent_count(); ++agent) {
      const float way = at.arrays().observations[at.spec().observation_offset(agent) + 1];
      if (at.spec().agents[agent].actions.continuous == 1) {
        actions[agent] = std::clamp(way, -1.0F, 1.0F);
      } else {
        actions[3 * agent + (way < -0.25F ? 0 : way > 0.25F ? 2 : 1)] = 1;
      }
    }
    return actions;
  };
  for (const char* name : {"toy:line", "toy:reach"}) {
    const auto environment = game(name);
    for (std::uint64_t episode = 0; episode < 20; ++episode) {
      EXPECT_NEAR(play_episode(*environment, episode, toward_mark), listed_best_return(name), 1e-5) << name;
      // An agent cannot come nearer than one per step, so no policy does better; standing still costs 10·(4 + 3).
      EXPECT_NEAR(play_episode(*environment, episode,
                               [](Environment& at) {
                                 std::vector<float> actions(at.spec().action_size());
                                 for (std::size_t i = 1; at.spec().terminates && i < 6; i += 3) actions[i] = 1;
                                 return actions;
                               }),
                  -70, 1e-4)
          << name;
    }
  }
}

TEST(ToyGames, SoftActionsPayTheExpectation) {
  const auto climbing = game("toy:climbing");
  climbing->reset(0);
  climbing->step(std::vector<float>{0.5F, 0.5F, 0, 0.25F, 0.75F, 0});
  // 0.5·0.25·11 - 0.5·0.75·30 - 0.5·0.25·30 + 0.5·0.75·7
  EXPECT_THAT(climbing->arrays().rewards, ElementsAre(-11.0F, -11.0F));

  const auto line = game("toy:line", 1);
  line->reset(0);
  const float position = line->arrays().observations[0];
  line->step(std::vector<float>{0.25F, 0.25F, 0.5F});
  EXPECT_EQ(line->arrays().observations[0], position + 0.25F);
}

TEST(ToyGames, ForbiddenChoicesPayNothing) {
  const auto masked = game("toy:masked", 0, 64);
  masked->reset(0);
  const std::vector<float> masks = masked->arrays().masks;
  std::vector<float> actions;
  for (std::size_t world = 0; world < 64; ++world) actions.insert(actions.end(), {0, 0, 1, 0, 1, 0});
  masked->step(actions);
  std::size_t forbidden = 0;
  for (std::size_t world = 0; world < 64; ++world) {
    const bool allowed = masks[6 * world + 2] == 1.0F;
    forbidden += allowed ? 0 : 1;
    EXPECT_EQ(masked->arrays().rewards[2 * world], allowed ? 10.0F : 0.0F);
    EXPECT_EQ(masked->arrays().observations[2 * world + 1], allowed ? 0.0F : 1.0F);
  }
  EXPECT_GT(forbidden, 16u);
  EXPECT_LT(forbidden, 48u);
}

TEST(ToyGames, LineObservationsFollowTheTable) {
  const auto line = game("toy:line", 3, 4);
  ASSERT_TRUE(line->spec().table);
  const ObservationTable& table = *line->spec().table;
  ASSERT_EQ(table.entries.size(), line->spec().observation_size());
  ASSERT_EQ(table.state_size, 6u);
  line->reset(5);
  for (int step = 0; step < 4; ++step) {
    for (std::size_t world = 0; world < 4; ++world) {
      const float* state = line->arrays().states.data() + world * table.state_size;
      for (std::size_t i = 0; i < table.entries.size(); ++i) {
        const auto [plus, minus] = table.entries[i];
        const float expected = (plus >= 0 ? state[plus] : 0.0F) - (minus >= 0 ? state[minus] : 0.0F);
        EXPECT_EQ(line->arrays().observations[world * table.entries.size() + i], expected);
      }
    }
    std::vector<float> actions;
    for (std::size_t i = 0; i < 12; ++i) actions.insert(actions.end(), {0.1F, 0.2F, 0.7F});
    line->step(actions);
  }
  for (const char* name : {"toy:matrix", "toy:reach", "toy:heads"}) EXPECT_FALSE(game(name)->spec().table) << name;
}

TEST(ToyGames, TheLineEndsByTerminationOrAfterTenSteps) {
  const auto line = game("toy:line", 1, 2);
  line->reset(0);
  const float way = line->arrays().observations[1];
  EXPECT_EQ(std::fabs(way), 4.0F);
  std::vector<float> actions = {way < 0 ? 1.0F : 0.0F, 0, way > 0 ? 1.0F : 0.0F, 0, 1, 0};  // world 1 stands
  for (int step = 1; step <= 10; ++step) {
    line->step(actions);
    EXPECT_EQ(line->arrays().terminated[0], step >= 4 ? 1 : 0);
    EXPECT_EQ(line->arrays().truncated[0], 0);
    EXPECT_EQ(line->arrays().terminated[1], 0);
    EXPECT_EQ(line->arrays().truncated[1], step == 10 ? 1 : 0);
    EXPECT_EQ(line->arrays().rewards[1], -4.0F);
  }
  // An ended world stands still, whatever it is told.
  const std::vector<float> before = line->arrays().observations;
  line->step(actions);
  EXPECT_EQ(line->arrays().observations, before);
  EXPECT_THAT(line->arrays().rewards, Each(0.0F));
  line->reset(2);
  EXPECT_THAT(line->arrays().terminated, Each(0));
  EXPECT_THAT(line->arrays().truncated, Each(0));
}

TEST(ToyGames, EpisodesDependOnSeedAndNumberOnly) {
  for (const char* name : {"toy:line", "toy:reach", "toy:masked", "toy:heads"}) {
    const auto many = game(name, 0, 8);
    many->reset(100);
    const std::size_t size = many->spec().observation_size();
    std::size_t different = 0;
    for (std::size_t world = 0; world < 8; ++world) {
      const auto one = game(name);
      one->reset(100 + world);
      EXPECT_TRUE(std::equal(one->arrays().observations.begin(), one->arrays().observations.end(),
                             many->arrays().observations.begin() + static_cast<std::ptrdiff_t>(world * size)));
      const auto other = game(name, 0, 1, 8);
      other->reset(100 + world);
      different += one->arrays().observations != other->arrays().observations ? 1 : 0;
    }
    EXPECT_GT(different, 0u) << name;
  }
}

TEST(ToyGames, SpecsAndArraysAgree) {
  for (const ToyGame& toy : toy_games()) {
    const auto environment = game(toy.name, 0, 3);
    const EnvironmentSpec& spec = environment->spec();
    environment->reset(0);
    const WorldArrays& arrays = environment->arrays();
    EXPECT_EQ(spec.name, toy.name);
    EXPECT_EQ(environment->world_count(), 3u);
    EXPECT_EQ(arrays.observations.size(), 3 * spec.observation_size());
    EXPECT_EQ(arrays.states.size(), 3 * spec.state_size());
    EXPECT_EQ(arrays.rewards.size(), 3 * spec.agent_count());
    EXPECT_EQ(arrays.masks.size(), spec.masks ? 3 * spec.action_size() : 0);
    EXPECT_EQ(arrays.terminated.size(), 3 * spec.agent_count());
    EXPECT_EQ(spec.masks, toy.name == "toy:masked");
    EXPECT_EQ(spec.terminates, toy.name != "toy:reach");
  }
}

TEST(ToyGames, WrongNamesAndNumbersAreErrors) {
  const auto unknown = make_toy_game("toy:climbin", 0, 1, 1);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("toy game 'toy:climbin' is unknown, expected one of toy:matrix"));
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean 'toy:climbing'?"));
  EXPECT_EQ(make_toy_game("toy:matrix", 3, 1, 1).error().message, "toy:matrix: 3 agents, expected 2");
  EXPECT_EQ(make_toy_game("toy:heads", 2, 1, 1).error().message, "toy:heads: 2 agents, expected 1");
  EXPECT_EQ(make_toy_game("toy:line", 65, 1, 1).error().message, "toy:line: 65 agents, expected 1 to 64");
  EXPECT_EQ(make_toy_game("toy:line", 2, 0, 1).error().message, "toy:line: 0 worlds, expected at least 1");
}

}  // namespace
}  // namespace tilewright
