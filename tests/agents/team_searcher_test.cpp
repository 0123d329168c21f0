#include "tilewright/agents/team_searcher.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "../twins.hpp"
#include "course.hpp"
#include "target_space.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

using Spaces = std::vector<const DesignSpace*>;

TeamOptions small_networks() {
  TeamOptions options;
  options.learning.hidden = 16;
  return options;
}

std::unique_ptr<TeamSearcher> make(const Spaces& spaces, ThreadPool& threads, std::uint64_t seed = 1,
                                   const TeamOptions& options = small_networks(), const SavedTeam* from = nullptr) {
  const std::vector<Parameter> parameters = all_parameters(spaces);
  auto made = TeamSearcher::make(spaces, assign_by_role(parameters), options, seed, threads, from);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(made).value();
}

// Samples until the optimum, which costs 1, was found, or all of them.
std::int64_t samples_to_best(Searcher& searcher, const DesignSpace& space, std::int64_t samples, ThreadPool& threads) {
  SearchLoop loop({&space}, *objective_named("latency"), samples, threads);
  const Ledger& ledger = loop.ledgers()[0];
  while (loop.round(searcher)) {
    if (ledger.best && ledger.best->score[0] < 1.0001) return ledger.improvements.back().sample;
  }
  return samples;
}

// Refinements and exchanges do, whether the policies learn or not. Random draws would need a hundred times as many.
TEST(TeamSearcher, FindsTheOptimumOfAQuarterMillionPointsByRefinement) {
  ThreadPool threads(1);
  for (const bool learn : {true, false}) {
    for (const float feature : {0.2F, 0.7F}) {
      const TargetSpace space("target", feature);
      std::vector<std::int64_t> needed;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        TeamOptions options = small_networks();
        options.learn = learn;
        needed.push_back(samples_to_best(*make({&space}, threads, seed, options), space, 3000, threads));
      }
      std::ranges::sort(needed);
      EXPECT_LT(needed[1], 1500) << feature;
    }
  }
}

// The same moves with policies that stay as they were do not come near. What was proposed before is drawn again at random,
// so learned constructions are at their best until there is nothing new left near the optimum.
TEST(TeamSearcher, ConstructionsGetBetterByLearning) {
  ThreadPool threads(1);
  const TargetSpace space("target", 0.4F);
  const Twins runs = twins("constructions", 4, [&](std::uint64_t seed, bool learns) {
    TeamOptions options = small_networks();
    options.construction = 1;
    options.exchange = 0;
    options.elites = 0;
    options.learning.learning_rate = learns ? 3e-3 : 0;
    return -static_cast<double>(samples_to_best(*make({&space}, threads, seed, options), space, 3000, threads));
  });
  expect_ahead(runs, 1500);
}

TEST(TeamSearcher, WithLearningOffPoliciesStayAsTheyWere) {
  ThreadPool threads(1);
  const TargetSpace space("target", 0.4F);
  const auto policies = [&](bool learn, std::int64_t samples) {
    TeamOptions options = small_networks();
    options.learn = learn;
    const auto searcher = make({&space}, threads, 1, options);
    run(*searcher, {&space}, samples, threads);
    return searcher->saved().policies.tensors.at("agent_0.actor.weight0").bytes;
  };
  EXPECT_EQ(policies(false, 100), policies(true, 0));
  EXPECT_NE(policies(true, 100), policies(true, 0));
}

// A space of four valleys far apart, one for each value of the first parameter, and one of them a little deeper.
class ValleySpace final : public DesignSpace {
 public:
  ValleySpace() {
    parameters_ = {{"parallel@0", ParameterKind::Categorical, Role::Parallelism, 4}};
    for (const char* name : {"tile.A@0", "tile.B@0", "tile.C@0", "tile.D@0"}) {
      parameters_.push_back({name, ParameterKind::Ordinal, Role::Tile, 16});
    }
  }
  const std::string& name() const override { return name_; }
  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void choices(PointView, std::size_t parameter, Choices& choices) const override {
    choices.set_below(parameters_[parameter].value_count);
  }
  double value(std::size_t parameter, std::int32_t index) const override { return parameter == 0 ? index : index + 1; }
  std::string value_name(std::size_t, std::int32_t index) const override { return std::to_string(index); }
  void canonicalise(std::span<std::int32_t>) const override {}
  std::unique_ptr<PointEvaluator> evaluator() const override {
    struct Evaluator final : PointEvaluator {
      Outcome evaluate(PointView point) override {
        double apart = 0;
        for (std::size_t i = 1; i < point.size(); ++i)
          apart += std::abs(point[i] - (point[0] * 5 + 7 * static_cast<int>(i)) % 16);
        Outcome outcome{true, 0, {}};
        outcome.metrics.latency = (point[0] == 2 ? 1 : 1.1) * std::exp(0.15 * apart);
        return outcome;
      }
    };
    return std::make_unique<Evaluator>();
  }
  std::string reason_name(std::uint8_t) const override { return ""; }
  const std::vector<float>& features() const override { return features_; }
  void append_design(PointView point, std::string& bytes) const override {
    for (const std::int32_t entry : point) bytes.push_back(static_cast<char>(entry));
  }
  std::uint64_t problem_key() const override { return 7; }
  std::string problem_text() const override { return "{}"; }
  double log10_size() const override { return 5.4; }

 private:
  std::string name_ = "valleys";
  std::vector<Parameter> parameters_;
  std::vector<float> features_{0.5F};
};

TEST(TeamSearcher, BeginsAgainAtADeadEnd) {
  ThreadPool threads(1);
  const ValleySpace space;
  const auto needed = [&](std::int64_t patience) {
    std::int64_t sum = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      TeamOptions options = small_networks();
      options.patience = patience;
      sum += samples_to_best(*make({&space}, threads, seed, options), space, 6000, threads);
    }
    return sum;
  };
  const std::int64_t patient = needed(0), renewed = needed(100);
  EXPECT_LT(renewed, 0.7 * static_cast<double>(patient)) << renewed << " of " << patient;
}

TEST(TeamSearcher, HardlyEverProposesAPointTwiceAndNeverAnIllegalOne) {
  ThreadPool threads(1);
  const TargetSpace one("one", 0.2F), other("other", 0.6F);
  const auto searcher = make({&one, &other}, threads);
  const Course course = run(*searcher, {&one, &other}, 600, threads);
  EXPECT_EQ(course.proposals.size(), 1200U);
  EXPECT_LE(course.ledgers[0].repeated + course.ledgers[1].repeated, 24);
  for (const Proposal& proposal : course.proposals) EXPECT_TRUE(is_legal(one, proposal.point));
}

TEST(TeamSearcher, GoesOnWhereEverythingWasTried) {
  ThreadPool threads(1);
  const TargetSpace space("tiny", 0.5F, 1, 1);  // 4 * 4 * 4 * 16 points, those with the smallest third size feasible
  const auto searcher = make({&space}, threads);
  const Course course = run(*searcher, {&space}, 1500, threads);
  EXPECT_EQ(course.ledgers[0].samples, 1500);
  EXPECT_GT(course.ledgers[0].rejected.at(1), 0);
  EXPECT_LT(course.ledgers[0].best->score[0], 1.0001);
}

TEST(TeamSearcher, IsAFunctionOfItsSeedAndNotOfTheThreads) {
  const TargetSpace one("one", 0.2F), other("other", 0.6F);
  std::vector<std::vector<Point>> runs;
  for (const auto& [count, seed] : {std::pair(1, 4), {2, 4}, {1, 5}}) {
    ThreadPool threads(static_cast<std::size_t>(count));
    const auto searcher = make({&one, &other}, threads, static_cast<std::uint64_t>(seed));
    runs.push_back(points(run(*searcher, {&one, &other}, 400, threads)));
  }
  EXPECT_EQ(runs[1], runs[0]);
  EXPECT_NE(runs[2], runs[0]);
}

TEST(TeamSearcher, WhatItNoticesIsNotProposedAgainAndMayBeAnElite) {
  ThreadPool threads(1);
  const TargetSpace space("target", 0.3F);
  const Point best = space.best();
  std::array<int, 2> near = {0, 0};
  for (const bool noticed : {false, true}) {
    const auto searcher = make({&space}, threads);
    if (noticed) searcher->notice(0, best, {true, 0, {1, 0, 0}});
    const Course course = run(*searcher, {&space}, 80, threads);
    for (const Proposal& proposal : course.proposals) {
      near[noticed] += space.latency(proposal.point) < 2 ? 1 : 0;
      EXPECT_TRUE(!noticed || proposal.point != best);
    }
  }
  EXPECT_GT(near[1], 2 * near[0] + 5);  // refinements begin from it
}

TEST(TeamSearcher, ReadFromDiskItProposesTheSame) {
  ThreadPool threads(1);
  const TargetSpace one("one", 0.2F), other("other", 0.6F), third("third", 0.4F);
  const Scratch scratch;
  const auto folder = scratch / "team";
  for (const Algorithm learner : {Algorithm::Ippo, Algorithm::Masac}) {
    std::filesystem::remove_all(folder);
    TeamOptions options;
    options.learning.learner = learner;
    options.learning.hidden = 16;
    const auto searcher = make({&one, &other}, threads, 1, options);
    run(*searcher, {&one, &other}, 300, threads);
    const SavedTeam saved = searcher->saved();
    ASSERT_TRUE(write_team(saved, folder));
    const auto read = read_team(folder);
    ASSERT_TRUE(read) << read.error().message;
    const auto from_memory = make({&third}, threads, 9, small_networks(), &saved);
    const auto from_disk = make({&third}, threads, 9, small_networks(), &*read);
    EXPECT_EQ(points(run(*from_memory, {&third}, 200, threads)), points(run(*from_disk, {&third}, 200, threads)))
        << name(learner);
    EXPECT_EQ(saved.learner, learner);
    EXPECT_EQ(saved.memory.problems.size(), 2U);
  }
  std::filesystem::remove_all(folder);
}

// Nobody learns here: what helps are the points that were best in similar problems.
TEST(TeamSearcher, WhatATeamRemembersHelpsWithASimilarProblem) {
  ThreadPool threads(1);
  std::vector<TargetSpace> family;
  for (int i = 0; i < 6; ++i) family.emplace_back("member", 0.05F + 0.18F * static_cast<float>(i), 24);
  Spaces spaces;
  for (const TargetSpace& space : family) spaces.push_back(&space);
  TeamOptions options = small_networks();
  options.learn = false;
  std::int64_t scratch = 0, remembering = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto teacher = make(spaces, threads, seed, options);
    run(*teacher, spaces, 500, threads);
    const SavedTeam saved = teacher->saved();
    for (const float feature : {0.3F, 0.8F}) {
      const TargetSpace space("new", feature, 24);
      scratch += samples_to_best(*make({&space}, threads, seed, options), space, 2000, threads);
      remembering += samples_to_best(*make({&space}, threads, seed, options, &saved), space, 2000, threads);
    }
  }
  EXPECT_LT(remembering, 0.7 * static_cast<double>(scratch)) << remembering << " of " << scratch;
}

// Elsewhere 3 of 16; here the size 3 as well as the place, which is 8 of 64. The whole stays the whole.
TEST(TeamSearcher, BeginsWithRememberedPointsBySizeAndByPlace) {
  ThreadPool threads(1);
  const TargetSpace small("small", 0.3F, 16), large("large", 0.3F, 64);
  const auto teacher = make({&small}, threads);
  const Point remembered = {1, 3, 1, 2, 15, 3};
  teacher->notice(0, remembered, {true, 0, {1}});
  const SavedTeam saved = teacher->saved();
  const auto searcher = make({&large}, threads, 1, small_networks(), &saved);
  std::vector<Proposal> proposals;
  searcher->ask(std::vector<std::int64_t>{2}, proposals);
  ASSERT_EQ(proposals.size(), 2U);
  EXPECT_EQ(proposals[0].point, (Point{1, 3, 1, 2, 63, 3}));
  const Point& by_place = proposals[1].point;
  EXPECT_NEAR(by_place[TargetSpace::kTileA] + 1, std::pow(64, std::log(3) / std::log(16)), 2);
  EXPECT_GT(by_place[TargetSpace::kTileB], 55);
}

// A trained team keeps its form; the rest of the options are those given.
TEST(TeamSearcher, TheFormOfATrainedTeamIsItsOwn) {
  ThreadPool threads(1);
  const TargetSpace space("target", 0.3F);
  TeamOptions small;
  small.learning.hidden = 8;
  small.learning.critic = Critic::Central;
  const auto searcher = make({&space}, threads, 1, small);
  run(*searcher, {&space}, 100, threads);
  const SavedTeam saved = searcher->saved();
  const auto grown = make({&space}, threads, 2, small_networks(), &saved);
  EXPECT_EQ(grown->saved().hidden, 8);
  EXPECT_EQ(grown->saved().critic, Critic::Central);
  EXPECT_EQ(grown->saved().assignment, saved.assignment);
}

TEST(TeamSearcher, NothingToDecideIsTriedToo) {
  ThreadPool threads(1);
  class Empty final : public DesignSpace {
   public:
    const std::string& name() const override { return name_; }
    const std::vector<Parameter>& parameters() const override { return parameters_; }
    void choices(PointView, std::size_t, Choices& choices) const override { choices.set_below(1); }
    double value(std::size_t, std::int32_t) const override { return 0; }
    std::string value_name(std::size_t, std::int32_t) const override { return ""; }
    void canonicalise(std::span<std::int32_t>) const override {}
    std::unique_ptr<PointEvaluator> evaluator() const override {
      struct One final : PointEvaluator {
        Outcome evaluate(PointView) override {
          Outcome outcome{true, 0, {}};
          outcome.metrics.latency = 1;
          return outcome;
        }
      };
      return std::make_unique<One>();
    }
    std::string reason_name(std::uint8_t) const override { return ""; }
    const std::vector<float>& features() const override { return features_; }
    void append_design(PointView, std::string&) const override {}
    std::uint64_t problem_key() const override { return 1; }
    std::string problem_text() const override { return "{}"; }
    double log10_size() const override { return 0; }

   private:
    std::string name_ = "empty";
    std::vector<Parameter> parameters_;
    std::vector<float> features_ = {0, 0};
  };
  const Empty empty;
  const TargetSpace space("target", 0.3F);
  for (const Spaces& spaces : {Spaces{&empty}, Spaces{&empty, &space}}) {
    const auto searcher = make(spaces, threads);
    const Course course = run(*searcher, spaces, 40, threads);
    EXPECT_EQ(course.ledgers[0].valid, 40);
    const SavedTeam saved = searcher->saved();
    run(*make(spaces, threads, 2, small_networks(), &saved), spaces, 40, threads);
  }
}

}  // namespace
}  // namespace tilewright
