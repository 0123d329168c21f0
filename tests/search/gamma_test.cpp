#include "tilewright/search/gamma.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gamma_runs.hpp"
#include "gamma_spaces.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/space/archgym_space.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A layer of two dimensions, small enough to try everything.
MappingSpace small_space() {
  Accelerator machine;
  machine.pes = 16;
  machine.noc.bandwidth = 4;
  MappingSpaceOptions options;
  options.tiles = Tiles::Divisors;
  return MappingSpace("small", *nest_of(fully_connected("small", 1, 32, 16)), machine, options);
}

std::unique_ptr<PointSearcher> gamma_on(const DesignSpace& space, const GammaOptions& options = {}, std::uint64_t seed = 1) {
  return std::move(make_gamma(space, options, 1000, seed)).value();
}

TEST(Gamma, SaysWhichSpaceItNeeds) {
  const ArchgymSpace space("gym", small_space().nest(), small_space().accelerator(), {});
  const auto made = make_gamma(space, {}, 1000, 1);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("expected the space mapping"));
}

TEST(Gamma, RefusesAPopulationWithoutParents) {
  const MappingSpace space = small_space();
  GammaOptions options;
  options.population = 2;
  const auto made = make_gamma(space, options, 1000, 1);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("expected at least one individual"));
}

TEST(Gamma, FirstTwoIndividualsHaveUnitTiles) {
  const MappingSpace space = gamma_space(kResnet);
  GammaOptions options;
  options.population = 20;
  const auto searcher = gamma_on(space, options);
  std::vector<Point> points;
  searcher->ask(100, points);
  ASSERT_EQ(points.size(), 20U);
  for (std::size_t n = 0; n < points.size(); ++n) {
    bool unit = true;
    for (const Slot slot : {Slot::K, Slot::C, Slot::Y, Slot::X}) {
      unit = unit && space.tile_of(points[n], 0, slot) == 1 && space.tile_of(points[n], 1, slot) == 1;
    }
    EXPECT_EQ(unit, n < 2);
    EXPECT_EQ(space.tile_of(points[n], 1, Slot::R), 3);
  }
}

// Verdicts that like small numbers of one kind: the sum of the entries.
std::vector<Verdict> verdicts_for(const std::vector<Point>& points, bool feasible) {
  std::vector<Verdict> verdicts;
  for (const Point& point : points) {
    double sum = 0;
    for (const std::int32_t entry : point) sum += entry;
    verdicts.push_back({feasible, 0, {sum, 0, 0}});
  }
  return verdicts;
}

TEST(Gamma, TheEliteIsProposedAgainBeforeTheChildren) {
  const MappingSpace space = gamma_space(kResnet);
  GammaOptions options;
  options.population = 20;
  const auto searcher = gamma_on(space, options);
  std::vector<Point> first, second;
  searcher->ask(100, first);
  const std::vector<Verdict> verdicts = verdicts_for(first, true);
  searcher->tell(first, verdicts);
  searcher->ask(100, second);
  EXPECT_EQ(second.size(), 21U);  // a twentieth of the population, and as many children as there were different individuals
  const auto best = std::ranges::min_element(verdicts, {}, [](const Verdict& verdict) { return verdict.score; });
  EXPECT_EQ(second[0], first[static_cast<std::size_t>(best - verdicts.begin())]);
}

TEST(Gamma, AGenerationWithoutValidIndividualsIsDrawnAnew) {
  const MappingSpace space = gamma_space(kResnet);
  GammaOptions options;
  options.population = 20;
  const auto searcher = gamma_on(space, options);
  std::vector<Point> first, second;
  searcher->ask(100, first);
  searcher->tell(first, verdicts_for(first, false));
  searcher->ask(100, second);
  EXPECT_EQ(second.size(), 20U);
  EXPECT_NE(second, first);
  for (std::size_t n = 0; n < 2; ++n) EXPECT_EQ(space.tile_of(second[n], 0, Slot::K), 1);
}

// Every proposal of a search, asked in pieces of at most `most`.
std::vector<Point> proposals(const DesignSpace& space, std::size_t most, std::size_t count, std::uint64_t seed) {
  const auto searcher = gamma_on(space, {}, seed);
  const auto evaluator = space.evaluator();
  const Objective objective;
  std::vector<Point> all, points;
  std::vector<Verdict> verdicts;
  while (all.size() < count) {
    points.clear();
    verdicts.clear();
    searcher->ask(std::min(most, count - all.size()), points);
    EXPECT_GE(points.size(), 1U);
    EXPECT_LE(points.size(), most);
    for (const Point& point : points) {
      EXPECT_TRUE(is_legal(space, point));
      Point canonical = point;
      space.canonicalise(canonical);
      EXPECT_EQ(canonical, point);
      verdicts.push_back(verdict_of(objective, evaluator->evaluate(point)));
    }
    searcher->tell(points, verdicts);
    all.insert(all.end(), points.begin(), points.end());
  }
  return all;
}

TEST(Gamma, ProposalsDependOnTheSeedAndNotOnThePieces) {
  for (const Tiles tiles : {Tiles::Any, Tiles::Divisors}) {
    const MappingSpace space = many_levels(tiles);
    const std::vector<Point> at_once = proposals(space, 1000, 300, 7);
    EXPECT_EQ(proposals(space, 7, 300, 7), at_once);
    EXPECT_NE(proposals(space, 1000, 300, 8), at_once);
  }
}

TEST(Gamma, LevelsComeAndGoUnlessConstrained) {
  const auto levels_of = [](const MappingSpace& space) {
    std::set<std::size_t> levels;
    for (const Point& point : proposals(space, 1000, 300, 1)) levels.insert(space.level_count(point));
    return levels;
  };
  EXPECT_THAT(levels_of(many_levels(Tiles::Any)), ElementsAre(1, 2, 3));
  EXPECT_THAT(levels_of(many_levels(Tiles::Gamma)), ElementsAre(1));
}

TEST(Gamma, SearchesTheNumberOfProcessingElements) {
  MappingSpaceOptions options;
  options.search_pes = true;
  const MappingSpace space("pes", small_space().nest(), small_space().accelerator(), options);
  std::vector<std::int64_t> seen;
  for (const Point& point : proposals(space, 1000, 300, 1)) seen.push_back(space.pes(point));
  EXPECT_EQ(*std::ranges::min_element(seen), 1);
  EXPECT_EQ(*std::ranges::max_element(seen), 16);
}

double best_of(const MappingSpace& space, const std::vector<Point>& points) {
  const auto evaluator = space.evaluator();
  double best = std::numeric_limits<double>::infinity();
  for (const Point& point : points) {
    const Outcome outcome = evaluator->evaluate(point);
    if (outcome.feasible) best = std::min(best, outcome.metrics.edp());
  }
  return best;
}

TEST(Gamma, FindsTheOptimumOfASmallSpace) {
  const MappingSpace space = small_space();
  std::vector<Point> all;
  Point point(space.parameters().size(), 0);
  const auto walk = [&](const auto& self, std::size_t parameter) -> void {
    if (parameter == point.size()) return all.push_back(point);
    Choices choices;
    space.choices(point, parameter, choices);
    for (std::int32_t n = 0; n < choices.count(); ++n) {
      point[parameter] = choices[n];
      self(self, parameter + 1);
    }
  };
  walk(walk, 0);
  EXPECT_EQ(all.size(), 100'800U);
  const double optimum = best_of(space, all);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const double best = best_of(space, proposals(space, 2000, 2000, seed));
    EXPECT_LE(best, 2 * optimum) << seed;
    found += best == optimum ? 1 : 0;
  }
  EXPECT_GE(found, 4);
  int drawn = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed, "drawn");
    std::vector<Point> points;
    for (int n = 0; n < 2000; ++n) points.push_back(random_point(space, rng));
    drawn += best_of(space, points) == optimum ? 1 : 0;
  }
  EXPECT_LE(drawn, 1);
}

// Twenty runs of the real program beside ten of ours. For runs of the same program the chance that one is better than the
// other is 0.5, and its standard deviation over such samples is 0.12.
TEST(Gamma, SearchesAsTheRealProgramDoes) {
  const auto runs = read_gamma_runs(TILEWRIGHT_TEST_DATA "/gamma/gamma_seeds.csv");
  ASSERT_TRUE(runs) << runs.error().message;
  for (const auto& [network, layer, objective] :
       {std::tuple("resnet18", 20, "energy"), std::tuple("mobilenet_v2", 4, "latency"), std::tuple("vgg16", 2, "EDP")}) {
    const GammaCase one{network, layer, objective, 20, 10, 168, 512, 108'000};
    std::vector<double> real_best, real_share, our_best, our_share;
    std::vector<std::int64_t> samples;
    for (const RecordedRun& run : *runs) {
      if (run.run_of != one) continue;
      const GammaState& end = run.states.back();
      samples.push_back(end.samples);
      real_best.push_back(end.best_audited);
      real_share.push_back(static_cast<double>(end.accepted) / static_cast<double>(end.samples));
    }
    ASSERT_EQ(real_best.size(), 20U);
    std::ranges::sort(samples);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const GammaState end = run_gamma(one, samples[10], seed).back();
      our_best.push_back(end.best_audited);
      our_share.push_back(static_cast<double>(end.accepted) / static_cast<double>(end.samples));
    }
    EXPECT_NEAR(chance_of_less(our_best, real_best), 0.5, 0.3) << name_of(one);
    EXPECT_NEAR(chance_of_less(our_share, real_share), 0.5, 0.3) << name_of(one);
  }
}

// Tiles of more rows and columns than the output has are legal by GAMMA's rule, and MAESTRO prices them at next to nothing.
TEST(Gamma, SomeRunsFallIntoMaestrosHole) {
  const GammaCase one{"resnet18", 2, "latency", 100, 20, 168, 512, 108'000};
  double best = std::numeric_limits<double>::infinity();
  double best_audited = best;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const GammaState end = run_gamma(one, 1000, seed).back();
    best = std::min(best, end.best_accepted);
    best_audited = std::min(best_audited, end.best_audited);
  }
  EXPECT_LT(best, 10'000);
  EXPECT_GE(best_audited, 639'854);  // MACs over processing elements
}

}  // namespace
}  // namespace tilewright
