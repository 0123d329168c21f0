#include "tilewright/agents/chameleon.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "../twins.hpp"
#include "target_space.hpp"
#include "tilewright/agents/dcoc_problem.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

ChameleonOptions short_walks() {
  ChameleonOptions options;
  options.worlds = 32;
  options.steps = 75;
  options.learning.hidden = 16;
  return options;
}

struct Course {
  std::vector<Point> points;
  std::vector<std::size_t> rounds;  // proposals of each
  double best = 0;
  std::int64_t repeated = 0;
  std::vector<Calibration> calibrations;
};

Course run_chameleon(const DesignSpace& space, const ChameleonOptions& options, std::int64_t samples, std::uint64_t seed,
                     std::size_t thread_count = 1) {
  Course run;
  ThreadPool threads(thread_count);
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  searchers.push_back(make_chameleon(space, options, seed, threads));
  const auto searcher = each_alone(std::move(searchers));
  SearchLoop loop({&space}, *objective_named("latency"), samples, threads);
  loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict&) { run.points.push_back(proposal.point); };
  for (std::size_t before = 0; loop.round(*searcher); before = run.points.size()) {
    run.rounds.push_back(run.points.size() - before);
  }
  run.best = loop.ledgers()[0].best->score[0];
  run.repeated = loop.ledgers()[0].repeated;
  run.calibrations = calibrations_of(searcher->story().get(), 0);
  return run;
}

// Three steps from the best of a quarter of a million points, with policies that learn or stay as they are: the walk on the
// surrogate finds the way. The best of as many random points is at 2 to 3.
TEST(Chameleon, ComesCloseInALargeSpaceByWalkingOnTheSurrogate) {
  const TargetSpace space("target", 0.3F);
  for (const double learning_rate : {1e-3, 0.0}) {
    ChameleonOptions options = short_walks();
    options.learning.learning_rate = learning_rate;
    const Course run = run_chameleon(space, options, 400, 1);
    EXPECT_LT(run.best, 1.6);
    EXPECT_EQ(run.repeated, 0);
    for (const Point& point : run.points) EXPECT_TRUE(is_legal(space, point));
  }
}

// Sizes of 64 values are too far to drift to: here walks must learn where to go. Mean of the logarithms over six seeds,
// because single runs differ by as much.
TEST(Chameleon, FindsMoreByLearningWhereTheWayIsLong) {
  const TargetSpace space("target", 0.3F, 64);
  constexpr std::uint64_t kSeeds = 6;
  const Twins runs = twins("chameleon", kSeeds, [&](std::uint64_t seed, bool learns) {
    ChameleonOptions options = short_walks();
    if (!learns) options.learning.learning_rate = 0;
    return -std::log(run_chameleon(space, options, 400, seed).best) / kSeeds;
  });
  const double learned = std::accumulate(runs.learning.begin(), runs.learning.end(), 0.0);
  EXPECT_GT(learned, std::accumulate(runs.still.begin(), runs.still.end(), 0.0) + 0.25);
}

TEST(Chameleon, MeasuresAsManyAsThereAreClusters) {
  const TargetSpace space("target", 0.6F);
  const Course run = run_chameleon(space, short_walks(), 300, 2);
  EXPECT_EQ(run.rounds.front(), 64U);
  bool fewer = false;
  for (std::size_t round = 1; round < run.rounds.size(); ++round) {
    EXPECT_LE(run.rounds[round], 64U);
    fewer |= run.rounds[round] < 64;
  }
  EXPECT_TRUE(fewer);
  EXPECT_EQ(run.calibrations.size(), run.rounds.size() - 1);
}

TEST(Chameleon, IsAFunctionOfItsSeedAndNotOfTheThreads) {
  const TargetSpace space("target", 0.3F);
  const auto points = [&](std::uint64_t seed, std::size_t threads) {
    return run_chameleon(space, short_walks(), 150, seed, threads).points;
  };
  const std::vector<Point> first = points(3, 1);
  EXPECT_EQ(points(3, 2), first);
  EXPECT_NE(points(4, 1), first);
}

TEST(Chameleon, EndsWhenNothingIsLeft) {
  const TargetSpace space("tiny", 0.5F, 1, 16);  // 4 * 4 * 4 * 16 points
  ChameleonOptions options = short_walks();
  options.batch = 256;
  const Course run = run_chameleon(space, options, 5'000, 5);
  EXPECT_GT(run.points.size(), 800U);
  EXPECT_LE(run.points.size(), 1'024U);
  EXPECT_LT(run.best, 1.0001);
}

}  // namespace
}  // namespace tilewright
