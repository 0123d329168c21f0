// The classical searchers on a space whose optimum is known.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic_space.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright {
namespace {

// A process of few points and candidates, where it is not the quality of the search that is tested.
const Settings kQuick = {{"bayesian.points", "40"},
                         {"bayesian.candidates", "40"},
                         {"bayesian.refined", "20"},
                         {"bayesian.fit_points", "30"},
                         {"bayesian.batch", "8"}};

// All but gamma, which only works on mappings.
const std::vector<std::string> kAll = {"random", "exhaustive", "genetic", "annealing", "ant-colony", "bayesian"};
const std::vector<std::string> kGuided = {"genetic", "annealing", "ant-colony", "bayesian"};

std::unique_ptr<PointSearcher> make(const std::string& name, const DesignSpace& space, std::int64_t samples,
                                    std::uint64_t seed, const Settings& settings = {}) {
  auto made = make_classical_searcher(name, space, samples, seed, settings);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(made).value();
}

struct Course {
  std::vector<Point> points;
  std::optional<Score> best;
};

// Asks for `chunk` points at a time until `samples` are spent or there are none left.
Course run(PointSearcher& searcher, const DesignSpace& space, std::size_t samples, std::size_t chunk = 1000000,
           const std::string& objective = "energy") {
  const Objective minimised = *objective_named(objective);
  const auto evaluator = space.evaluator();
  Course result;
  while (result.points.size() < samples) {
    const std::size_t room = std::min(chunk, samples - result.points.size());
    std::vector<Point> asked;
    searcher.ask(room, asked);
    if (asked.empty()) break;
    EXPECT_LE(asked.size(), room);
    std::vector<Verdict> verdicts;
    for (const Point& point : asked) {
      verdicts.push_back(verdict_of(minimised, evaluator->evaluate(point)));
      const Verdict& verdict = verdicts.back();
      if (verdict.feasible && (!result.best || verdict.score < *result.best)) result.best = verdict.score;
    }
    searcher.tell(asked, verdicts);
    result.points.insert(result.points.end(), asked.begin(), asked.end());
  }
  return result;
}

// The best found over the optimum, middle of five seeds.
double median_gap(const std::string& name, const DesignSpace& space, std::size_t samples, double optimum) {
  std::vector<double> gaps;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto searcher = make(name, space, static_cast<std::int64_t>(samples), seed);
    gaps.push_back(run(*searcher, space, samples).best.value()[0] / optimum);
  }
  std::sort(gaps.begin(), gaps.end());
  return gaps[2];
}

// A space in which nothing is feasible.
class HopelessSpace final : public DesignSpace {
 public:
  const std::string& name() const override { return inner_.name(); }
  const std::vector<Parameter>& parameters() const override { return inner_.parameters(); }
  void choices(PointView point, std::size_t parameter, Choices& choices) const override {
    inner_.choices(point, parameter, choices);
  }
  double value(std::size_t parameter, std::int32_t index) const override { return inner_.value(parameter, index); }
  std::string value_name(std::size_t parameter, std::int32_t index) const override {
    return inner_.value_name(parameter, index);
  }
  void canonicalise(std::span<std::int32_t> point) const override { inner_.canonicalise(point); }
  std::unique_ptr<PointEvaluator> evaluator() const override {
    struct Refusing final : PointEvaluator {
      Outcome evaluate(PointView) override { return {false, 1, {}}; }
    };
    return std::make_unique<Refusing>();
  }
  std::string reason_name(std::uint8_t reason) const override { return inner_.reason_name(reason); }
  const std::vector<float>& features() const override { return inner_.features(); }
  void append_design(PointView point, std::string& bytes) const override { inner_.append_design(point, bytes); }
  std::uint64_t problem_key() const override { return 2; }
  std::string problem_text() const override { return inner_.problem_text(); }
  double log10_size() const override { return inner_.log10_size(); }

 private:
  SyntheticSpace inner_{{.a = 6, .b = 4}};
};

class EachSearcher : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Classical, EachSearcher, testing::ValuesIn(kAll), [](const auto& tested) {
  std::string name = tested.param;
  std::erase(name, '-');
  return name;
});

TEST_P(EachSearcher, ProposesLegalCanonicalPointsAndNeverMoreThanAsked) {
  const SyntheticSpace space;
  for (const std::size_t chunk : {1, 7, 1000000}) {
    const auto searcher = make(GetParam(), space, 500, 3, kQuick);
    const Course done = run(*searcher, space, 500, chunk);
    ASSERT_EQ(done.points.size(), 500);
    for (const Point& point : done.points) {
      ASSERT_TRUE(is_legal(space, point));
      Point canonical = point;
      space.canonicalise(canonical);
      ASSERT_EQ(canonical, point);
    }
  }
}

TEST_P(EachSearcher, IsAFunctionOfItsSeed) {
  const SyntheticSpace space;
  const Course one = run(*make(GetParam(), space, 400, 5, kQuick), space, 400);
  const Course same = run(*make(GetParam(), space, 400, 5, kQuick), space, 400);
  const Course other = run(*make(GetParam(), space, 400, 6, kQuick), space, 400);
  EXPECT_EQ(one.points, same.points);
  EXPECT_EQ(one.points == other.points, GetParam() == "exhaustive");
}

TEST_P(EachSearcher, HardlyEverProposesAPointTwiceInALargeSpace) {
  const SyntheticSpace space;
  const Course done = run(*make(GetParam(), space, 1000, 2, kQuick), space, 1000);
  // A chain that is surrounded by points of others has no new neighbour near.
  const std::size_t repeated = GetParam() == "annealing" ? 10 : 0;
  EXPECT_GE(std::set<Point>(done.points.begin(), done.points.end()).size(), done.points.size() - repeated);
}

// Random draws do, too: it is a promise of every searcher, as are the two tests after it.
TEST_P(EachSearcher, FindsTheOptimumOfASpaceSmallerThanItsBudget) {
  const SyntheticSizes sizes{.a = 4, .b = 3, .room = 6};  // 4 * 6 * 10 * 3 = 720 points
  const SyntheticSpace space(sizes);
  const Course done = run(*make(GetParam(), space, 3000, 1, kQuick), space, 3000);
  EXPECT_EQ(done.best.value()[0], synthetic_optimum(sizes));
}

TEST_P(EachSearcher, GoesOnWhereNothingIsFeasible) {
  const HopelessSpace space;
  const Course done = run(*make(GetParam(), space, 300, 1), space, 300);
  EXPECT_EQ(done.points.size(), 300);
  EXPECT_FALSE(done.best);
}

TEST_P(EachSearcher, MindsTheSecondObjectiveWhereTheFirstTies) {
  // With little room the coarse latency is the same for many designs; energy tells them apart.
  const SyntheticSizes sizes{.a = 6, .b = 4, .room = 8};
  const SyntheticSpace space(sizes);
  const Course done = run(*make(GetParam(), space, 4000, 1, kQuick), space, 4000, 1000000, "lexicographic:latency,energy");
  const double optimum = synthetic_optimum(sizes);
  EXPECT_EQ(done.best.value()[0], std::ceil(optimum / 1000));
  EXPECT_NEAR(done.best.value()[1], optimum, 0.02 * optimum);
}

TEST(Exhaustive, ProposesExactlyTheDesignsOfNestedLoops) {
  const SyntheticSizes sizes{.a = 7, .b = 6, .room = 20};
  const SyntheticSpace space(sizes);
  const auto meaning = [](const SyntheticDesign& d) { return std::tuple(d.spread, d.order, d.a0, d.b0, d.a1, d.b1); };
  std::set<decltype(meaning({}))> expected, proposed;
  for_each_design(sizes, [&](const SyntheticDesign& design) { expected.insert(meaning(design)); });
  EXPECT_NEAR(std::log10(static_cast<double>(expected.size())), space.log10_size(), 1e-12);

  const auto searcher = make("exhaustive", space, 1000000, 1);
  const Course done = run(*searcher, space, 1000000, 1000);
  for (const Point& point : done.points) proposed.insert(meaning(space.design(point)));
  EXPECT_EQ(proposed, expected);
  EXPECT_EQ(done.points.size(), expected.size());  // each once
  EXPECT_TRUE(std::is_sorted(done.points.begin(), done.points.end()));
  EXPECT_EQ(done.best.value()[0], synthetic_optimum(sizes));

  std::vector<Point> more;
  searcher->ask(10, more);
  EXPECT_TRUE(more.empty());
}

TEST(Exhaustive, RefusesASpaceThatIsTooLarge) {
  const SyntheticSpace space;
  const auto made = make_classical_searcher("exhaustive", space, 100, 1, {{"exhaustive.largest", "3"}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, testing::HasSubstr("synthetic: the space has about 10^6."));
  EXPECT_THAT(made.error().message, testing::HasSubstr("expected at most 10^3"));
}

TEST(Random, DrawsEachParameterEvenly) {
  const SyntheticSpace space;
  const Course done = run(*make("random", space, 8000, 4), space, 8000);
  std::array<int, 4> spread{};
  std::map<std::array<std::int32_t, 3>, int> orders;
  int low = 0;
  for (const Point& point : done.points) {
    const SyntheticDesign design = space.design(point);
    ++spread[static_cast<std::size_t>(design.spread)];
    ++orders[design.order];
    low += design.a0 <= 30 ? 1 : 0;
  }
  // Deviations are about 40, so five of them.
  for (const int count : spread) EXPECT_NEAR(count, 2000, 200);
  EXPECT_NEAR(low, 4000, 230);
  // Three priorities of three values: 27 spellings, of which 10 have no priority above that of a loop before it.
  EXPECT_EQ(orders.size(), 6);
  EXPECT_NEAR((orders[{0, 1, 2}]), 8000 * 10 / 27, 215);
}

TEST(Random, RepeatsPointsOnlyWhenTheSpaceIsUsedUp) {
  const SyntheticSpace space({.a = 2, .b = 1});  // 72 points
  const Course done = run(*make("random", space, 200, 1, {{"random.tries", "5000"}}), space, 200);
  ASSERT_EQ(done.points.size(), 200);
  EXPECT_EQ(std::set<Point>(done.points.begin(), done.points.begin() + 72).size(), 72);
}

TEST(Guided, ComesWithinAFewPercentOfTheOptimumAndBeatsRandom) {
  const SyntheticSpace space;  // 1.3 million points
  const double optimum = synthetic_optimum(space.sizes());
  for (const std::string& name : kGuided) {
    const std::size_t samples = name == "bayesian" ? 400 : 3000;
    const double gap = median_gap(name, space, samples, optimum);
    EXPECT_LE(gap, 1.05) << name;
    EXPECT_LT(1.2 * gap, median_gap("random", space, samples, optimum)) << name;
  }
}

TEST(Genetic, WorksWithASinglePointToStartFrom) {
  const SyntheticSpace space;
  const Settings small = {{"genetic.initial", "1"}, {"genetic.population", "1"}, {"genetic.batch", "50"}};
  EXPECT_EQ(run(*make("genetic", space, 200, 1, small), space, 200).points.size(), 200);
}

TEST(EachAlone, ServesEveryProblemAndHonoursItsRoom) {
  const SyntheticSpace one({.a = 10, .b = 6}), two({.a = 20, .b = 8});
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  searchers.push_back(make("genetic", one, 300, 1));
  searchers.push_back(make("random", two, 300, 2));
  const auto both = each_alone(std::move(searchers));

  std::vector<Proposal> proposals;
  both->ask(std::vector<std::int64_t>{0, 5}, proposals);
  ASSERT_EQ(proposals.size(), 5);
  for (const Proposal& proposal : proposals) EXPECT_EQ(proposal.problem, 1);
  both->tell(proposals, std::vector<Verdict>(5));

  ThreadPool threads(2);
  SearchLoop loop({&one, &two}, *objective_named("energy"), 300, threads);
  while (loop.round(*both)) {
  }
  for (const Ledger& ledger : loop.ledgers()) EXPECT_EQ(ledger.samples, 300);
}

TEST(EachAlone, TellsEachSearcherWhatItsOwnPointsGave) {
  // Alone and beside another problem, a guided search takes the same course.
  const SyntheticSpace one({.a = 10, .b = 6}), two({.a = 20, .b = 8});
  const auto course_of = [&](std::vector<const DesignSpace*> spaces) {
    std::vector<std::unique_ptr<PointSearcher>> searchers;
    for (const DesignSpace* space : spaces) searchers.push_back(make("genetic", *space, 300, 1));
    ThreadPool threads(2);
    SearchLoop loop(spaces, *objective_named("energy"), 300, threads);
    std::vector<Point> points;
    loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict&) {
      if (proposal.problem == 0) points.push_back(proposal.point);
    };
    const auto searcher = each_alone(std::move(searchers));
    while (loop.round(*searcher)) {
    }
    return points;
  };
  EXPECT_EQ(course_of({&one}), course_of({&one, &two}));
}

}  // namespace
}  // namespace tilewright
