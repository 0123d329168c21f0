#include "tilewright/space/hierarchy_classics.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/space/hierarchy_tiles.hpp"

namespace tilewright {
namespace {

using namespace hierarchy;

Problem conv() {
  return problem_of(*shape_named("conv"), {{"R", 3}, {"S", 3}, {"P", 28}, {"Q", 28}, {"C", 64}, {"K", 128}, {"N", 1}}, {},
                    "test")
      .value();
}

TEST(HierarchyClassics, SpreadWhatTheirNamesSay) {
  const auto space = HierarchySpace::make("test", conv(), read_machine("zoo:simple3").value(), {}).value();
  const auto classics = classics_of(*space, {});
  const auto mapping_of = [&](std::string_view name) {
    const auto classic = std::ranges::find(classics, name, &HierarchyClassic::name);
    EXPECT_NE(classic, classics.end()) << name;
    return space->mapping(classic->point);
  };
  const auto dim = [&](char letter) { return *space->problem().dim_named(letter); };
  const auto spread = [&](const Mapping& mapping, char letter) { return mapping.levels[1].spatial.factors[dim(letter)]; };
  const Mapping weights = mapping_of("weight-stationary");
  EXPECT_EQ(spread(weights, 'K') * spread(weights, 'C') * spread(weights, 'R') * spread(weights, 'S'), 64);
  const Mapping outputs = mapping_of("output-stationary");
  EXPECT_GT(spread(outputs, 'P') * spread(outputs, 'Q'), 1);
  EXPECT_EQ(spread(outputs, 'C') * spread(outputs, 'R') * spread(outputs, 'S'), 1) << "sums stay where they are";
  EXPECT_EQ(spread(mapping_of("row-stationary"), 'S'), 3) << "a row of the kernel per processing element";
}

TEST(HierarchyClassics, AreFoundByEveryNameThereIs) {
  const auto space = HierarchySpace::make("test", conv(), read_machine("zoo:tpu-like").value(), {}).value();
  std::vector<Point> points;
  for (const ClassicInfo& info : hierarchy_classics()) points.push_back(classic_named(*space, info.name, {}).value());
  // classics_of tells each point once, under its first name.
  for (const HierarchyClassic& classic : classics_of(*space, {})) {
    EXPECT_EQ(classic_named(*space, classic.name, {}).value(), classic.point);
  }
  for (const Point& point : points) {
    EXPECT_TRUE(
        std::ranges::any_of(classics_of(*space, {}), [&](const HierarchyClassic& one) { return one.point == point; }));
  }
  EXPECT_NE(classic_named(*space, "nvdla_like", {}).error().message.find("did you mean 'nvdla-like'?"), std::string::npos);
  const Problem product = problem_of(*shape_named("gemm"), {{"M", 8}, {"N", 8}, {"K", 8}}, {}, "test").value();
  const auto other = HierarchySpace::make("test", product, read_machine("zoo:tpu-like").value(), {}).value();
  EXPECT_NE(classic_named(*other, "row-stationary", {}).error().message.find("is for convolutions"), std::string::npos);
}

TEST(HierarchyClassics, OneFitsEveryMachineOfTheZoo) {
  const Problem product = problem_of(*shape_named("gemm"), {{"M", 197}, {"N", 768}, {"K", 768}}, {}, "test").value();
  for (const char* machine : {"simple3", "eyeriss-like", "simba-like", "eyeriss-dram", "nvdla-dram", "tpu-like"}) {
    for (const Problem& problem : {conv(), product}) {
      const auto space =
          HierarchySpace::make("test", problem, read_machine(std::string("zoo:") + machine).value(), {}).value();
      const auto evaluator = space->evaluator();
      const auto classics = classics_of(*space, {});
      EXPECT_GE(classics.size(), 3u) << machine;
      EXPECT_TRUE(std::ranges::any_of(classics, [&](const HierarchyClassic& classic) {
        return is_legal(*space, classic.point) && evaluator->evaluate(classic.point).feasible;
      })) << machine;
    }
  }
}

// Every way to hand out the primes of the loops to blocks that the rule allows, tried without the space's help.
double brute_force(const HierarchySpace& space, const HierarchyRule& rule, const Point& outline) {
  const auto primes = space.primes();
  const auto evaluator = space.evaluator();
  Point point = outline;
  space.set_ranks(point, rule.inside);
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(std::size_t)> visit = [&](std::size_t n) {
    if (n == primes.size()) {
      const Outcome outcome = evaluator->evaluate(point);
      if (outcome.feasible) best = std::min(best, outcome.metrics.edp());
      return;
    }
    for (std::size_t place = 0; place < space.places().size(); ++place) {
      const auto axis = space.places()[place].axis;
      const auto& dims = axis == HierarchySpace::Axis::X ? rule.x : rule.y;
      if (axis != HierarchySpace::Axis::Time && std::ranges::find(dims, primes[n].dim) == dims.end()) continue;
      point[primes[n].parameter] = static_cast<std::int32_t>(place);
      // A loop lies along one axis of a level.
      const bool crossed = std::ranges::any_of(primes, [&](const auto& other) {
        const auto& [level, along] = space.places()[static_cast<std::size_t>(point[other.parameter])];
        return other.parameter < primes[n].parameter && other.dim == primes[n].dim && level == space.places()[place].level &&
               along != axis && along != HierarchySpace::Axis::Time && axis != HierarchySpace::Axis::Time;
      });
      if (!crossed) visit(n + 1);
    }
  };
  visit(0);
  return best;
}

TEST(HierarchyTiles, AreTheBestThatTheRuleAllows) {
  int exact = 0, compared = 0;
  for (const char* machine : {"simple3", "nvdla-dram", "eyeriss-like"}) {
    for (const NamedNumbers& bounds :
         {NamedNumbers{{"M", 6}, {"N", 5}, {"K", 4}}, NamedNumbers{{"M", 2}, {"N", 12}, {"K", 3}}}) {
      const Problem problem = problem_of(*shape_named("gemm"), bounds, {}, "test").value();
      const auto space =
          HierarchySpace::make("test", problem, read_machine(std::string("zoo:") + machine).value(), {}).value();
      for (const HierarchyRule& rule : {HierarchyRule{{0}, {1}, {2, 0, 1}}, HierarchyRule{{0, 2}, {0, 1}, {1, 0, 2}},
                                        HierarchyRule{{}, {}, {0, 1, 2}}}) {
        const Point start = space->greedy({}, rule.inside);
        const Point best = best_tiles(*space, rule, {}, {start});
        ASSERT_TRUE(is_legal(*space, best));
        const Outcome outcome = space->evaluator()->evaluate(best);
        ASSERT_TRUE(outcome.feasible);
        const double factor = outcome.metrics.edp() / brute_force(*space, rule, start);
        EXPECT_GE(factor, 1 - 1e-12) << machine;
        EXPECT_LE(factor, 1.01) << machine;
        ++compared;
        exact += factor < 1 + 1e-12 ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(compared, 18);
  EXPECT_GE(exact, 16) << "those with few placements, and most others";
}

// Where there are too many placements to try them all, better than tiles that take what fits, and never past the rule.
TEST(HierarchyTiles, OfLargeLayersAreImproved) {
  const auto space = HierarchySpace::make("test", conv(), read_machine("zoo:eyeriss-dram").value(), {}).value();
  const std::uint8_t k = *space->problem().dim_named('K'), s = *space->problem().dim_named('S');
  const HierarchyRule rule{{k}, {s}, {0, 1, 2, 3, 4, 5, 6}};
  const Point outermost = space->greedy({}, rule.inside);
  const Point best = best_tiles(*space, rule, {}, {outermost});
  const auto evaluator = space->evaluator();
  EXPECT_LT(evaluator->evaluate(best).metrics.edp(), evaluator->evaluate(outermost).metrics.edp() / 100);
  const Mapping mapping = space->mapping(best);
  for (const LevelMapping& level : mapping.levels) {
    for (std::uint8_t dim = 0; dim < space->problem().dims.size(); ++dim) {
      EXPECT_TRUE(dim == k || dim == s || level.spatial.factors[dim] == 1) << space->problem().dims[dim];
    }
  }
}

TEST(HierarchyTiles, FollowTheObjectiveAndKeepLimits) {
  const auto space = HierarchySpace::make("test", conv(), read_machine("zoo:simple3").value(), {}).value();
  const auto least = [&](const Objective& objective, bool kept = true) {
    double latency = std::numeric_limits<double>::infinity(), energy = latency;
    const auto evaluator = space->evaluator();
    for (const HierarchyClassic& classic : classics_of(*space, objective)) {
      const Outcome outcome = evaluator->evaluate(classic.point);
      if (!outcome.feasible || (kept && broken_limit(objective.limits, outcome.metrics))) continue;
      latency = std::min(latency, outcome.metrics.latency);
      energy = std::min(energy, outcome.metrics.energy);
    }
    return std::pair(latency, energy);
  };
  const auto fast = least(objective_named("latency").value()), frugal = least(objective_named("energy").value());
  EXPECT_LE(fast.first, frugal.first);
  EXPECT_LT(frugal.second, fast.second);
  Objective limited = objective_named("energy").value();
  limited.limits.latency = fast.first;
  EXPECT_EQ(least(limited).first, fast.first);
  limited.limits.latency = fast.first / 10;  // nothing keeps it, so the nearest is the fastest
  EXPECT_EQ(least(limited, false).first, fast.first);
}

}  // namespace
}  // namespace tilewright
