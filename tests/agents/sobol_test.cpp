#include "tilewright/agents/sobol.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "knob_space.hpp"

namespace tilewright {
namespace {

TEST(Sobol, EveryAlignedRunHasOneMemberInEachIntervalOfEveryDimension) {
  const SobolSequence sequence(5);
  for (std::size_t dimension = 0; dimension < kSobolDimensions; ++dimension) {
    for (const int bits : {1, 4, 9}) {
      for (const std::uint32_t run : {0u, 1u, 3u}) {
        std::set<std::uint32_t> intervals;
        for (std::uint32_t i = 0; i < 1u << bits; ++i) {
          intervals.insert(sequence.at((run << bits) + i, dimension) >> (32 - bits));
        }
        EXPECT_EQ(intervals.size(), std::size_t{1} << bits) << dimension;
      }
    }
  }
}

TEST(Sobol, TheFirstTwoDimensionsFillEveryBoxOfASquareOnce) {
  const SobolSequence sequence(6);
  for (int a = 0; a <= 8; ++a) {
    std::set<std::uint64_t> boxes;
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::uint64_t x = std::uint64_t{sequence.at(i, 0)} >> (32 - a);
      const std::uint64_t y = std::uint64_t{sequence.at(i, 1)} >> (24 + a);
      boxes.insert(x << (8 - a) | y);
    }
    EXPECT_EQ(boxes.size(), 256u) << a;
  }
}

// Largest number of 256 members in one of the 16 × 16 boxes of two dimensions; 1 would be perfect, chance gives about 5
// or 6.
std::uint32_t most_crowded(const SobolSequence& sequence, std::size_t a, std::size_t b) {
  std::array<std::uint32_t, 256> counts{};
  for (std::uint32_t i = 0; i < 256; ++i) ++counts[(sequence.at(i, a) >> 28) << 4 | sequence.at(i, b) >> 28];
  return *std::ranges::max_element(counts);
}

TEST(Sobol, NoPairOfDimensionsIsBadlyUneven) {
  const SobolSequence sequence(7);
  double sum = 0;
  for (std::size_t a = 0; a < kSobolDimensions; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const std::uint32_t crowd = most_crowded(sequence, a, b);
      EXPECT_LE(crowd, 8u) << a << " " << b;
      sum += crowd;
    }
  }
  EXPECT_LT(sum / (64.0 * 63 / 2), 3);
}

// Warnock's formula for the squared L2 star discrepancy.
double discrepancy(const std::vector<std::vector<double>>& points) {
  const auto n = static_cast<double>(points.size());
  const std::size_t dimensions = points[0].size();
  double single = 0, pairs = 0;
  for (const auto& x : points) {
    double product = 1;
    for (const double u : x) product *= (1 - u * u) / 2;
    single += product;
    for (const auto& y : points) {
      product = 1;
      for (std::size_t d = 0; d < dimensions; ++d) product *= 1 - std::max(x[d], y[d]);
      pairs += product;
    }
  }
  return std::pow(3.0, -static_cast<double>(dimensions)) - 2 * single / n + pairs / (n * n);
}

TEST(Sobol, IsMoreEvenThanChance) {
  const std::size_t dimensions = 6;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SobolSequence sequence(seed);
    std::vector<std::vector<double>> points;
    for (std::uint32_t i = 0; i < 256; ++i) {
      points.emplace_back();
      for (std::size_t d = 0; d < dimensions; ++d) points.back().push_back(std::ldexp(sequence.at(i, d), -32));
    }
    sum += discrepancy(points);
  }
  const double of_chance = (std::pow(2.0, -6) - std::pow(3.0, -6)) / 256;  // its expectation for independent points
  EXPECT_LT(sum / 10, of_chance / 3);
}

TEST(SobolSearcher, TakesEveryValueEquallyOften) {
  const KnobSpace space("s", {{"a", ParameterKind::Ordinal, Role::Tile, 8},
                              {"b", ParameterKind::Categorical, Role::Tile, 2},
                              {"c", ParameterKind::Ordinal, Role::Tile, 16},
                              {"d", ParameterKind::Ordinal, Role::Tile, 1}});
  const auto searcher = make_sobol(space, 1);
  std::vector<Point> points;
  while (points.size() < 128) {
    std::vector<Point> asked;
    searcher->ask(48, asked);
    ASSERT_EQ(asked.size(), 48u);
    points.insert(points.end(), asked.begin(), asked.end());
  }
  points.resize(128);
  for (std::size_t parameter = 0; parameter < 4; ++parameter) {
    std::vector<int> counts(static_cast<std::size_t>(space.parameters()[parameter].value_count), 0);
    for (const Point& point : points) {
      ASSERT_TRUE(is_legal(space, point));
      ++counts[static_cast<std::size_t>(point[parameter])];
    }
    for (const int count : counts) EXPECT_EQ(count, 128 / static_cast<int>(counts.size()));
  }
}

TEST(SobolSearcher, IsAFunctionOfItsSeed) {
  std::vector<Parameter> many(70, {"p", ParameterKind::Ordinal, Role::Tile, 1000});
  const KnobSpace space("s", many);
  std::vector<Point> first, again, other;
  make_sobol(space, 1)->ask(10, first);
  make_sobol(space, 1)->ask(10, again);
  make_sobol(space, 2)->ask(10, other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

}  // namespace
}  // namespace tilewright
