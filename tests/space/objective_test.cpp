#include "tilewright/space/objective.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using testing::HasSubstr;

constexpr Metrics kMetrics{
    .latency = 200, .energy = 30, .area = 5000, .power = 70, .macs = 1600, .l1 = 1, .l2 = 2, .pes = 4};

Score score(const char* objective, const Metrics& metrics = kMetrics) {
  return score_of(*objective_named(objective), metrics);
}
std::string message(const char* objective) { return objective_named(objective).error().message; }

TEST(Objective, SingleMetricsAreTheScore) {
  EXPECT_EQ(score("latency"), (Score{200, 0, 0}));
  EXPECT_EQ(score("energy"), (Score{30, 0, 0}));
  EXPECT_EQ(score("edp"), (Score{6000, 0, 0}));
  EXPECT_EQ(score("area"), (Score{5000, 0, 0}));
  EXPECT_EQ(score("power"), (Score{70, 0, 0}));
}

TEST(Objective, MoreThroughputIsASmallerScore) {
  EXPECT_EQ(value_of(Metric::Throughput, kMetrics), 8);
  EXPECT_EQ(score("throughput"), (Score{0.125, 0, 0}));
  Metrics faster = kMetrics;
  faster.latency = 100;
  EXPECT_LT(score("throughput", faster), score("throughput"));
}

TEST(Objective, WeightsAreExponents) {
  EXPECT_NEAR(score("weighted:latency=2,energy=1")[0], 200.0 * 200 * 30, 1e-6);
  EXPECT_NEAR(score("weighted:latency,energy")[0], 200.0 * 30, 1e-9);
  EXPECT_NEAR(score("weighted:power=0.5,throughput=1")[0], std::sqrt(70.0) / 8, 1e-12);
  EXPECT_EQ(score("weighted:latency=2,energy=1")[1], 0);
}

// A product does not care about units: a thousand times larger numbers rank the same.
TEST(Objective, WeightsRankTheSameInAllUnits) {
  Metrics other = kMetrics, coarse = kMetrics, coarse_other;
  other.latency = 150;
  other.energy = 45;
  coarse.energy /= 1000;
  coarse_other = other;
  coarse_other.energy /= 1000;
  for (const char* objective : {"weighted:latency=2,energy=1", "weighted:latency=1,energy=2"}) {
    EXPECT_EQ(score(objective) < score(objective, other), score(objective, coarse) < score(objective, coarse_other));
  }
  EXPECT_GT(score("weighted:latency=2,energy=1"), score("weighted:latency=2,energy=1", other));
  EXPECT_LT(score("weighted:latency=1,energy=2"), score("weighted:latency=1,energy=2", other));
}

TEST(Objective, LaterMetricsBreakTies) {
  EXPECT_EQ(score("lexicographic:latency,energy,area"), (Score{200, 30, 5000}));
  Metrics same = kMetrics, faster = kMetrics;
  same.energy = 29;
  faster.latency = 199;
  faster.energy = 1000;
  EXPECT_LT(score("lexicographic:latency,energy", same), score("lexicographic:latency,energy"));
  EXPECT_LT(score("lexicographic:latency,energy", faster), score("lexicographic:latency,energy", same));
  EXPECT_EQ(score("lexicographic:throughput"), (Score{0.125, 0, 0}));
}

TEST(Objective, NamesReadBack) {
  for (const char* text : {"latency", "energy", "edp", "throughput", "area", "power", "weighted:latency=2,energy=1",
                           "weighted:edp=0.25", "lexicographic:latency,energy", "lexicographic:power,area,throughput"}) {
    const auto objective = objective_named(text);
    ASSERT_TRUE(objective) << text;
    EXPECT_EQ(name_of(*objective), text);
    EXPECT_EQ(*objective_named(name_of(*objective)), *objective);
  }
  EXPECT_EQ(name_of(*objective_named("weighted: latency = 2 , energy")), "weighted:latency=2,energy=1");
}

TEST(Objective, MistakesGetTheNearestMetric) {
  EXPECT_EQ(message("latancy"),
            "objective 'latancy' is not known (did you mean 'latency'?), expected one of latency, energy, edp, throughput, "
            "area, power, weighted:METRIC=WEIGHT,…, lexicographic:METRIC,… or pareto:METRIC,METRIC");
  EXPECT_THAT(message("lexicographic:latency,enrgy"), HasSubstr("(did you mean 'energy'?)"));
  EXPECT_THAT(message("weighted:"), HasSubstr("objective '' is not known"));
  EXPECT_THAT(message(""), HasSubstr("objective '' is not known"));
  EXPECT_EQ(message("weigthed:latency=1"),
            "objective form 'weigthed' is not known (did you mean 'weighted'?), expected weighted, lexicographic or pareto");
}

TEST(Objective, WeightsAreNumbersAboveZero) {
  for (const char* weight : {"0", "-1", "x", "", "1x", "nan", "inf"}) {
    const std::string text = std::string("weighted:latency=") + weight;
    EXPECT_EQ(message(text.c_str()),
              std::string("objective: the weight of 'latency=") + weight + "' is no number above 0, expected METRIC=WEIGHT");
  }
  EXPECT_EQ(message("lexicographic:latency=2"),
            "objective: 'latency=2' has a weight, expected metrics only after lexicographic:");
}

TEST(Objective, LexicographicHasRoomForThree) {
  EXPECT_EQ(message("lexicographic:latency,energy,area,power"),
            "objective 'lexicographic:latency,energy,area,power' has 4 metrics, expected at most 3");
}

TEST(Objective, UnitsAreThoseOfTheMetrics) {
  EXPECT_EQ(unit_of(Metric::Latency), "cycles");
  EXPECT_EQ(unit_of(Metric::Edp), "nJ·cycles");
  EXPECT_EQ(unit_of(Metric::Power), "mW");
}

TEST(Limits, AreBrokenOnlyBeyondThem) {
  EXPECT_FALSE(broken_limit({}, kMetrics));
  EXPECT_FALSE(broken_limit({.latency = 200, .energy = 30, .area = 5000, .power = 70}, kMetrics));
  EXPECT_EQ(broken_limit({.latency = 199, .energy = {}, .area = {}, .power = {}}, kMetrics), "latency");
  EXPECT_EQ(broken_limit({.latency = {}, .energy = 29.9, .area = {}, .power = {}}, kMetrics), "energy");
  EXPECT_EQ(broken_limit({.latency = {}, .energy = {}, .area = 4999, .power = {}}, kMetrics), "area");
  EXPECT_EQ(broken_limit({.latency = {}, .energy = {}, .area = {}, .power = 69}, kMetrics), "power");
  EXPECT_EQ(broken_limit({.latency = 1, .energy = {}, .area = {}, .power = 1}, kMetrics), "latency");  // the first
}

TEST(Objective, AFrontHasItsTermsAndTheirProduct) {
  const Objective objective = *objective_named("pareto:latency,energy,power");
  EXPECT_EQ(name_of(objective), "pareto:latency,energy,power");
  const Metrics metrics{.latency = 10, .energy = 3, .area = 1, .power = 2};
  EXPECT_EQ(terms_of(objective, metrics), (Score{10, 3, 2}));
  EXPECT_EQ(score_of(objective, metrics), (Score{60}));
  EXPECT_EQ(objective_named("pareto:latency").error().message,
            "objective 'pareto:latency' has one metric, expected two or three after pareto:");
  EXPECT_EQ(objective_named("pareto:latency,latency").error().message,
            "objective 'pareto:latency,latency' has latency twice, expected different metrics");
  EXPECT_EQ(objective_named("pareto:latency=2,energy").error().message,
            "objective: 'latency=2' has a weight, expected metrics only after pareto:");
}

TEST(Objective, ExcessIsTheLargestValueByItsLimit) {
  const Metrics metrics{.latency = 10, .energy = 3, .area = 1, .power = 2};
  EXPECT_EQ(excess_of({}, metrics), 0);
  EXPECT_EQ(excess_of({.latency = 5, .energy = 1, .area = {}, .power = 4}, metrics), 3);
  EXPECT_EQ(limits_of({.latency = 5, .energy = {}, .area = {}, .power = 4}),
            (std::vector<std::pair<Metric, double>>{{Metric::Latency, 5}, {Metric::Power, 4}}));
}

}  // namespace
}  // namespace tilewright
