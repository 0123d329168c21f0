#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tilewright/nn/heads.hpp"
#include "tilewright/nn/vector_kernels.hpp"
#include "vector_targets.hpp"

namespace tilewright {
namespace {

struct Moments {
  double mean = 0, variance = 0, fourth = 0;  // central
};
Moments moments_of(const std::vector<float>& values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const float v : values) m.mean += v / n;
  for (const float v : values) {
    const double d = v - m.mean;
    m.variance += d * d / n;
    m.fourth += d * d * d * d / n;
  }
  return m;
}

TEST(FillUniform, IsPhiloxByTheDocumentedNumbers) {
  const Rng rng(7, "known");
  const std::uint64_t first = (std::uint64_t{1} << 37) + 21;  // counters beyond 32 bits
  std::vector<float> values(300);
  for_each_vector_target([&](const VectorTarget& target) {
    fill_uniform(values, rng, first);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t entry = first + i, group = entry / 64, word = entry % 64 / 16, counter = 16 * group + entry % 16;
      const PhiloxBlock block =
          philox4x32({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 1, 0},
                     {static_cast<std::uint32_t>(rng.key()), static_cast<std::uint32_t>(rng.key() >> 32)});
      const double expected = (static_cast<double>(block[word] >> 9) + 0.5) / 8388608;
      ASSERT_EQ(values[i], static_cast<float>(expected)) << target.name << ", entry " << i;
    }
  });
}

TEST(FillUniform, DoesNotDependOnHowTheWorkIsSplit) {
  const Rng rng(1, "split");
  std::vector<float> whole(1000), pieces(1000);
  fill_uniform(whole, rng, 5);
  for (std::size_t first = 0; first < 1000;) {
    const std::size_t count = std::min<std::size_t>(1 + first % 97, 1000 - first);
    fill_uniform(std::span(pieces).subspan(first, count), rng, 5 + first);
    first += count;
  }
  EXPECT_EQ(whole, pieces);
}

TEST(FillUniform, IsUniform) {
  std::vector<float> values(1 << 18), others(1 << 18);
  fill_uniform(values, Rng(2, "uniform"));
  fill_uniform(others, Rng(2, "uniform").fork("other"));
  const Moments m = moments_of(values);
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(m.mean, 0.5, 5 * std::sqrt(1 / 12.0 / n));
  EXPECT_NEAR(m.variance, 1 / 12.0, 5 * std::sqrt(1 / 180.0 / n));
  std::vector<double> bins(256);
  double with_next = 0, with_other = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_GT(values[i], 0.0f);
    ASSERT_LT(values[i], 1.0f);
    ++bins[static_cast<std::size_t>(values[i] * 256)];
    with_next += (values[i] - 0.5) * (values[(i + 1) % values.size()] - 0.5) * 12 / n;
    with_other += (values[i] - 0.5) * (others[i] - 0.5) * 12 / n;
  }
  double chi_square = 0;
  for (const double count : bins) chi_square += (count - n / 256) * (count - n / 256) / (n / 256);
  EXPECT_NEAR(chi_square, 255, 5 * std::sqrt(2 * 255.0));
  EXPECT_NEAR(with_next, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(with_other, 0, 5 / std::sqrt(n));
}

TEST(SampleNoise, HasTheDistributionsItSays) {
  const ActionSpace space{{5}, 3};
  const std::size_t rows = 40'000;
  Matrix noise(rows, space.action_size());
  sample_noise(space, noise.view(), Rng(3, "noise"));
  std::vector<std::vector<float>> columns(space.action_size(), std::vector<float>(rows));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t r = 0; r < rows; ++r) columns[c][r] = noise.row(r)[c];
    const Moments m = moments_of(columns[c]);
    const bool is_gumbel = c < 5;
    const double variance = is_gumbel ? std::numbers::pi * std::numbers::pi / 6 : 1;
    const double kurtosis = is_gumbel ? 5.4 : 3;
    EXPECT_NEAR(m.mean, is_gumbel ? std::numbers::egamma : 0, 5 * std::sqrt(variance / rows)) << "column " << c;
    EXPECT_NEAR(m.variance, variance, 5 * variance * std::sqrt((kurtosis - 1) / rows)) << "column " << c;
    EXPECT_NEAR(m.fourth / (m.variance * m.variance), kurtosis, is_gumbel ? 0.9 : 0.2) << "column " << c;
    for (std::size_t d = 0; d < c; ++d) {
      const Moments n = moments_of(columns[d]);
      double product = 0;
      for (std::size_t r = 0; r < rows; ++r) product += (columns[c][r] - m.mean) * (columns[d][r] - n.mean) / rows;
      EXPECT_NEAR(product / std::sqrt(m.variance * n.variance), 0, 5 / std::sqrt(rows)) << c << " with " << d;
    }
  }
  // Kolmogorov and Smirnov: the largest gap to the distribution function.
  const auto gap = [&](std::vector<float> values, const auto& distribution) {
    std::ranges::sort(values);
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(distribution(values[i]) - (static_cast<double>(i) + 0.5) / rows));
    return largest * std::sqrt(rows);
  };
  EXPECT_LT(gap(columns[0], [](double x) { return std::exp(-std::exp(-x)); }), 2.2);
  EXPECT_LT(gap(columns[6], [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }), 2.2);
}

TEST(SampleNoise, RowsAreFunctionsOfTheirNumbers) {
  for (const ActionSpace& space : {ActionSpace{{5}, 0}, {{1}, 1}, {{5, 10}, 2}, {{}, 3}, {{33}, 9}}) {
    const std::size_t rows = 700, columns = space.action_size();
    Matrix whole(rows, columns), pieces(rows, columns);
    const auto row = [](const Matrix& m, std::size_t r) { return std::vector<float>(m.row(r), m.row(r) + m.columns()); };
    sample_noise(space, whole.view(), Rng(4, "rows"), 1000);
    for (std::size_t first = 0; first < rows; first += 150) {
      const std::size_t count = std::min<std::size_t>(150, rows - first);
      sample_noise(space, pieces.row_range(first, count), Rng(4, "rows"), 1000 + first);
    }
    std::set<std::vector<float>> distinct;
    for (std::size_t r = 0; r < rows; ++r) {
      EXPECT_EQ(row(whole, r), row(pieces, r));
      distinct.insert(row(whole, r));
    }
    if (columns > 1) {
      EXPECT_EQ(distinct.size(), rows);
    }
  }
}

TEST(VectorFunctions, AreAccurateWhereWeUseThem) {
  std::vector<float> arguments, logarithms, quantiles;
  for (double x = 1.2e-38; x < 3e38; x *= 1.0007) arguments.push_back(static_cast<float>(x));
  for (int i = -2000; i <= 2000; ++i) arguments.push_back(static_cast<float>(1 + i * 6e-8));
  logarithms = arguments;
  kernels::logarithm(logarithms.data(), logarithms.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const double expected = std::log(static_cast<double>(arguments[i]));
    ASSERT_NEAR(logarithms[i], expected, 1.2e-7 * std::abs(expected)) << arguments[i];
  }
  std::vector<float> uniform(1 << 14);
  for (std::size_t i = 0; i < uniform.size(); ++i) uniform[i] = (static_cast<float>(i) * 512 + 0.5f) * 0x1p-23f;
  quantiles = uniform;
  kernels::normal(quantiles.data(), quantiles.size());
  for (std::size_t i = 0; i < uniform.size(); ++i) {
    const double x = quantiles[i], density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double error = (0.5 * std::erfc(-x / std::numbers::sqrt2) - uniform[i]) / density;
    ASSERT_NEAR(error, 0, 2e-6) << uniform[i];
  }
}

}  // namespace
}  // namespace tilewright
