#include "tilewright/agents/agents_searcher.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "course.hpp"
#include "target_space.hpp"
#include "tilewright/base/file.hpp"

namespace tilewright {
namespace {

using testing::HasSubstr;
using Spaces = std::vector<const DesignSpace*>;

// Two problems of a family and a small team.
struct Bench {
  TargetSpace one{"one", 0.2F}, other{"other", 0.7F};
  Spaces spaces = {&one, &other};
  ThreadPool threads{1};
  AgentsOptions options;

  Bench() {
    options.team.learning.hidden = 16;
    options.explore_share = 0.25;
  }
  std::unique_ptr<AgentsSearcher> make(std::int64_t samples, std::uint64_t seed = 1, const SavedTeam* from = nullptr) {
    auto made = AgentsSearcher::make(spaces, options, samples, seed, threads, from);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made).value();
  }
  std::string refusal(std::int64_t samples = 100) {
    const auto made = AgentsSearcher::make(spaces, options, samples, 1, threads);
    return made ? "" : made.error().message;
  }
};

TEST(AgentsSearcher, ExplorationIsChargedAndBounded) {
  Bench bench;
  const auto searcher = bench.make(200);
  EXPECT_FALSE(agents_story(*searcher)->team);  // no team yet
  const Course course = run(*searcher, bench.spaces, 200, bench.threads);
  EXPECT_EQ(agents_story(*searcher)->explored, 2 * 50);  // a quarter of both budgets
  EXPECT_EQ(course.ledgers[0].samples, 200);
  EXPECT_EQ(course.ledgers[1].samples, 200);
  EXPECT_EQ(course.proposals.size(), 400U);
  ASSERT_TRUE(agents_story(*searcher)->team);

  bench.options.explore_samples = 30;  // of both problems together
  const auto bounded = bench.make(200);
  run(*bounded, bench.spaces, 200, bench.threads);
  EXPECT_EQ(agents_story(*bounded)->explored, 30);
}

TEST(AgentsSearcher, WhatIsKnownIsHeardLateAndThenUsed) {
  Bench bench;
  bench.options.known_after = 0.3;
  const auto of_one = [&](bool told, std::uint64_t seed) {
    const auto searcher = bench.make(200, seed);
    const std::vector<Proposal> known = {{0, bench.one.best()}};
    if (told) searcher->notice(known, std::vector<Verdict>{{true, 0, {1, 0, 0}}});
    std::vector<Point> made;
    for (const Proposal& proposal : run(*searcher, bench.spaces, 200, bench.threads).proposals) {
      if (proposal.problem == 0) made.push_back(proposal.point);
    }
    return made;
  };
  std::ptrdiff_t near_told = 0, near_alone = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const std::vector<Point> told = of_one(true, seed), alone = of_one(false, seed);
    // Until then it proposes as if nothing were known; afterwards it refines the known point.
    EXPECT_EQ(std::vector(told.begin(), told.begin() + 60), std::vector(alone.begin(), alone.begin() + 60));
    const auto near = [&](const Point& point) { return bench.one.latency(point) < 1.6; };
    near_told += std::count_if(told.begin() + 60, told.begin() + 120, near);
    near_alone += std::count_if(alone.begin() + 60, alone.begin() + 120, near);
  }
  EXPECT_GT(near_told, 2 * near_alone);
}

TEST(AgentsSearcher, TheFirstSamplesAreThoseOfTheExplorer) {
  for (const char* policy : {"random", "sobol", "genetic"}) {
    Bench bench;
    bench.options.explore = policy;
    const auto searcher = bench.make(160, 3);
    const Course course = run(*searcher, bench.spaces, 160, bench.threads);
    const auto explorer = std::move(make_explorer(bench.spaces, {policy, 40, 3})).value();
    const Course expected = run(*explorer, bench.spaces, 40, bench.threads);
    for (std::size_t problem = 0; problem < 2; ++problem) {
      std::vector<Point> first, same;
      for (const Proposal& proposal : course.proposals) {
        if (proposal.problem == problem && first.size() < 40) first.push_back(proposal.point);
      }
      for (const Proposal& proposal : expected.proposals) {
        if (proposal.problem == problem) same.push_back(proposal.point);
      }
      EXPECT_EQ(first, same) << policy;
    }
  }
}

TEST(AgentsSearcher, ClustersAreThoseOfTheExploredSamples) {
  Bench bench;
  bench.options.explore_share = 0.5;
  bench.options.agents = 3;
  const auto searcher = bench.make(600);
  run(*searcher, bench.spaces, 310, bench.threads);
  ASSERT_TRUE(agents_story(*searcher)->clustered);
  const ClusteredAgents clustered = *agents_story(*searcher)->clustered;
  EXPECT_EQ(agents_story(*searcher)->assignment, clustered.assignment);
  EXPECT_EQ(agents_story(*searcher)->assignment.agents.size(), 3U);
  // Sizes A and B make up for each other, so one agent has both.
  EXPECT_THAT(clustered.assignment.agents, testing::Contains(testing::IsSupersetOf({"tile.A@0", "tile.B@0"})));
  EXPECT_EQ(agents_story(*searcher)->team->assignment.agents, clustered.assignment.agents);
}

TEST(AgentsSearcher, AssignmentsByName) {
  Bench bench;
  const auto agents = [&](const std::string& assign) {
    bench.options.assign = *assignment_choice(assign);
    const auto searcher = bench.make(60);
    run(*searcher, bench.spaces, 60, bench.threads);
    EXPECT_FALSE(agents_story(*searcher)->clustered) << assign;
    EXPECT_EQ(agents_story(*searcher)->team->assignment.agents, agents_story(*searcher)->assignment.agents);
    return agents_story(*searcher)->assignment.agents;
  };
  EXPECT_EQ(agents("single").size(), 1U);
  EXPECT_EQ(agents("per-parameter").size(), 6U);
  EXPECT_THAT(agents("by-role"),
              testing::UnorderedElementsAre(testing::UnorderedElementsAre("tile.A@0", "tile.B@0", "tile.C@0"),
                                            testing::UnorderedElementsAre("order.A@0", "order.B@0"),
                                            testing::UnorderedElementsAre("parallel@0")));
  EXPECT_EQ(agents("random:4").size(), 4U);
}

TEST(AgentsSearcher, AnAssignmentFromAFile) {
  Bench bench;
  const Scratch scratch;
  const auto path = scratch / "tilewright_assignment.yaml";
  const AgentAssignment halves{{{"tile.A@0", "parallel@0", "order.Z@7"}, {"order.A@0", "order.B@0", "tile.B@0"}}, "by hand"};
  ASSERT_TRUE(write_file(path, to_yaml(halves)));
  bench.options.assign = *assignment_choice(path.string());
  const auto searcher = bench.make(60);
  // What is not there is dropped, and what nobody has goes to the agent with most of its role.
  EXPECT_EQ(agents_story(*searcher)->assignment.agents.size(), 2U);
  EXPECT_THAT(agents_story(*searcher)->assignment.agents[0],
              testing::UnorderedElementsAre("tile.A@0", "parallel@0", "tile.C@0"));
  run(*searcher, bench.spaces, 60, bench.threads);

  ASSERT_TRUE(write_file(path, to_yaml(AgentAssignment{{{"tile.Q@0"}, {"seed_l2"}}, "of another space"})));
  EXPECT_THAT(bench.refusal(), HasSubstr("no name, 'tile.Q@0' the first, is a parameter of the design space"));
  ASSERT_TRUE(write_file(path, "agents: 3\n"));
  EXPECT_THAT(bench.refusal(), HasSubstr("tilewright_assignment.yaml"));
}

TEST(AgentsSearcher, AnAssignmentFromMemoryIsThatOfItsFile) {
  Bench bench;
  const AgentAssignment halves{{{"tile.A@0", "parallel@0", "order.Z@7"}, {"order.A@0", "order.B@0", "tile.B@0"}}, "by hand"};
  bench.options.assign = halves;
  EXPECT_EQ(text_of(bench.options.assign), "by hand");
  const auto searcher = bench.make(60);
  EXPECT_THAT(agents_story(*searcher)->assignment.agents[0],
              testing::UnorderedElementsAre("tile.A@0", "parallel@0", "tile.C@0"));
  bench.options.assign = AgentAssignment{{{"tile.Q@0"}}, "of another space"};
  EXPECT_THAT(bench.refusal(), HasSubstr("the assignment: no name, 'tile.Q@0' the first"));
}

TEST(AgentsSearcher, WrongOptionsAreRefusedBeforeTheFirstSample) {
  const auto refusal = [](const auto& change) {
    Bench bench;
    change(bench.options);
    return bench.refusal();
  };
  const auto misread = [](const char* text) { return assignment_choice(text).error().message; };
  EXPECT_THAT(misread("by-rule"), HasSubstr("assignment 'by-rule' is not known (did you mean 'by-role'?) and is no file"));
  for (const char* wrong : {"random:0", "random:x", "random:"}) {
    EXPECT_THAT(misread(wrong), HasSubstr("expected random:K with K from 1 to the number of parameters"));
  }
  EXPECT_THAT(refusal([](AgentsOptions& o) { o.assign = RandomAgents{7}; }),
              HasSubstr("expected random:K with K from 1 to 6"));
  EXPECT_THAT(refusal([](AgentsOptions& o) { o.explore = "sobel"; }), HasSubstr("did you mean 'sobol'?"));
  for (const auto& [setting, value, hint] : {std::tuple("agents.correlation", "person", "did you mean 'pearson'?"),
                                             std::tuple("agents.linkage", "wart", "did you mean 'ward'?"),
                                             std::tuple("agents.learner", "ipo", "did you mean 'ippo'?"),
                                             std::tuple("agents.critic", "centrl", "did you mean 'central'?")}) {
    AgentsOptions options;
    EXPECT_THAT(apply_settings({{setting, value}}, "agents", settings_of(options)).error().message, HasSubstr(hint));
  }
  EXPECT_THAT(refusal([](AgentsOptions& o) { o.threshold = 0.5, o.agents = 3; }),
              HasSubstr("agents.threshold and agents.agents are both given"));
}

TEST(AgentsSearcher, EveryMeasureAndLinkageMakesATeam) {
  for (const Dependence correlation : all_dependences()) {
    for (const Linkage linkage : {Linkage::Average, Linkage::Ward}) {
      Bench bench;
      bench.options.correlation = correlation;
      bench.options.linkage = linkage;
      const auto searcher = bench.make(100);
      run(*searcher, bench.spaces, 40, bench.threads);
      EXPECT_THAT(agents_story(*searcher)->assignment.origin, HasSubstr(std::string(name(correlation))));
      EXPECT_THAT(agents_story(*searcher)->assignment.origin, HasSubstr(std::string(name(linkage))));
    }
  }
}

TEST(AgentsSearcher, AThresholdCutsTheDendrogram) {
  Bench bench;
  bench.options.threshold = 1e-9;
  const auto apart = bench.make(100);
  run(*apart, bench.spaces, 40, bench.threads);
  EXPECT_EQ(agents_story(*apart)->assignment.agents.size(), 6U);
  bench.options.threshold = 10;
  const auto together = bench.make(100);
  run(*together, bench.spaces, 40, bench.threads);
  EXPECT_EQ(agents_story(*together)->assignment.agents.size(), 1U);
}

// The team samples near the optimum, where parameters depend on each other otherwise than among random points.
TEST(AgentsSearcher, DriftRevisesTheAssignmentAndKeepsTheBest) {
  Bench bench;
  bench.options.drift = 150;
  bench.options.drift_limit = 1;  // any other clustering
  const auto searcher = bench.make(400);
  const Course course = run(*searcher, bench.spaces, 400, bench.threads);
  EXPECT_GT(agents_story(*searcher)->revisions, 0);
  EXPECT_EQ(course.ledgers[0].samples, 400);
  EXPECT_EQ(agents_story(*searcher)->team->assignment.agents, agents_story(*searcher)->assignment.agents);
  // The best point of each problem is the first that the new team remembers.
  const SavedTeam saved = *agents_story(*searcher)->team;
  const TeamHeads heads(bench.spaces, saved.parameters, saved.assignment);
  for (std::size_t problem = 0; problem < 2; ++problem) {
    std::vector<std::int32_t> expected;
    for (std::size_t head = 0; head < heads.head_count(); ++head) {
      const auto parameter = static_cast<std::size_t>(heads.parameter(problem, head));
      const std::int32_t value = course.ledgers[problem].best->point[parameter];
      expected.push_back(static_cast<std::int32_t>(heads.choice_of(problem, head, value)));
    }
    EXPECT_EQ(saved.memory.problems[problem].points.front().choices, expected);
  }
  EXPECT_LT(course.ledgers[0].repeated + course.ledgers[1].repeated, 20);  // what was tried is still known
}

TEST(AgentsSearcher, WithoutDriftNothingIsRevised) {
  Bench bench;
  const auto never = bench.make(200);
  const Course plain = run(*never, bench.spaces, 200, bench.threads);
  EXPECT_EQ(agents_story(*never)->revisions, 0);
  bench.options.drift = 50;
  bench.options.drift_limit = -1;  // no clustering is that different
  const auto looking = bench.make(200);
  EXPECT_EQ(points(run(*looking, bench.spaces, 200, bench.threads)), points(plain));
  EXPECT_EQ(agents_story(*looking)->revisions, 0);
}

TEST(AgentsSearcher, ATrainedTeamStartsWithoutExploration) {
  Bench bench;
  const auto teacher = bench.make(200);
  run(*teacher, bench.spaces, 200, bench.threads);
  const SavedTeam saved = *agents_story(*teacher)->team;
  bench.options.assign = *assignment_choice("clusters");
  const auto pupil = bench.make(100, 2, &saved);
  run(*pupil, bench.spaces, 60, bench.threads);
  EXPECT_EQ(agents_story(*pupil)->explored, 0);
  EXPECT_EQ(agents_story(*pupil)->assignment.agents, saved.assignment.agents);

  SavedTeam foreign = saved;
  for (auto& agent : foreign.assignment.agents) {
    for (std::string& name : agent) name = "x." + name;
  }
  const auto refused = AgentsSearcher::make(bench.spaces, bench.options, 100, 1, bench.threads, &foreign);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the trained team: no name"));
}

TEST(AgentsSearcher, EveryLearnerAndCriticRunsTheSameOnAnyNumberOfThreads) {
  for (const auto& [learner, critic] : {std::pair(Algorithm::Ippo, Critic::None),
                                        {Algorithm::Ippo, Critic::Own},
                                        {Algorithm::Ippo, Critic::Central},
                                        {Algorithm::Mappo, Critic::Own},
                                        {Algorithm::Maddpg, Critic::Own},
                                        {Algorithm::Masac, Critic::Own}}) {
    std::vector<std::vector<Point>> runs;
    for (const std::size_t count : {1U, 2U}) {
      Bench bench;
      ThreadPool threads(count);
      bench.options.team.learning.learner = learner;
      bench.options.team.learning.critic = critic;
      bench.options.team.batch = 32;
      const auto made = AgentsSearcher::make(bench.spaces, bench.options, 160, 4, threads);
      ASSERT_TRUE(made) << made.error().message;
      const Course course = run(**made, bench.spaces, 160, threads);
      EXPECT_EQ(course.ledgers[0].samples, 160) << name(learner);
      runs.push_back(points(course));
    }
    EXPECT_EQ(runs[0], runs[1]) << name(learner) << " " << name(critic);
  }
}

TEST(AgentsSearcher, SettingsReadBack) {
  AgentsOptions options;
  const std::vector<SettingValue> values = values_of(settings_of(options));
  Settings given;
  for (const SettingValue& value : values) {
    EXPECT_FALSE(value.meaning.empty()) << value.name;
    given["agents." + value.name] = value.value;
  }
  EXPECT_EQ(given.size(), values.size());
  AgentsOptions again;
  ASSERT_TRUE(apply_settings(given, "agents", settings_of(again)));
  EXPECT_EQ(values_of(settings_of(again)), values);
}

}  // namespace
}  // namespace tilewright
