#include "tilewright/search/gaussian_process.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

double matern(double q) { return (1 + q + q * q / 3) * std::exp(-q); }

TEST(GaussianProcess, OfOnePointIsItsKernel) {
  GaussianProcess process({.lengths = {2}, .variance = 4, .noise = 1});
  process.add(std::vector<double>{3});
  process.set_targets(std::vector<double>{10});
  const auto said = process.predict(std::vector<double>{3, 5, 1000});
  // The only target is the mean of all, so it says nothing about slopes.
  for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(said.mean(n), 10, 1e-12);
  EXPECT_NEAR(said.variance(0), 4 - 4 * 4 / 5.0, 1e-12);
  const double k = 4 * matern(std::sqrt(5.0));  // one length away
  EXPECT_NEAR(said.variance(1), 4 - k * k / 5, 1e-12);
  EXPECT_NEAR(said.variance(2), 4, 1e-12);
}

TEST(GaussianProcess, OfTwoPointsAgreesWithTheInverseByHand) {
  const double noise = 0.25;
  GaussianProcess process({.lengths = {1, 3}, .variance = 1, .noise = noise});
  process.add(std::vector<double>{0, 0, 1, 3});  // a length apart in both dimensions
  process.set_targets(std::vector<double>{-1, 3});
  const double off = matern(std::sqrt(10.0)), on = 1 + noise;
  const double determinant = on * on - off * off;

  // At (0, 3), one length from both: k = (s, s), so that the deviations -2 and 2 from the mean cancel out.
  const double s = matern(std::sqrt(5.0));
  const auto said = process.predict(std::vector<double>{0, 3, 0, 0});
  EXPECT_NEAR(said.mean(0), 1, 1e-12);
  EXPECT_NEAR(said.variance(0), 1 - 2 * s * s * (on - off) / determinant, 1e-12);
  // At the first point: k = (1, off), weights K⁻¹ (-2, 2) = 2 (-(on + off), on + off) / determinant.
  EXPECT_NEAR(said.mean(1), 1 + 2 * (on + off) * (off - 1) / determinant, 1e-12);
  EXPECT_NEAR(said.variance(1), 1 - (on - 2 * off * off + on * off * off) / determinant, 1e-12);
  EXPECT_NEAR(process.log_likelihood(),
              -0.5 * 8 * (on + off) / determinant - 0.5 * std::log(determinant) - std::log(2 * M_PI), 1e-12);
}

struct Observed {
  std::vector<double> points, targets;
};
Observed wave(std::size_t count, std::uint64_t seed) {
  Rng rng(seed, "wave");
  Observed data;
  for (std::size_t n = 0; n < count; ++n) {
    const double x = rng.uniform(), y = rng.uniform(), z = rng.uniform();
    data.points.insert(data.points.end(), {x, y, z});
    data.targets.push_back(std::sin(6 * x) + 0.5 * y * y);  // z does not matter
  }
  return data;
}

TEST(GaussianProcess, AddingPointsInPartsIsAddingThemAtOnce) {
  const Observed data = wave(30, 1);
  const KernelParameters parameters{.lengths = {0.5, 1, 2}, .variance = 2, .noise = 1e-3};
  GaussianProcess whole(parameters), parts(parameters);
  whole.add(data.points);
  const std::span<const double> all(data.points);
  parts.add(all.subspan(0, 3 * 3));
  parts.add(all.subspan(3 * 3, 3 * 1));
  parts.add(all.subspan(3 * 4));
  whole.set_targets(data.targets);
  parts.set_targets(data.targets);
  EXPECT_EQ(parts.size(), 30);
  EXPECT_NEAR(whole.log_likelihood(), parts.log_likelihood(), 1e-8);
  const Observed other = wave(5, 2);
  const auto a = whole.predict(other.points), b = parts.predict(other.points);
  const std::vector<double> means = whole.means(other.points);
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_NEAR(a.mean(n), b.mean(n), 1e-8);
    EXPECT_NEAR(a.mean(n), means[n], 1e-10);
    EXPECT_NEAR(a.variance(n), b.variance(n), 1e-8);
  }
}

TEST(GaussianProcess, BelievingACandidateIsAddingItWithItsMean) {
  const Observed data = wave(20, 1), other = wave(6, 2);
  const KernelParameters parameters{.lengths = {0.5, 1, 2}, .variance = 2, .noise = 1e-2};
  GaussianProcess process(parameters);
  process.add(data.points);
  process.set_targets(data.targets);
  auto believed = process.predict(other.points);
  believed.believe(2);
  believed.believe(4);

  process.add(std::span<const double>(other.points).subspan(3 * 2, 3));
  process.add(std::span<const double>(other.points).subspan(3 * 4, 3));
  process.set_targets(std::vector<double>(22, 0.0));
  const auto added = process.predict(other.points);
  for (std::size_t n = 0; n < 6; ++n) EXPECT_NEAR(believed.variance(n), added.variance(n), 1e-8) << n;
}

TEST(GaussianProcess, EqualPointsDoNotBreakIt) {
  GaussianProcess process({.lengths = {1}, .variance = 1, .noise = 1e-17});  // lost in rounding: K is singular
  process.add(std::vector<double>{0.5, 0.5, 0.5});
  process.set_targets(std::vector<double>{1, 2, 3});
  const auto said = process.predict(std::vector<double>{0.5});
  EXPECT_NEAR(said.mean(0), 2, 0.5);
  EXPECT_GE(said.variance(0), 0);
}

TEST(GaussianProcess, GradientAgreesWithDifferences) {
  const Observed data = wave(25, 3);
  const std::vector<double> logs = {std::log(0.4), std::log(0.9), std::log(1.5), std::log(1.7), std::log(0.02)};
  const auto process = [&](const std::vector<double>& at) {
    GaussianProcess made({.lengths = {std::exp(at[0]), std::exp(at[1]), std::exp(at[2])},
                          .variance = std::exp(at[3]),
                          .noise = std::exp(at[4])});
    made.add(data.points);
    made.set_targets(data.targets);
    return made;
  };
  const std::vector<double> gradient = process(logs).log_likelihood_gradient();
  ASSERT_EQ(gradient.size(), logs.size());
  for (std::size_t n = 0; n < logs.size(); ++n) {
    const double h = 1e-5;
    std::vector<double> up = logs, down = logs;
    up[n] += h;
    down[n] -= h;
    const double difference = (process(up).log_likelihood() - process(down).log_likelihood()) / (2 * h);
    EXPECT_NEAR(gradient[n], difference, 1e-5 * (1 + std::abs(difference))) << n;
  }
}

TEST(GaussianProcess, FittingFindsWhatMattersAndPredictsBetter) {
  const Observed data = wave(60, 4), other = wave(40, 5);
  const KernelParameters centre{.lengths = {1, 1, 1}, .variance = 1, .noise = 1e-2};
  const KernelParameters learned = fitted(centre, centre, data.points, data.targets, 60);
  EXPECT_GT(learned.lengths[2], 3 * learned.lengths[0]);  // z does not matter, x most
  const auto error = [&](const KernelParameters& parameters) {
    GaussianProcess process(parameters);
    process.add(data.points);
    process.set_targets(data.targets);
    const auto said = process.predict(other.points);
    double sum = 0;
    for (std::size_t n = 0; n < other.targets.size(); ++n) sum += std::pow(said.mean(n) - other.targets[n], 2);
    return std::sqrt(sum / static_cast<double>(other.targets.size()));
  };
  EXPECT_LT(error(learned), 0.5 * error(centre));
  EXPECT_LT(error(learned), 0.02);
}

}  // namespace
}  // namespace tilewright
