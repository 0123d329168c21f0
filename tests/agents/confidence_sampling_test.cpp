#include "tilewright/agents/confidence_sampling.hpp"

#include <array>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target_space.hpp"
#include "tilewright/agents/kmeans.hpp"

namespace tilewright {
namespace {

using testing::ElementsAre;

const auto kAnything = [](const Point&) { return true; };

TEST(Confidence, IsTheSoftmaxOfTheValues) {
  const auto shares = confidence(std::array{0.0, std::log(3.0)}, 1);
  EXPECT_NEAR(shares[0], 0.25, 1e-12);
  EXPECT_NEAR(shares[1], 0.75, 1e-12);
  const auto colder = confidence(std::array{0.0, std::log(3.0)}, 0.5);
  EXPECT_NEAR(colder[1], 0.9, 1e-12);
}

TEST(Confidence, WithoutATemperatureTakesTheSpreadOfTheValues) {
  // The standard deviation of 0 and 10 is 5, so the better one is e² times as likely; a common factor changes nothing.
  const double better = std::exp(2.0) / (1 + std::exp(2.0));
  EXPECT_NEAR(confidence(std::array{0.0, 10.0}, 0)[1], better, 1e-12);
  EXPECT_NEAR(confidence(std::array{500.0, 501.0}, 0)[1], better, 1e-12);
  EXPECT_THAT(confidence(std::array{7.0, 7.0, 7.0, 7.0}, 0), ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_TRUE(confidence({}, 0).empty());
}

TEST(Drawing, TakesEachOnceAndNoMoreThanThereAre) {
  Rng rng(1, "drawing");
  const auto drawn = draw_without_replacement(std::array{0.5, 0.0, 0.25, 0.25}, 10, rng);
  EXPECT_THAT(std::set(drawn.begin(), drawn.end()), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(drawn.size(), 4U);
  EXPECT_EQ(drawn.back(), 1U);  // what has no probability only when nothing else is left
}

// Of 1/2, 1/3, 1/6 the pairs have known probabilities: first a, then b with b / (1 - a).
TEST(Drawing, FollowsTheProbabilities) {
  const std::array<double, 3> p = {3.0 / 6, 2.0 / 6, 1.0 / 6};
  std::array<std::array<int, 3>, 3> found{};
  constexpr int kDraws = 60'000;
  Rng rng(2, "drawing");
  for (int n = 0; n < kDraws; ++n) {
    const auto drawn = draw_without_replacement(p, 2, rng);
    ++found[drawn[0]][drawn[1]];
  }
  double chi_square = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      if (a == b) {
        EXPECT_EQ(found[a][b], 0);
        continue;
      }
      const double expected = kDraws * p[a] * p[b] / (1 - p[a]);
      chi_square += (found[a][b] - expected) * (found[a][b] - expected) / expected;
    }
  }
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom: once in a thousand seeds
}

TEST(Threshold, IsTheMedianOfWhatWasDrawn) {
  const std::array values = {9.0, 1.0, 5.0, 100.0, 3.0};
  EXPECT_EQ(dynamic_threshold(values, std::array<std::size_t, 3>{0, 1, 2}), 5);
  EXPECT_EQ(dynamic_threshold(values, std::array<std::size_t, 4>{4, 0, 1, 2}), 4);
  EXPECT_THAT(confident(values, std::array<std::size_t, 4>{4, 0, 1, 2}, 4), ElementsAre(0, 2));
  EXPECT_THAT(confident(values, std::array<std::size_t, 3>{0, 1, 2}, 5), ElementsAre(0, 2));  // the threshold is enough
}

TEST(Synthesis, TakesTheMostFrequentValueOfEachKnob) {
  const TargetSpace space("target", 0.5F);
  const std::vector<Point> kept = {{0, 1, 2, 7, 4, 5}, {0, 1, 3, 8, 4, 6}, {1, 1, 3, 7, 9, 5}};
  Rng rng(3, "synthesis");
  EXPECT_EQ(synthesise(space, kept, kAnything, rng), (Point{0, 1, 3, 7, 4, 5}));
  // Of equally frequent values the smallest.
  EXPECT_EQ(synthesise(space, std::span(kept).first(2), kAnything, rng), (Point{0, 1, 2, 7, 4, 5}));
  EXPECT_TRUE(synthesise(space, {}, kAnything, rng).empty());
}

TEST(Synthesis, GoesOnToTheSecondMostFrequentValues) {
  const TargetSpace space("target", 0.5F);
  const std::vector<Point> kept = {{0, 1, 2, 7, 4, 5}, {0, 1, 2, 7, 4, 6}, {0, 1, 2, 8, 4, 5}};
  // Two knobs differ, so there are four configurations; all come out before there is nothing new.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed, "synthesis");
    std::vector<Point> made;
    const auto is_new = [&](const Point& point) { return std::ranges::find(made, point) == made.end(); };
    for (Point point; !(point = synthesise(space, kept, is_new, rng)).empty();) made.push_back(point);
    ASSERT_GE(made.size(), 3U);  // the mode, one of its neighbours, the last
    EXPECT_EQ(made.front(), kept.front());
    EXPECT_THAT(made, testing::Contains(Point{0, 1, 2, 8, 4, 6}));
    for (const Point& point : made) {
      EXPECT_TRUE(point[3] == 7 || point[3] == 8);
      EXPECT_TRUE(point[5] == 5 || point[5] == 6);
    }
  }
}

TEST(ConfidenceSampling, KeepsTheBetterHalfAndBuildsTheRestFromIt) {
  const TargetSpace space("target", 0.5F);
  std::vector<Point> candidates;
  std::vector<double> values;
  Rng rng(4, "candidates");
  std::set<Point> known;
  while (candidates.size() < 200) {
    Point point = random_point(space, rng);
    if (!known.insert(point).second) continue;
    values.push_back(-std::log(space.latency(point)));
    candidates.push_back(std::move(point));
  }
  const std::set<Point> measured(candidates.begin(), candidates.begin() + 20);
  const auto is_new = [&](const Point& point) { return !measured.contains(point); };
  const auto chosen = confidence_sample(space, candidates, values, 32, 0.1, is_new, rng);
  EXPECT_LE(chosen.size(), 32U);
  EXPECT_GE(chosen.size(), 24U);
  std::size_t synthesised = 0;
  double mean = 0, all = 0;
  std::set<Point> different;
  for (const Point& point : chosen) {
    EXPECT_TRUE(is_legal(space, point));
    EXPECT_TRUE(is_new(point));
    EXPECT_TRUE(different.insert(point).second);
    synthesised += known.contains(point) ? 0 : 1;
    mean -= std::log(space.latency(point)) / static_cast<double>(chosen.size());
  }
  for (const double value : values) all += value / static_cast<double>(values.size());
  EXPECT_GT(synthesised, 8U);
  EXPECT_GT(mean, all + 0.5);  // far better than the candidates are on average
}

TEST(ConfidenceSampling, OfFewCandidatesTakesWhatThereIs) {
  const TargetSpace space("target", 0.5F);
  const std::vector<Point> one = {{0, 1, 2, 7, 4, 5}};
  Rng rng(5, "few");
  EXPECT_THAT(confidence_sample(space, one, std::array{1.0}, 8, 0, kAnything, rng), ElementsAre(one.front()));
  EXPECT_TRUE(confidence_sample(space, {}, {}, 8, 0, kAnything, rng).empty());
  EXPECT_TRUE(confidence_sample(
                  space, one, std::array{1.0}, 8, 0, [](const Point&) { return false; }, rng)
                  .empty());
}

TEST(KMeans, FindsClustersThatAreThere) {
  Cloud cloud{.width = 2, .values = {}};
  Rng rng(6, "cloud");
  const std::array<std::array<float, 2>, 3> middles = {{{0, 0}, {10, 0}, {0, 10}}};
  for (int n = 0; n < 60; ++n) {
    const auto& middle = middles[static_cast<std::size_t>(n % 3)];
    cloud.values.push_back(middle[0] + static_cast<float>(rng.uniform()));
    cloud.values.push_back(middle[1] + static_cast<float>(rng.uniform()));
  }
  std::vector<double> counts, losses;
  for (std::size_t count = 1; count <= 8; ++count) {
    const Partition clusters = k_means(cloud, count, rng);
    counts.push_back(static_cast<double>(count));
    losses.push_back(clusters.loss);
    if (count != 3) continue;
    for (std::size_t n = 3; n < 60; ++n) EXPECT_EQ(clusters.cluster_of[n], clusters.cluster_of[n % 3]);
    const auto nearest = nearest_points(cloud, clusters);
    EXPECT_EQ(std::set({nearest[0] % 3, nearest[1] % 3, nearest[2] % 3}).size(), 3U);
  }
  EXPECT_EQ(knee(counts, losses), 2U);  // three clusters
}

TEST(KMeans, HasNoMoreClustersThanDifferentPoints) {
  const Cloud cloud{.width = 1, .values = {1, 1, 1, 4, 4}};
  Rng rng(7, "cloud");
  const Partition clusters = k_means(cloud, 4, rng);
  EXPECT_EQ(clusters.centres.size(), 2U);
  EXPECT_EQ(clusters.loss, 0);
}

TEST(Knee, IsWhereTheCurveBends) {
  EXPECT_EQ(knee(std::array{8.0, 16.0, 24.0, 32.0}, std::array{100.0, 20.0, 15.0, 10.0}), 1U);
  EXPECT_EQ(knee(std::array{8.0, 16.0, 24.0}, std::array{5.0, 5.0, 5.0}), 0U);
  EXPECT_EQ(knee(std::array{8.0}, std::array{5.0}), 0U);
}

}  // namespace
}  // namespace tilewright
