// What agents see and are paid for, on worlds set up by hand.
#include "tilewright/particle/scenario.hpp"

#include <cmath>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

constexpr Dialect kDialects[] = {Dialect::OpenAi, Dialect::PettingZoo};

struct Game {
  std::unique_ptr<Scenario> scenario;
  std::vector<double> world;

  Game(std::string_view name, Dialect dialect, ScenarioSize size = {}) {
    const ScenarioEntry& entry = **find_scenario(name);
    scenario = entry.make(size.agents == 0 ? entry.size : size, dialect);
    world.resize(scenario->shape().size());
  }
  const WorldShape& shape() const { return scenario->shape(); }
  Game& put(std::size_t body, double x, double y) {
    world[shape().position(body)] = x;
    world[shape().position(body) + 1] = y;
    return *this;
  }
  // Landmarks count after the agents.
  Game& landmark(std::size_t index, double x, double y) { return put(shape().agents.size() + index, x, y); }
  Game& goal(std::size_t goal) {
    scenario->set_goal(goal, world.data());
    return *this;
  }
  Game& say(std::size_t agent, std::vector<double> word) {
    std::copy(word.begin(), word.end(), world.begin() + static_cast<std::ptrdiff_t>(shape().word(agent)));
    return *this;
  }
  std::vector<double> rewards() const {
    std::vector<double> rewards(shape().agents.size());
    scenario->rewards(world.data(), rewards);
    return rewards;
  }
  std::vector<double> seen(std::size_t agent) {
    scenario->derive(world.data());
    std::vector<double> numbers(view_size(scenario->view(agent)));
    observe(scenario->view(agent), world.data(), numbers.data());
    return numbers;
  }
};

using testing::Each;
using testing::ElementsAre;

TEST(Simple, SquaredDistanceInBothDialects) {
  for (const Dialect dialect : kDialects) {
    Game game("simple", dialect);
    game.put(0, 1, 2).landmark(0, 4, -2);
    EXPECT_THAT(game.rewards(), ElementsAre(-25));
    EXPECT_THAT(game.seen(0), ElementsAre(0, 0, 3, -4));
  }
}

TEST(Spread, OpenAiChargesEveryAgentForTouchingItself) {
  Game spread("simple_spread", Dialect::OpenAi);
  for (std::size_t i = 0; i < 3; ++i) spread.put(i, static_cast<double>(i), 0).landmark(i, static_cast<double>(i), 0);
  EXPECT_THAT(spread.rewards(), Each(-3.0));  // all covered, and yet -75 an agent in 25 steps
}

TEST(Spread, RewardsAreMinusDistancesAndTouches) {
  for (const Dialect dialect : kDialects) {
    Game spread("simple_spread", dialect);
    spread.put(0, 0, 0).put(1, 0.2, 0).put(2, 3, 0);                   // 0 and 1 touch
    spread.landmark(0, 0, 1).landmark(1, 0.2, 2).landmark(2, 3, 0.5);  // nearest at 1, 2, 0.5
    if (dialect == Dialect::OpenAi) {
      EXPECT_THAT(spread.rewards(), Each(3 * -3.5 - 3 - 2));
    } else {
      EXPECT_THAT(spread.rewards(), ElementsAre(-2.25, -2.25, -1.75));
    }
  }
}

TEST(Spread, TouchingIsStrict) {
  Game spread("simple_spread", Dialect::PettingZoo, {.agents = 2});
  spread.put(0, 0, 0).put(1, 0.3, 0).landmark(0, 0, 0).landmark(1, 0.3, 0);
  EXPECT_THAT(spread.rewards(), ElementsAre(0, 0));
}

TEST(Spread, SeesItselfLandmarksOthersAndSilence) {
  Game spread("simple_spread", Dialect::OpenAi);
  spread.put(0, 1, 2).put(1, 3, 5).put(2, 7, 11);
  spread.landmark(0, 13, 17).landmark(1, 19, 23).landmark(2, 29, 31);
  spread.world[spread.shape().velocity(1)] = 0.5;
  EXPECT_THAT(spread.seen(1), ElementsAre(0.5, 0, 3, 5, 10, 12, 16, 18, 26, 26, -2, -3, 4, 6, 0, 0, 0, 0));
}

TEST(Tag, EveryPredatorIsPaidForEveryCatch) {
  Game tag("simple_tag", Dialect::OpenAi, {.agents = 2, .prey = 2, .obstacles = 1});
  tag.put(0, 0, 0).put(1, 0.1, 0).put(2, 0.05, 0).put(3, 0.6, 0);  // prey 2 is touched by both
  EXPECT_THAT(tag.rewards(), ElementsAre(20, 20, -20, 0));
}

TEST(Tag, PreyPaysForLeaving) {
  Game tag("simple_tag", Dialect::PettingZoo);
  tag.put(0, 9, 9).put(1, 9, -9).put(2, -9, 9);
  const auto paid = [&](double x, double y) { return tag.put(3, x, y).rewards()[3]; };
  EXPECT_EQ(paid(0.8, -0.89), 0);
  EXPECT_NEAR(paid(-0.95, 0), -0.5, 1e-12);
  EXPECT_DOUBLE_EQ(paid(0, 1.5), -std::exp(1.0));
  EXPECT_EQ(paid(-5, 0), -10);
  EXPECT_NEAR(paid(1, 0.95), -1.5, 1e-12);
}

TEST(Tag, PredatorsSeeTheVelocitiesOfPreyOnly) {
  Game tag("simple_tag", Dialect::OpenAi, {.agents = 1, .prey = 2, .obstacles = 1});
  tag.put(0, 1, 1).put(1, 2, 3).put(2, 5, 7).landmark(0, 11, 13);
  for (std::size_t i = 0; i < 6; ++i) tag.world[i] = 10 + static_cast<double>(i);  // velocities
  EXPECT_THAT(tag.seen(0), ElementsAre(10, 11, 1, 1, 10, 12, 1, 2, 4, 6, 12, 13, 14, 15));
  EXPECT_THAT(tag.seen(1), ElementsAre(12, 13, 2, 3, 9, 10, -1, -2, 3, 4, 14, 15));
  EXPECT_THAT(tag.seen(2), ElementsAre(14, 15, 5, 7, 6, 6, -4, -6, -3, -4, 12, 13));
}

TEST(Adversary, GoodAgentsGainByTheAdversarysDistance) {
  for (const Dialect dialect : kDialects) {
    Game game("simple_adversary", dialect);
    game.put(0, 3, 0).put(1, 0, 1).put(2, 0, 0.5).landmark(0, 0, 0).landmark(1, 1, 1).goal(0);
    EXPECT_THAT(game.rewards(), ElementsAre(dialect == Dialect::OpenAi ? -9 : -3, 2.5, 2.5));
    EXPECT_THAT(game.seen(0), ElementsAre(-3, 0, -2, 1, -3, 1, -3, 0.5));
    EXPECT_THAT(game.goal(1).seen(1), ElementsAre(1, 0, 0, -1, 1, 0, 3, -1, 0, -0.5));
  }
}

TEST(Push, AdversaryWantsTheGoalForItself) {
  Game game("simple_push", Dialect::OpenAi);
  game.put(0, 0, 1).put(1, 3, 4).landmark(0, 9, 9).landmark(1, 0, 0).goal(1);
  EXPECT_THAT(game.rewards(), ElementsAre(4, -5));
  EXPECT_THAT(game.seen(0), ElementsAre(0, 0, 9, 8, 0, -1, 3, 3));
  EXPECT_THAT(game.seen(1), ElementsAre(0, 0, -3, -4, 0.25, 0.25, 0.75, 6, 5, -3, -4, 0.1, 0.9, 0.1, 0.1, 0.1, 0.9, -3, -3));
}

TEST(SpeakerListener, OpenAiAddsUp) {
  for (const Dialect dialect : kDialects) {
    Game game("simple_speaker_listener", dialect);
    game.put(1, 1, 1).landmark(0, 5, 5).landmark(1, 1, 3).landmark(2, 7, 7).goal(1).say(0, {0, 0.5, 0});
    EXPECT_THAT(game.rewards(), Each(dialect == Dialect::OpenAi ? -8 : -4));
    EXPECT_THAT(game.seen(0), ElementsAre(0.15, 0.65, 0.15));
    EXPECT_THAT(game.seen(1), ElementsAre(0, 0, 4, 4, 0, 2, 6, 6, 0, 0.5, 0));
  }
}

TEST(Reference, EachIsPaidForWhereTheOtherGoes) {
  for (const Dialect dialect : kDialects) {
    Game game("simple_reference", dialect);
    game.put(0, 0, 0).put(1, 1, 0).landmark(0, 0, 3).landmark(1, 1, 4).landmark(2, 8, 8);
    game.goal(1 + 3 * 0);  // agent 0 wants the other at landmark 1, agent 1 wants it at landmark 0
    if (dialect == Dialect::OpenAi) {
      EXPECT_THAT(game.rewards(), Each(-16 - 9));
    } else {
      EXPECT_THAT(game.rewards(), ElementsAre(-3.5 / 2 - 2, -3.5 / 2 - 1.5));
    }
    game.say(1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    EXPECT_THAT(game.seen(0), ElementsAre(0, 0, 0, 3, 1, 4, 8, 8, 0.25, 0.75, 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    EXPECT_EQ(game.seen(1)[8], 0.75);
  }
}

TEST(Crypto, EveIsPaidForUnderstandingAndSilenceCostsNothing) {
  Game game("simple_crypto", Dialect::OpenAi);
  game.goal(1 + 2 * 0);  // the message is word 1, the key word 0
  EXPECT_THAT(game.rewards(), ElementsAre(0, 0, 0));
  game.say(0, {1, 0, 0, 0}).say(1, {0, 1, 0, 0}).say(2, {0.5, 0, 0.5, 0});
  EXPECT_THAT(game.rewards(), ElementsAre(-2, 2, 2));
  EXPECT_THAT(game.seen(0), ElementsAre(0.5, 0, 0.5, 0));
  EXPECT_THAT(game.seen(1), ElementsAre(1, 0, 0, 0, 0.5, 0, 0.5, 0));
  EXPECT_THAT(game.seen(2), ElementsAre(0, 1, 0, 0, 1, 0, 0, 0));
}

// Landmarks: obstacle, food, food, forest, forest.
Game forest_world(Dialect dialect) {
  Game game("simple_world_comm", dialect);
  game.landmark(0, 50, 50).landmark(1, 0.5, 0).landmark(2, -0.5, 0).landmark(3, 10, 0).landmark(4, -10, 0);
  for (std::size_t i = 0; i < 6; ++i) game.put(i, 0, 2 + static_cast<double>(i));
  return game;
}

TEST(WorldComm, ForestsHideFromAllButTheLeader) {
  Game game = forest_world(Dialect::OpenAi);
  game.put(4, 10, 0.1);  // a prey in the first forest
  const auto hidden = [&](std::size_t viewer) {
    const std::vector<double> seen = game.seen(viewer);
    return seen[14 + 2 * 3] == 0 && seen[14 + 2 * 3 + 1] == 0;  // agent 4 is fourth of the others
  };
  EXPECT_TRUE(hidden(1));
  EXPECT_FALSE(hidden(0));
  game.put(1, 10.1, 0);  // the same forest
  EXPECT_FALSE(hidden(1));
  EXPECT_EQ(game.seen(1)[28], 1);  // it knows where it stands
  EXPECT_EQ(game.seen(1)[29], -1);
  game.put(1, -10, 0);  // the other forest
  EXPECT_TRUE(hidden(1));
}

TEST(WorldComm, PredatorsHearTheLeader) {
  Game game = forest_world(Dialect::OpenAi);
  game.say(0, {0, 0, 1, 0});
  for (std::size_t i = 0; i < 4; ++i) {
    const std::vector<double> seen = game.seen(i);
    ASSERT_EQ(seen.size(), 34U);
    EXPECT_EQ(seen[32], 1);
  }
  EXPECT_EQ(game.seen(4).size(), 28U);
}

TEST(WorldComm, RewardsFollowTheDialect) {
  for (const Dialect dialect : kDialects) {
    Game game = forest_world(dialect);
    game.put(0, 0.3, 0.04).put(4, 0.3, 0).put(5, -0.5, 0);  // leader on prey 4; prey 5 on food
    const double sign = dialect == Dialect::OpenAi ? 1 : -1;
    const std::vector<double> rewards = game.rewards();
    EXPECT_DOUBLE_EQ(rewards[0], 5 - 0.1 * 0.04);
    EXPECT_DOUBLE_EQ(rewards[1], 5 - 0.1 * std::hypot(0.3, 3.0));
    EXPECT_DOUBLE_EQ(rewards[4], -5 + sign * 0.05 * 0.2);
    EXPECT_DOUBLE_EQ(rewards[5], 2);
  }
}

TEST(Table, RebuildsObservationsOfRandomStates) {
  Rng rng(1, "table");
  for (const ScenarioEntry& entry : scenario_entries()) {
    if (entry.name == "simple_world_comm") continue;
    for (int repeat = 0; repeat < 20; ++repeat) {
      const ScenarioSize size = entry.scales ? ScenarioSize{static_cast<std::size_t>(rng.between(1, 9)), 3, 2} : entry.size;
      const std::unique_ptr<Scenario> scenario = entry.make(size, Dialect::OpenAi);
      const std::size_t agents = scenario->shape().agents.size();
      std::vector<double> world(scenario->shape().size());
      for (double& number : world) number = 2 * rng.uniform() - 1;
      scenario->set_goal(static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(scenario->goal_count()))),
                         world.data());
      const std::vector<float> state(world.begin(), world.end());
      const ObservationTable table = table_of(*scenario, agents);
      ASSERT_EQ(table.state_size, state.size());
      std::size_t entry_index = 0;
      for (std::size_t agent = 0; agent < agents; ++agent) {
        std::vector<float> seen(view_size(scenario->view(agent)));
        observe(scenario->view(agent), world.data(), seen.data());
        for (const float number : seen) {
          const ObservationEntry& from = table.entries[entry_index++];
          const float plus = from.plus == ObservationEntry::kNone ? 0 : state[static_cast<std::size_t>(from.plus)];
          const float minus = from.minus == ObservationEntry::kNone ? 0 : state[static_cast<std::size_t>(from.minus)];
          EXPECT_NEAR(number, plus - minus, 3e-7) << entry.name;
        }
      }
      EXPECT_EQ(entry_index, table.entries.size());
    }
  }
}

TEST(NumpySum, AddsInEightStrandsFromEightNumbersOn) {
  std::vector<double> values(19);
  Rng rng(1, "sum");
  for (double& value : values) value = rng.uniform() / 3;
  double strand[8];
  for (std::size_t k = 0; k < 8; ++k) strand[k] = values[k] + values[k + 8];
  double sum = ((strand[0] + strand[1]) + (strand[2] + strand[3])) + ((strand[4] + strand[5]) + (strand[6] + strand[7]));
  for (std::size_t k = 16; k < 19; ++k) sum += values[k];
  EXPECT_EQ(numpy_sum(values), sum);
  const std::vector<double> few = {0.1, 0.2, 0.3};
  EXPECT_EQ(numpy_sum(few), 0.1 + 0.2 + 0.3);
  const std::vector<double> many(300, 0.5);
  EXPECT_EQ(numpy_sum(many), 150);
}

TEST(FindScenario, UnknownNamesGetTheNearest) {
  const auto found = find_scenario("simple_spred");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, testing::HasSubstr("did you mean 'simple_spread'?"));
}

}  // namespace
}  // namespace tilewright
