// AutoTVM on a space whose optimum is known, and every classical searcher on co-design spaces.
#include "tilewright/search/autotvm.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "synthetic_space.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/search/searchers.hpp"
#include "tilewright/space/codesign_optimum.hpp"

namespace tilewright {
namespace {

// Where it is not the quality of the search that is tested.
const Settings kShortWalks = {{"autotvm.steps", "50"}, {"autotvm.chains", "32"}};

struct Trip {
  std::vector<Point> points;
  std::vector<bool> feasible;
  double best = 1e300;
};

Trip travel(const std::string& name, const DesignSpace& space, std::size_t samples, std::uint64_t seed,
            const std::string& objective, const Settings& settings = {}, std::size_t chunk = 1'000'000) {
  auto made = make_classical_searcher(name, space, static_cast<std::int64_t>(samples), seed, settings);
  if (!made) throw std::runtime_error(made.error().message);
  const Objective minimised = *objective_named(objective);
  const auto evaluator = space.evaluator();
  Trip course;
  while (course.points.size() < samples) {
    std::vector<Point> asked;
    made.value()->ask(std::min(chunk, samples - course.points.size()), asked);
    if (asked.empty()) break;
    std::vector<Verdict> verdicts;
    for (const Point& point : asked) {
      EXPECT_TRUE(is_legal(space, point));
      verdicts.push_back(verdict_of(minimised, evaluator->evaluate(point)));
      course.feasible.push_back(verdicts.back().feasible);
      if (verdicts.back().feasible) course.best = std::min(course.best, verdicts.back().score[0]);
    }
    made.value()->tell(asked, verdicts);
    course.points.insert(course.points.end(), asked.begin(), asked.end());
  }
  return course;
}

double median_gap(const std::string& name, const DesignSpace& space, std::size_t samples, double optimum,
                  const std::string& objective) {
  std::vector<double> gaps;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    gaps.push_back(travel(name, space, samples, seed, objective).best / optimum);
  }
  std::ranges::sort(gaps);
  return gaps[1];
}

Layer square(std::int64_t size, std::int64_t channels) {
  return convolution("layer", {.out_channels = channels,
                               .in_channels = channels,
                               .in_height = size,
                               .in_width = size,
                               .kernel_height = 3,
                               .kernel_width = 3,
                               .pad = 1});
}

TEST(Autotvm, FindsMoreThanRandomDrawsOnTheSyntheticSpace) {
  const SyntheticSpace space;
  const double optimum = synthetic_optimum(space.sizes());
  const double found = median_gap("autotvm", space, 320, optimum, "energy");
  EXPECT_LT(found, 1.4);
  EXPECT_LT(found - 1, 0.5 * (median_gap("random", space, 320, optimum, "energy") - 1));
}

TEST(Autotvm, NeverRepeatsAndTriesAllOfASmallSpace) {
  const SyntheticSpace space({.a = 3, .b = 2, .room = 6});
  std::size_t all = 0;
  for_each_point(space, [&](const Point& point) {
    Point canonical = point;
    space.canonicalise(canonical);
    all += canonical == point ? 1 : 0;
  });
  for (const char* loss : {"reg", "rank"}) {
    const Trip course = travel("autotvm", space, 100'000, 1, "energy", {{"autotvm.loss", loss}, {"autotvm.steps", "50"}});
    EXPECT_EQ(course.points.size(), all);
    EXPECT_EQ(std::set<Point>(course.points.begin(), course.points.end()).size(), all);
    EXPECT_EQ(course.best, synthetic_optimum(space.sizes()));
  }
}

TEST(Autotvm, PlansTheBestPointsFirstAndRandomOnesLast) {
  const SyntheticSpace space;
  const auto searcher = make_autotvm(space, {}, 1000, 7);
  ASSERT_TRUE(searcher);
  const auto evaluator = space.evaluator();
  const Objective objective = *objective_named("energy");
  double at_first = 0, chosen = 0, drawn = 0;  // throughput of the first plan, and of the parts of the others
  constexpr int kPlans = 6;
  for (int plan = 0; plan < kPlans; ++plan) {
    std::vector<Point> points;
    (*searcher)->ask(1000, points);
    ASSERT_EQ(points.size(), 64U);
    std::vector<Verdict> verdicts;
    for (std::size_t n = 0; n < points.size(); ++n) {
      verdicts.push_back(verdict_of(objective, evaluator->evaluate(points[n])));
      const double throughput = verdicts[n].feasible ? 1 / verdicts[n].score[0] : 0;
      (plan == 0 ? at_first : n < 61 ? chosen : drawn) += throughput;
    }
    (*searcher)->tell(points, verdicts);
  }
  at_first /= 64;
  chosen /= 61 * (kPlans - 1);
  drawn /= 3 * (kPlans - 1);
  EXPECT_GT(chosen, 2.5 * at_first);
  EXPECT_GT(chosen, 2.5 * drawn);
}

TEST(Autotvm, GivesTheSameForTheSameSeed) {
  const SyntheticSpace space;
  const Trip one = travel("autotvm", space, 200, 3, "energy", kShortWalks);
  EXPECT_EQ(one.points, travel("autotvm", space, 200, 3, "energy", kShortWalks).points);
  EXPECT_NE(one.points, travel("autotvm", space, 200, 4, "energy", kShortWalks).points);
  // Asked in pieces it still spends all samples, each on another point.
  const Trip pieces = travel("autotvm", space, 200, 3, "energy", kShortWalks, 7);
  EXPECT_EQ(std::set<Point>(pieces.points.begin(), pieces.points.end()).size(), 200U);
}

TEST(Autotvm, NamesWrongSettings) {
  const SyntheticSpace space;
  const auto made = make_classical_searcher("autotvm", space, 100, 1, {{"autotvm.plans", "3"}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("autotvm has no setting 'plans'"), std::string::npos) << made.error().message;
  EXPECT_EQ(classical_settings("autotvm", {{"autotvm.depth", "4"}}).value().size(), 15U);
}

TEST(Autotvm, ComesCloseToTheOptimumOfAFixedMachine) {
  CodesignSpaceOptions options;
  options.fixed_machine = true;
  const CodesignSpace space("c11", square(7, 512), options);
  const auto optimum = codesign_optimum(space);
  ASSERT_TRUE(optimum);
  EXPECT_EQ(optimum->points, 576);
  const double cycles = optimum->outcome.metrics.latency;
  int drawn = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    EXPECT_LT(travel("autotvm", space, 128, seed, "latency").best, 1.0005 * cycles) << seed;
    drawn += travel("random", space, 128, seed, "latency").best < 1.0005 * cycles ? 1 : 0;
  }
  EXPECT_LE(drawn, 1);
  EXPECT_EQ(travel("autotvm", space, 576, 1, "latency", kShortWalks).best, cycles);
}

// As many samples as there are points: what is shown is that nobody gets stuck, not that anybody is clever.
TEST(ClassicalSearchers, ComeCloseToTheOptimumOfASpaceAsLargeAsTheirBudget) {
  CodesignSpaceOptions options;
  options.log_batches = {0};
  options.log_blocks_in = {4, 5};
  options.log_blocks_out = {4, 5};
  options.area_budget = 1.3;
  options.give_up = 0;
  const CodesignSpace space("tiny", square(6, 32), options);
  const double optimum = codesign_optimum(space)->outcome.metrics.latency;
  for (const std::string name : {"random", "exhaustive", "genetic", "annealing", "ant-colony", "bayesian", "autotvm"}) {
    const Settings quick = {{"bayesian.points", "100"}, {"bayesian.candidates", "60"}, {"bayesian.refined", "20"}};
    const Trip course = travel(name, space, 576, 1, "latency", quick);
    EXPECT_LE(course.best, optimum * (name == "exhaustive" || name == "autotvm" ? 1 : 1.02)) << name;
    EXPECT_TRUE(std::ranges::count(course.feasible, false) > 0 || name == "ant-colony") << name;
  }
}

}  // namespace
}  // namespace tilewright
