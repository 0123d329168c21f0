#include "tilewright/agents/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "knob_space.hpp"
#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using Columns = std::vector<std::vector<double>>;

// All samples of one problem, equally good.
ExplorationTable table_of(const Columns& columns, const std::vector<ParameterKind>& kinds = {}) {
  ExplorationTable table;
  table.rows = columns[0].size();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ParameterKind kind = c < kinds.size() ? kinds[c] : ParameterKind::Ordinal;
    table.parameters.push_back({std::string("p") + std::to_string(c), kind, Role::Tile, 100});
  }
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (const auto& column : columns) table.values.push_back(column[row]);
  }
  table.goodness.assign(table.rows, 1.0);
  table.problems.assign(table.rows, 0);
  return table;
}

CorrelationMatrix all_samples(const ExplorationTable& table, Dependence dependence) {
  return correlate(table, {.dependence = dependence, .quantile = 1});
}

double between(const std::vector<double>& x, const std::vector<double>& y, Dependence dependence,
               const std::vector<ParameterKind>& kinds = {}) {
  return all_samples(table_of({x, y}, kinds), dependence)(0, 1);
}

std::vector<double> random_column(std::size_t n, std::int64_t values, Rng& rng) {
  std::vector<double> column(n);
  for (double& x : column) x = static_cast<double>(rng.below(values));
  return column;
}

const std::vector<double> kX = {2, 7, 1, 8, 2, 8, 1, 8}, kY = {3, 1, 4, 1, 5, 9, 2, 6};

TEST(Pearson, IsTheTextbookValue) {
  EXPECT_NEAR(between(kX, kY, Dependence::Pearson), 0.20965531907301213, 1e-14);  // computed with the formula in Python
  EXPECT_NEAR(between({1, 2, 3}, {1, 3, 2}, Dependence::Pearson), 0.5, 1e-14);
}

TEST(Spearman, IsThePearsonCorrelationOfMidranks) {
  EXPECT_NEAR(between(kX, kY, Dependence::Spearman), 0.19885368120992464, 1e-14);
  const std::vector<double> ranks_x = {3.5, 5, 1.5, 7, 3.5, 7, 1.5, 7}, ranks_y = {4, 1.5, 5, 1.5, 6, 8, 3, 7};
  EXPECT_NEAR(between(ranks_x, ranks_y, Dependence::Pearson), between(kX, kY, Dependence::Spearman), 1e-14);
  EXPECT_NEAR(between({1, 2, 3, 4}, {1, 10, 100, 1000}, Dependence::Spearman), 1, 1e-14);
}

// V² = S1 + S2 - 2 S3 (Székely, Rizzo and Bakirov 2007), less its expectation under independence to first order.
double distance_covariance(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& w,
                           const std::vector<ParameterKind>& kinds) {
  const auto apart = [&](const std::vector<double>& v, std::size_t i, std::size_t j, ParameterKind kind) {
    return kind == ParameterKind::Ordinal ? std::abs(v[i] - v[j]) : v[i] == v[j] ? 0.0 : 1.0;
  };
  double s1 = 0, s3 = 0, mean_x = 0, mean_y = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double row_x = 0, row_y = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double dx = apart(x, i, j, kinds[0]), dy = apart(y, i, j, kinds[1]);
      s1 += w[i] * w[j] * dx * dy;
      row_x += w[j] * dx;
      row_y += w[j] * dy;
    }
    s3 += w[i] * row_x * row_y;
    mean_x += w[i] * row_x;
    mean_y += w[i] * row_y;
    squares += w[i] * w[i];
  }
  return s1 + mean_x * mean_y - 2 * s3 - squares * mean_x * mean_y / ((1 - squares) * (1 - squares));
}

TEST(DistanceCorrelation, AgreesWithItsThreeSumsWithAnyWeights) {
  Rng rng(1, "distance");
  for (const ParameterKind kind : {ParameterKind::Ordinal, ParameterKind::Categorical}) {
    auto x = random_column(40, 6, rng);
    auto y = random_column(40, 5, rng);
    for (std::size_t i = 0; i < 20; ++i) y[i] = std::fmod(x[i], 5);
    ExplorationTable table = table_of({x, y}, {kind, ParameterKind::Ordinal});
    double sum = 0;
    for (double& g : table.goodness) sum += g = 0.1 + 0.9 * rng.uniform();
    std::vector<double> w = table.goodness;
    for (double& weight : w) weight /= sum;
    const double ratio = distance_covariance(x, y, w, {kind, ParameterKind::Ordinal}) /
                         std::sqrt(distance_covariance(x, x, w, {kind, kind}) *
                                   distance_covariance(y, y, w, {ParameterKind::Ordinal, ParameterKind::Ordinal}));
    ASSERT_GT(ratio, 0.05);
    EXPECT_NEAR(all_samples(table, Dependence::Distance)(0, 1), std::sqrt(ratio), 1e-12);
  }
}

TEST(DistanceCorrelation, OfManySamplesIsThatOfEvenlySpacedOnes) {
  Rng rng(2, "distance");
  const auto x = random_column(1024, 50, rng);
  auto y = random_column(1024, 50, rng);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  std::vector<double> every_second_x, every_second_y;
  for (std::size_t i = 0; i < 1024; i += 2) {
    every_second_x.push_back(x[i]);
    every_second_y.push_back(y[i]);
  }
  EXPECT_NEAR(between(x, y, Dependence::Distance), between(every_second_x, every_second_y, Dependence::Distance), 1e-12);
}

TEST(MutualInformation, OfFewValuesIsTheSumOverTheirTable) {
  // Joint counts {30, 10; 10, 50}: I = Σ p log(p / (p_x p_y)); chance gives (2 - 1)(2 - 1) / (2 · 100).
  std::vector<double> x, y;
  for (const auto& [a, b, count] : {std::tuple{0, 0, 30}, {0, 1, 10}, {1, 0, 10}, {1, 1, 50}}) {
    for (int i = 0; i < count; ++i) x.push_back(a), y.push_back(b);
  }
  const double information = 0.3 * std::log(0.3 / 0.16) + 2 * 0.1 * std::log(0.1 / 0.24) + 0.5 * std::log(0.5 / 0.36);
  const double entropy = -0.4 * std::log(0.4) - 0.6 * std::log(0.6);
  EXPECT_NEAR(between(x, y, Dependence::MutualInformation), (information - 0.005) / (entropy - 0.005), 1e-12);
}

TEST(MutualInformation, PutsManyOrdinalValuesIntoBinsOfEqualWeight) {
  // 320 samples make 8 bins. y repeats x in eighths, so its bins are a function of x's: all there is to know.
  std::vector<double> x, y;
  for (int i = 0; i < 320; ++i) x.push_back(i), y.push_back(i / 40);
  EXPECT_NEAR(between(x, y, Dependence::MutualInformation), 1, 1e-12);
}

TEST(CategoricalSafe, MeasuresSeeARelationThatHasNoOrder) {
  // y is a permutation of x's categories: knowing one is knowing the other, while their numbers are almost uncorrelated.
  Rng rng(3, "categories");
  const std::vector<double> renamed = {3, 0, 4, 1, 2};
  const auto x = random_column(300, 5, rng);
  std::vector<double> y;
  for (const double value : x) y.push_back(renamed[static_cast<std::size_t>(value)]);
  const std::vector<ParameterKind> kinds = {ParameterKind::Categorical, ParameterKind::Categorical};
  EXPECT_LT(between(x, y, Dependence::Pearson, kinds), 0.2);
  EXPECT_NEAR(between(x, y, Dependence::Distance, kinds), 1, 1e-12);
  EXPECT_NEAR(between(x, y, Dependence::MutualInformation, kinds), 1, 1e-12);
}

TEST(Chance, IsTakenOffSoThatIndependentColumnsAverageToZero) {
  // Many small problems, as the layers of a network are: without the correction, 40 samples of 6 × 6 categories show
  // 25 / 80 nats of about 1.8, and distances correlate at 0.3 and more.
  Rng rng(4, "chance");
  Columns columns = {random_column(4000, 6, rng), random_column(4000, 6, rng), random_column(4000, 30, rng)};
  const auto categorical = ParameterKind::Categorical;
  ExplorationTable table = table_of(columns, {categorical, categorical});
  for (std::size_t row = 0; row < table.rows; ++row) table.problems[row] = row / 40;
  std::vector<double> drawn(table.rows, 0.0);  // a bootstrap resample: rows that count twice bring no new information
  for (std::size_t i = 0; i < table.rows; ++i) ++drawn[static_cast<std::size_t>(rng.below(4000))];
  for (const bool resampled : {false, true}) {
    for (const Dependence dependence : all_dependences()) {
      const auto matrix = correlate(table, {.dependence = dependence, .quantile = 1},
                                    resampled ? std::span<const double>(drawn) : std::span<const double>{});
      for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
        // The square root of a ratio of variances: 0.15 is 2 % of the variance.
        const double most = dependence == Dependence::Distance ? 0.15 : 0.05;
        EXPECT_LT(matrix(static_cast<std::size_t>(a), static_cast<std::size_t>(b)), most)
            << name_of(dependence) << " " << a << " " << b << " " << resampled;
      }
    }
  }
}

class EveryDependence : public ::testing::TestWithParam<Dependence> {};

TEST_P(EveryDependence, IsSymmetricWithOnesOnTheDiagonalAndBetweenZeroAndOne) {
  Rng rng(5, "symmetry");
  Columns columns;
  for (int c = 0; c < 6; ++c) columns.push_back(random_column(50, 2 + 3 * c, rng));
  const auto matrix = all_samples(table_of(columns, {ParameterKind::Categorical}), GetParam());
  for (std::size_t a = 0; a < 6; ++a) {
    EXPECT_EQ(matrix(a, a), 1.0);
    for (std::size_t b = 0; b < 6; ++b) {
      EXPECT_EQ(matrix(a, b), matrix(b, a));
      EXPECT_GE(matrix(a, b), 0.0);
      EXPECT_LE(matrix(a, b), 1.0);
    }
  }
}

TEST_P(EveryDependence, IsOneForEqualAndNoughtForConstantColumns) {
  EXPECT_NEAR(between(kX, kX, GetParam()), 1, 1e-12);
  EXPECT_EQ(between(kX, std::vector<double>(8, 0.3), GetParam()), 0.0);
}

TEST_P(EveryDependence, DoesNotChangeWithSignScaleOffsetOrOrderOfSamples) {
  Rng rng(6, "invariance");
  std::vector<double> x = random_column(64, 9, rng), y = random_column(64, 9, rng);
  for (std::size_t i = 0; i < 40; ++i) y[i] = 0.5 * x[i] + 1;
  const double value = between(x, y, GetParam());
  EXPECT_GT(value, 0.05);
  std::vector<double> other_x = x, other_y = y;
  for (double& v : other_x) v = 0.25 - 2 * v;
  EXPECT_NEAR(between(other_x, y, GetParam()), value, 1e-12);
  std::ranges::reverse(other_x);
  std::ranges::reverse(other_y);
  EXPECT_NEAR(between(other_x, other_y, GetParam()), value, 1e-12);
}

TEST_P(EveryDependence, OfProblemsThatDifferOnlyInTheirLevelIsThatWithinThem) {
  // Within each problem nothing depends on anything; pooled, both columns are large or small together.
  Rng rng(7, "simpson");
  const auto a = random_column(400, 5, rng), b = random_column(400, 5, rng);
  ExplorationTable table = table_of({a, b});
  for (std::size_t row = 0; row < 400; ++row) {
    table.problems[row] = row % 2;
    if (row % 2 == 1) table.values[2 * row] += 10, table.values[2 * row + 1] += 10;
  }
  EXPECT_LT(all_samples(table, GetParam())(0, 1), 0.25);
  table.problems.assign(400, 0);
  EXPECT_GT(all_samples(table, GetParam())(0, 1), 0.3);
}

TEST_P(EveryDependence, OfParametersThatNoProblemHasBothOfIsZeroAndTheOthersAreUnmoved) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Rng rng(8, "missing");
  const auto x = random_column(100, 5, rng);
  std::vector<double> y = random_column(100, 5, rng), z(100, nan);
  for (std::size_t i = 0; i < 100; ++i) {
    if (i % 3 > 0) y[i] = x[i];
    if (i >= 50) y[i] = nan, z[i] = std::fmod(x[i], 3);
  }
  ExplorationTable table = table_of({x, y, z});
  for (std::size_t row = 50; row < 100; ++row) table.problems[row] = 1;
  const auto matrix = all_samples(table, GetParam());
  EXPECT_EQ(matrix(1, 2), 0.0);
  const std::vector<double> half_x(x.begin(), x.begin() + 50), half_y(y.begin(), y.begin() + 50);
  EXPECT_NEAR(matrix(0, 1), between(half_x, half_y, GetParam()), 1e-12);
}

TEST_P(EveryDependence, WeightsCountRows) {
  Rng rng(9, "weights");
  std::vector<double> x = random_column(60, 7, rng), y = random_column(60, 7, rng);
  for (std::size_t i = 0; i < 30; ++i) y[i] = x[i];
  // Rows that count 0 times are as if they were not there.
  std::vector<double> weights(60, 1.0);
  for (std::size_t i = 45; i < 60; ++i) weights[i] = 0;
  const std::vector<double> some_x(x.begin(), x.begin() + 45), some_y(y.begin(), y.begin() + 45);
  for (const double quantile : {0.5, 1.0}) {
    const CorrelationOptions options{.dependence = GetParam(), .quantile = quantile};
    EXPECT_NEAR(correlate(table_of({x, y}), options, weights)(0, 1), correlate(table_of({some_x, some_y}), options)(0, 1),
                1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Dependences, EveryDependence, ::testing::ValuesIn(all_dependences()), [](const auto& named) {
  std::string name(name_of(named.param));
  std::erase(name, '-');
  return name;
});

TEST(Quantile, TakesTheBestShareOfEachProblem) {
  // The best three of ten samples agree, the others disagree.
  ExplorationTable table = table_of({{0, 1, 2, 0, 1, 2, 0, 1, 2, 3}, {0, 1, 2, 3, 0, 3, 2, 0, 0, 1}});
  for (std::size_t row = 0; row < 10; ++row) table.goodness[row] = 1 - 0.1 * static_cast<double>(row);
  EXPECT_NEAR(correlate(table, {.quantile = 0.3})(0, 1), 1, 1e-12);
  EXPECT_LT(correlate(table, {.quantile = 0.999})(0, 1), 0.3);
  // Infeasible samples are never taken, but the share is of all samples.
  for (std::size_t row = 2; row < 10; ++row) table.goodness[row] = 0;
  EXPECT_NEAR(correlate(table, {.quantile = 0.9})(0, 1), 1, 1e-12);
}

TEST(Quantile, OneWeightsAllByGoodness) {
  ExplorationTable table = table_of({{0, 1, 2, 3}, {0, 2, 1, 3}});
  table.goodness = {1, 1, 0.5, 0.5};
  // With weights 2, 2, 1, 1 of 6 the means are 7/6 and 8/6, those of x², y² and xy 15/6, 18/6 and 15/6.
  const double expected = (15.0 / 6 - 56.0 / 36) / std::sqrt((15.0 / 6 - 49.0 / 36) * (18.0 / 6 - 64.0 / 36));
  EXPECT_NEAR(correlate(table, {.quantile = 1})(0, 1), expected, 1e-12);
}

TEST(Contrast, TakesOffWhatTheSpaceTiesTogether) {
  // b is a or a bit less wherever one looks; the best samples also have c = d, which all samples together do not.
  Rng rng(10, "contrast");
  const auto a = random_column(2000, 20, rng), c = random_column(2000, 20, rng), d = random_column(2000, 20, rng);
  std::vector<double> b;
  for (const double x : a) b.push_back(x - static_cast<double>(rng.below(3)));
  ExplorationTable table = table_of({a, b, c, d});
  for (std::size_t row = 0; row < table.rows; ++row) table.goodness[row] = 1 - std::abs(c[row] - d[row]) / 25;
  for (const Dependence dependence : all_dependences()) {
    const auto plain = correlate(table, {.dependence = dependence, .quantile = 0.1});
    const auto contrast = correlate(table, {.dependence = dependence, .quantile = 0.1, .contrast = true});
    EXPECT_GT(plain(0, 1), 0.5) << name_of(dependence);
    EXPECT_GT(plain(2, 3), 0.5) << name_of(dependence);
    EXPECT_LT(contrast(0, 1), 0.1) << name_of(dependence);
    EXPECT_GT(contrast(2, 3), 0.5) << name_of(dependence);
  }
}

TEST(Contrast, OfSamplesThatAreAllTakenIsNothing) {
  EXPECT_NEAR(correlate(table_of({kX, kY}), {.quantile = 1, .contrast = true})(0, 1), 0, 1e-14);
}

TEST(Dependences, HaveNames) {
  for (const Dependence dependence : all_dependences()) EXPECT_EQ(*named<Dependence>(name_of(dependence)), dependence);
  const auto wrong = named<Dependence>("mutual");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(named<Dependence>("peerson").error().message,
            "correlation 'peerson' is not known (did you mean 'pearson'?), expected one of pearson, spearman, distance, "
            "mutual-information");
}

TEST(ToTable, ScalesWithinTheProblemAndRanksByScore) {
  const KnobSpace first("first",
                        {{"a", ParameterKind::Ordinal, Role::Tile, 5}, {"b", ParameterKind::Categorical, Role::Tile, 3}});
  const KnobSpace second("second",
                         {{"c", ParameterKind::Ordinal, Role::Tile, 1}, {"a", ParameterKind::Ordinal, Role::Tile, 9}});
  const auto good = [](double score) { return Verdict{true, 0, {score}}; };
  const ExplorationData data{{{0, {4, 2}, good(5)},
                              {1, {0, 4}, good(1)},
                              {0, {1, 0}, good(3)},
                              {0, {2, 1}, {false, 1, {}}},
                              {0, {0, 1}, good(3)},
                              {0, {3, 1}, good(7)}}};
  const ExplorationTable table = to_table(data, {&first, &second});
  ASSERT_EQ(table.parameters.size(), 3u);
  EXPECT_EQ(table.rows, 6u);
  const auto value = [&](std::size_t row, std::size_t column) { return table.values[3 * row + column]; };
  EXPECT_EQ(value(0, 0), 1.0);
  EXPECT_EQ(value(0, 1), 2.0);
  EXPECT_TRUE(std::isnan(value(0, 2)));
  EXPECT_EQ(value(1, 0), 0.5);
  EXPECT_TRUE(std::isnan(value(1, 1)));
  EXPECT_EQ(value(1, 2), 0.0);
  EXPECT_EQ(value(2, 0), 0.25);
  // Of four feasible samples of the first problem, the two best are equally good.
  EXPECT_THAT(table.goodness, ElementsAre(0.5, 1.0, 1.0, 0.0, 1.0, 0.25));
  EXPECT_THAT(table.problems, ElementsAre(0, 1, 0, 0, 0, 0));
}

TEST(Rescored, JudgesTheSameSamplesByAnotherObjective) {
  Outcome slow{true, 0, {}}, hungry{true, 0, {}};
  slow.metrics.latency = 10, slow.metrics.energy = 1;
  hungry.metrics.latency = 2, hungry.metrics.energy = 9;
  const ExplorationData data{{{0, {0}, {}, slow}, {0, {1}, {}, hungry}, {0, {2}, {}, {}}}};
  const ExplorationData latency = rescored(data, *objective_named("latency"));
  EXPECT_EQ(latency.samples[0].verdict.score[0], 10.0);
  EXPECT_EQ(rescored(latency, *objective_named("energy")).samples[1].verdict.score[0], 9.0);
  EXPECT_FALSE(latency.samples[2].verdict.feasible);
}

}  // namespace
}  // namespace tilewright
