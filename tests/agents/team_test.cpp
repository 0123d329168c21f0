#include "tilewright/agents/team.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../twins.hpp"
#include "target_space.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kObservation = 3;

// A team of three agents on one problem, and rows that show it the same thing every time.
struct Workshop {
  TargetSpace space{"target", 0.3F};
  TeamHeads heads{{&space}, space.parameters(), assign_by_role(space.parameters())};
  ThreadPool threads;
  std::unique_ptr<Team> team;

  explicit Workshop(const LearningOptions& options, std::uint64_t seed = 1, std::size_t thread_count = 1)
      : threads(thread_count) {
    auto made = Team::make(heads, kObservation, options, seed, threads);
    EXPECT_TRUE(made) << made.error().message;
    team = std::move(made).value();
  }

  TeamRows rows(std::size_t count) const {
    TeamRows rows(kObservation, heads.choice_count());
    for (std::size_t row = 0; row < count; ++row) {
      rows.add();
      rows.observation(row)[0] = 1;
      std::ranges::copy(heads.mask(0), rows.mask(row).begin());
    }
    return rows;
  }
  // The value of a head that the team chose.
  std::int32_t value(TeamRows& rows, std::size_t row, std::size_t head) const {
    return heads.values(0, head, team->choice(rows, row, head)).first;
  }
};

LearningOptions small_learner(Algorithm learner, Critic critic = Critic::Own) {
  LearningOptions options;
  options.learner = learner;
  options.critic = critic;
  options.hidden = 16;
  return options;
}

struct Learning {
  Algorithm learner;
  Critic critic;
};
class EachLearner : public testing::TestWithParam<Learning> {
 protected:
  LearningOptions options() const { return small_learner(GetParam().learner, GetParam().critic); }
  bool is_off_policy() const { return !is_on_policy(options().learner); }
};
INSTANTIATE_TEST_SUITE_P(Team, EachLearner,
                         testing::Values(Learning{Algorithm::Ippo, Critic::None}, Learning{Algorithm::Ippo, Critic::Own},
                                         Learning{Algorithm::Ippo, Critic::Central}, Learning{Algorithm::Mappo, Critic::Own},
                                         Learning{Algorithm::Maddpg, Critic::Own}, Learning{Algorithm::Masac, Critic::Own}),
                         [](const auto& tested) {
                           return std::string(name(tested.param.learner)) + "_" + std::string(name(tested.param.critic));
                         });

TEST_P(EachLearner, OnlyOpenChoicesAreMade) {
  Workshop shop(options());
  TeamRows rows = shop.rows(100);
  shop.team->act(rows);
  for (std::size_t row = 0; row < 100; ++row) {
    for (std::size_t head = 0; head < shop.heads.head_count(); ++head) {
      const std::size_t choice = shop.team->choice(rows, row, head);
      ASSERT_LT(choice, shop.heads.size_of(head));
      EXPECT_EQ(rows.mask(row)[shop.heads.offset_of(head) + choice], 1);
    }
  }
}

TEST_P(EachLearner, WhatIsHeldStays) {
  Workshop shop(options());
  TeamRows rows = shop.rows(60);
  Rng rng(1, "held");
  std::vector<std::vector<std::int32_t>> held(60, std::vector<std::int32_t>(shop.heads.head_count(), -1));
  for (std::size_t row = 0; row < 60; ++row) {
    for (std::size_t head = 0; head < shop.heads.head_count(); ++head) {
      if (rng.below(2) == 0) continue;
      const Parameter& declared = shop.space.parameters()[static_cast<std::size_t>(shop.heads.parameter(0, head))];
      const auto value = static_cast<std::int32_t>(rng.below(declared.value_count));
      const std::size_t choice = shop.heads.choice_of(0, head, value);
      held[row][head] = static_cast<std::int32_t>(choice);
      const auto open = rows.mask(row).subspan(shop.heads.offset_of(head), shop.heads.size_of(head));
      std::ranges::fill(open, 0.0F);
      open[choice] = 1;
    }
  }
  shop.team->act(rows);
  int moved = 0;
  for (std::size_t row = 0; row < 60; ++row) {
    for (std::size_t head = 0; head < shop.heads.head_count(); ++head) {
      const auto choice = static_cast<std::int32_t>(shop.team->choice(rows, row, head));
      if (held[row][head] < 0) {
        moved += choice != static_cast<std::int32_t>(shop.team->choice(rows, 0, head)) ? 1 : 0;
        continue;
      }
      EXPECT_EQ(choice, held[row][head]);
      const auto actions = rows.actions(row).subspan(shop.heads.offset_of(head), shop.heads.size_of(head));
      EXPECT_EQ(std::ranges::max_element(actions) - actions.begin(), held[row][head]);
    }
  }
  EXPECT_GT(moved, 20);
}

// A point per row is worth as much of the best point's entries as it has.
TEST_P(EachLearner, PoliciesMoveTowardsWhatIsRewarded) {
  const Twins runs = twins("share", 2, [&](std::uint64_t seed, bool learns) {
    LearningOptions chosen = options();
    chosen.learning_rate = learns ? 5e-3 : 0;
    Workshop shop(chosen, seed);
    const Point best = shop.space.best();
    const auto play = [&](bool learn) {
      TeamRows rows = shop.rows(64);
      shop.team->act(rows);
      std::vector<float> rewards;
      double share = 0;
      for (std::size_t row = 0; row < 64; ++row) {
        float reward = 0;
        for (std::size_t head = 0; head < shop.heads.head_count(); ++head) {
          const auto parameter = static_cast<std::size_t>(shop.heads.parameter(0, head));
          reward += shop.value(rows, row, head) == best[parameter] ? 1.0F : 0.0F;
        }
        rewards.push_back(reward);
        share += static_cast<double>(reward) / 6 / 64;
      }
      if (learn) shop.team->learn(rows, rewards);
      return share;
    };
    const int rounds = is_off_policy() ? 30 : 120;  // those update once per row
    for (int n = 0; n < rounds; ++n) play(true);
    EXPECT_GT(shop.team->update_count(), 20);
    double after = 0;
    for (int n = 0; n < 10; ++n) after += play(false) / 10;
    return after;
  });
  for (const double learned : runs.learning) EXPECT_GT(learned, 0.6);
  for (const double still : runs.still) EXPECT_LT(still, 0.3);
}

TEST_P(EachLearner, ASavedTeamActsAndLearnsAsTheOriginal) {
  Workshop shop(options()), twin(options());  // streams are a matter of the seed, how far they are of the file
  Rng rng(3, "rewards");
  const auto teach = [&](Workshop& pupil, Rng chance) {
    for (int n = 0; n < 3; ++n) {
      TeamRows rows = pupil.rows(32);
      pupil.team->act(rows);
      std::vector<float> rewards;
      for (int row = 0; row < 32; ++row) rewards.push_back(static_cast<float>(chance.uniform()));
      pupil.team->learn(rows, rewards);
    }
  };
  teach(shop, rng);
  const auto acted = [](Workshop& pupil) {
    TeamRows rows = pupil.rows(20);
    pupil.team->act(rows);
    std::vector<float> actions;
    for (std::size_t row = 0; row < 20; ++row) {
      actions.insert(actions.end(), rows.actions(row).begin(), rows.actions(row).end());
    }
    return actions;
  };
  TensorFile file;
  shop.team->save(file);
  ASSERT_TRUE(twin.team->load(file));
  EXPECT_EQ(acted(shop), acted(twin));
  if (is_off_policy()) return;  // what they remember is not saved
  teach(shop, rng);
  teach(twin, rng);
  EXPECT_EQ(acted(shop), acted(twin));
}

TEST_P(EachLearner, ActsAndLearnsTheSameOnAnyNumberOfThreads) {
  std::vector<std::vector<float>> runs;
  for (const std::size_t count : {1U, 2U}) {
    Workshop shop(options(), 5, count);
    std::vector<float>& actions = runs.emplace_back();
    for (int n = 0; n < 6; ++n) {
      TeamRows rows = shop.rows(64);
      shop.team->act(rows);
      std::vector<float> rewards;
      for (std::size_t row = 0; row < 64; ++row) {
        rewards.push_back(rows.actions(row)[3]);
        actions.insert(actions.end(), rows.actions(row).begin(), rows.actions(row).end());
      }
      shop.team->learn(rows, rewards);
    }
  }
  EXPECT_EQ(runs[1], runs[0]);
}

TEST(Team, RowsAreCopiedWhole) {
  TeamRows from(2, 3), to(2, 3);
  for (int n = 0; n < 3; ++n) from.add();
  from.observation(1)[1] = 4;
  from.mask(1)[2] = 1;
  from.actions(1)[0] = 0.5F;
  to.append(from, 2);
  to.append(from, 1);
  ASSERT_EQ(to.size(), 2U);
  EXPECT_EQ(to.observation(1)[1], 4);
  EXPECT_EQ(to.mask(1)[2], 1);
  EXPECT_EQ(to.actions(1)[0], 0.5F);
  EXPECT_EQ(to.observation(0)[1], 0);
  to.clear();
  EXPECT_EQ(to.size(), 0U);
}

TEST(Team, PoliciesOfAnotherFormAreRefused) {
  Workshop shop(small_learner(Algorithm::Ippo));
  LearningOptions wider = small_learner(Algorithm::Ippo);
  wider.hidden = 24;
  Workshop other(wider);
  TensorFile file;
  shop.team->save(file);
  EXPECT_FALSE(other.team->load(file));
}

}  // namespace
}  // namespace tilewright
