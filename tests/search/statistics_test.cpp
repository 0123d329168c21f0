#include "tilewright/search/statistics.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Median, IsTheMiddleOrBetweenTheTwo) {
  EXPECT_EQ(median(Values{3}), 3);
  EXPECT_EQ(median(Values{9, 1, 4}), 4);
  EXPECT_EQ(median(Values{9, 1, 4, 6}), 5);
}

TEST(Median, CountsInfinityAsLargerThanEverything) {
  EXPECT_EQ(median(Values{kInfinity, 7, 2}), 7);
  EXPECT_EQ(median(Values{kInfinity, kInfinity, 2}), kInfinity);
  EXPECT_EQ(median(Values{kInfinity, kInfinity}), kInfinity);  // not NaN
  EXPECT_EQ(median(Values{kInfinity, 5}), kInfinity);          // half of the runs did not get there
}

// numpy.quantile([2, 3, 5, 7, 11], q): 3.8 at 0.35, 10.8 at 0.9875.
TEST(Quantile, InterpolatesAsNumpyDoes) {
  const Values values = {11, 2, 7, 3, 5};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 2);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 11);
  EXPECT_DOUBLE_EQ(quantile(values, 0.35), 3.8);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9875), 10.8);
  EXPECT_EQ(quantile(Values{1, 2, kInfinity}, 0.5), 2);
  EXPECT_EQ(quantile(Values{1, 2, kInfinity}, 0.51), kInfinity);
}

TEST(GeometricMean, MultipliesFactors) {
  EXPECT_DOUBLE_EQ(geometric_mean(Values{2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean(Values{1, 1, 1}), 1);
  EXPECT_NEAR(geometric_mean(Values{1e200, 1e200, 1e-100}), 1e100, 1e88);  // the product itself would overflow
  EXPECT_EQ(geometric_mean(Values{1, kInfinity}), kInfinity);
}

// The chance that a value of `a` is smaller than one of `b`.
double chance(const Values& a, const Values& b, double tie = 0) {
  return improvement_interval(a, b, 1, tie, "", {.resamples = 0}).value;
}

TEST(ImprovementInterval, CountsPairs) {
  // 1 beats 2 and 3; 2 ties with 2 and beats 3; 4 beats none: 3.5 of 6.
  EXPECT_DOUBLE_EQ(chance(Values{1, 2, 4}, Values{2, 3}), 3.5 / 6);
  EXPECT_EQ(chance(Values{1, 2}, Values{3, 4}), 1);
  EXPECT_EQ(chance(Values{3, 4}, Values{1, 2}), 0);
  EXPECT_EQ(chance(Values{5}, Values{5}), 0.5);
}

TEST(ImprovementInterval, TwoThatDidNotGetThereAreEven) {
  EXPECT_EQ(chance(Values{kInfinity}, Values{kInfinity}, 1e-9), 0.5);
  EXPECT_EQ(chance(Values{1}, Values{kInfinity}, 1e-9), 1);
  EXPECT_EQ(chance(Values{kInfinity}, Values{1}, 1e-9), 0);
}

TEST(ImprovementInterval, TiesAreRelative) {
  EXPECT_EQ(chance(Values{1e12}, Values{1e12 + 1}, 1e-9), 0.5);
  EXPECT_EQ(chance(Values{1e12}, Values{1e12 + 1}, 0), 1);
  EXPECT_EQ(chance(Values{1}, Values{1.001}, 1e-9), 1);
}

TEST(ImprovementInterval, OfTheOtherSideIsTheRest) {
  Rng rng(7, "test");
  for (int round = 0; round < 100; ++round) {
    Values a, b;
    for (std::int64_t i = rng.between(1, 6); i > 0; --i) a.push_back(static_cast<double>(rng.below(4)));
    for (std::int64_t i = rng.between(1, 6); i > 0; --i) b.push_back(static_cast<double>(rng.below(4)));
    EXPECT_NEAR(chance(a, b) + chance(b, a), 1, 1e-12);
  }
}

TEST(Bootstrap, OneRunHasNoSpread) {
  const Interval interval = median_interval(Values{3}, "one");
  EXPECT_EQ(interval.value, 3);
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.high, 3);
}

TEST(Bootstrap, SameSeedAndStreamSameBits) {
  const Values values = {1, 5, 2, 8, 3, 9, 4};
  const Interval a = median_interval(values, "x"), b = median_interval(values, "x");
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.value, 4);
  EXPECT_LE(a.low, a.value);
  EXPECT_LE(a.value, a.high);
}

// The resampled median of three values is exactly known: of 27 draws, 7 have the median at the least value, 13 at the middle
// one, 7 at the largest. So the lower quartile (0.25 < 7/27) is the least and the 0.27 quantile the middle.
TEST(Bootstrap, OfThreeValuesIsTheExactDistribution) {
  const Values values = {10, 20, 40};
  std::vector<double> drawn;
  const std::size_t counts[] = {3};
  const GroupStatistic statistic = [&](const std::vector<std::vector<std::size_t>>& chosen) {
    drawn.push_back(median(Values{values[chosen[0][0]], values[chosen[0][1]], values[chosen[0][2]]}));
    return drawn.back();
  };
  const Interval interval = bootstrap(counts, statistic, "three", {.resamples = 27'000, .confidence = 0.95, .seed = 1});
  EXPECT_EQ(interval.low, 10);
  EXPECT_EQ(interval.value, 20);
  EXPECT_EQ(interval.high, 40);
  const auto share = [&](double value) {
    return static_cast<double>(std::count(drawn.begin() + 1, drawn.end(), value)) / 27'000;
  };
  EXPECT_NEAR(share(10), 7.0 / 27, 0.01);  // 4 standard errors
  EXPECT_NEAR(share(20), 13.0 / 27, 0.012);
  EXPECT_NEAR(share(40), 7.0 / 27, 0.01);
}

// Of normal samples, the bootstrap interval of the mean is mean ± 1.96 s / sqrt(n), up to its own noise.
TEST(Bootstrap, OfAMeanAgreesWithTheNormalInterval) {
  Rng rng(3, "normal");
  Values values;
  for (int i = 0; i < 200; ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += rng.uniform();
    values.push_back(10 + sum);
  }
  double mean = 0, variance = 0;
  for (const double value : values) mean += value / 200;
  for (const double value : values) variance += (value - mean) * (value - mean) / 199;
  const std::size_t counts[] = {values.size()};
  const Interval interval = bootstrap(counts,
                                      [&](const std::vector<std::vector<std::size_t>>& chosen) {
                                        double sum = 0;
                                        for (const std::size_t i : chosen[0]) sum += values[i];
                                        return sum / 200;
                                      },
                                      "mean", {.resamples = 10'000, .confidence = 0.95, .seed = 1});
  const double half = 1.96 * std::sqrt(variance / 200);
  EXPECT_NEAR(interval.low, mean - half, 0.08 * half);
  EXPECT_NEAR(interval.high, mean + half, 0.08 * half);
}

TEST(ImprovementInterval, IsTheMeanOverTasks) {
  // Runs × tasks. Task 1: {1, 2} against {3, 4} = 1. Task 2: {5, 5} against {5, 4} = (0.5 + 0) / 2 = 0.25.
  const Values a = {1, 5, 2, 5}, b = {3, 5, 4, 4};
  const Interval interval = improvement_interval(a, b, 2, 0, "tasks");
  EXPECT_DOUBLE_EQ(interval.value, (1 + 0.25) / 2);
  EXPECT_DOUBLE_EQ(interval.low, 0.5);    // only the second run of b
  EXPECT_DOUBLE_EQ(interval.high, 0.75);  // only the first
}

TEST(ImprovementInterval, KeepsTheTasksOfARunTogether) {
  // A run is good on both tasks or bad on both; drawn task by task, an interval would be narrower.
  const Values a = {0, 0, 2, 2}, b = {1, 1};
  const Interval interval = improvement_interval(a, b, 2, 0, "together");
  EXPECT_DOUBLE_EQ(interval.value, 0.5);
  EXPECT_DOUBLE_EQ(interval.low, 0);
  EXPECT_DOUBLE_EQ(interval.high, 1);
}

TEST(ImprovementInterval, AgreesWithCountingPairsTaskByTask) {
  Rng rng(5, "improvement");
  for (int round = 0; round < 20; ++round) {
    const std::size_t tasks = 3, runs_a = 4, runs_b = 5;
    Values a(runs_a * tasks), b(runs_b * tasks);
    for (double& value : a) value = static_cast<double>(rng.below(6));
    for (double& value : b) value = static_cast<double>(rng.below(6));
    double sum = 0;
    for (std::size_t task = 0; task < tasks; ++task) {
      Values of_a, of_b;
      for (std::size_t run = 0; run < runs_a; ++run) of_a.push_back(a[run * tasks + task]);
      for (std::size_t run = 0; run < runs_b; ++run) of_b.push_back(b[run * tasks + task]);
      for (const double x : of_a) {
        for (const double y : of_b) sum += (x < y ? 1 : x == y ? 0.5 : 0) / (runs_a * runs_b);
      }
    }
    EXPECT_NEAR(improvement_interval(a, b, tasks, 0, "", {.resamples = 10}).value, sum / tasks, 1e-12);
  }
}

}  // namespace
}  // namespace tilewright
