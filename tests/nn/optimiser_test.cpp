#include "tilewright/nn/optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tilewright/nn/heads.hpp"
#include "tilewright/nn/reference.hpp"
#include "vector_targets.hpp"

namespace tilewright {
namespace {

std::vector<float> random_numbers(std::size_t count, const Rng& rng) {
  std::vector<float> values(count);
  fill_uniform(values, rng);
  for (float& value : values) value = 2 * value - 1;
  return values;
}

void fill_tensors(Mlp& mlp, const Rng& rng) {
  for (std::size_t l = 0; l < mlp.layer_count(); ++l) {
    for (std::size_t i = 0; i < mlp.weight(l).rows; ++i) {
      const auto row = random_numbers(mlp.weight(l).columns, rng.fork("row", 1000 * l + i));
      std::ranges::copy(row, mlp.weight(l).row(i));
    }
    std::ranges::copy(random_numbers(mlp.bias(l).size(), rng.fork("bias", l)), mlp.bias(l).begin());
  }
}

TEST(Adam, FollowsTheFormulaInDouble) {
  const std::size_t size = 133;
  const AdamOptions options{.learning_rate = 0.02, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6};
  std::vector<float> values = random_numbers(size, Rng(1, "values"));
  std::vector<double> expected(values.begin(), values.end());
  Adam adam(size);
  reference::Adam<double> oracle{0.02, 0.8, 0.99, 1e-6, std::vector<double>(size), std::vector<double>(size)};
  const float scale = 0.25f;
  for (int step = 1; step <= 40; ++step) {
    const std::vector<float> gradient = random_numbers(size, Rng(1, "gradient").fork("step", static_cast<unsigned>(step)));
    adam_update(values, adam.first, adam.second, gradient, scale, adam_rate(options, adam.steps++), options);
    std::vector<double> scaled(size);
    for (std::size_t i = 0; i < size; ++i) scaled[i] = static_cast<double>(scale) * gradient[i];
    oracle.step(expected, std::span<const double>(scaled), step);
    for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(values[i], expected[i], 2e-6) << "step " << step;
  }
}

TEST(Adam, FirstStepMovesByTheLearningRate) {
  // m/sqrt(v) is (1-β1)g / sqrt((1-β2)g²), which the rate turns into lr·sign(g).
  std::vector<float> values = {0, 0, 0}, first(3), second(3);
  const std::vector<float> gradient = {4.0f, -0.01f, 0.0f};
  adam_update(values, first, second, gradient, 1.0f, adam_rate({}, 0), {});
  EXPECT_NEAR(values[0], -0.01f, 1e-7);
  EXPECT_NEAR(values[1], 0.01f, 1e-6);
  EXPECT_EQ(values[2], 0.0f);
  EXPECT_NEAR(adam_rate({}, 0), 0.01 * std::sqrt(0.001) / 0.1, 1e-9);
  EXPECT_NEAR(adam_rate({}, 1'000'000), 0.01, 1e-9);
}

TEST(Adam, PartsOfAnArrayStepLikeTheWhole) {
  const std::size_t size = 200;
  const std::vector<float> start = random_numbers(size, Rng(2, "values")), gradient = random_numbers(size, Rng(2, "g"));
  std::vector<float> whole = start, parts = start;
  Adam a(size), b(size);
  adam_update(whole, a.first, a.second, gradient, 0.5f, 0.01f, {});
  for (std::size_t first = 0; first < size; first += 37) {
    const std::size_t count = std::min<std::size_t>(37, size - first);
    adam_update(std::span(parts).subspan(first, count), std::span(b.first).subspan(first, count),
                std::span(b.second).subspan(first, count), std::span(gradient).subspan(first, count), 0.5f, 0.01f, {});
  }
  EXPECT_EQ(whole, parts);
  EXPECT_EQ(a.second, b.second);
}

TEST(Adam, MomentsOfDeadUnitsReachZero) {
  std::vector<float> values(20), first(20, 1e-30f), second(20, 1e-36f);
  const std::vector<float> gradient(20);
  for (int step = 0; step < 5000; ++step) {
    adam_update(values, first, second, gradient, 1.0f, 0.01f, {});
    for (const float moment : first)
      ASSERT_TRUE(moment == 0 || std::abs(moment) >= std::numeric_limits<float>::min()) << "step " << step;
  }
  EXPECT_EQ(first[0], 0.0f);
  EXPECT_EQ(second[0], 0.0f);
}

TEST(SquaredNorm, IsTheSumOfSquares) {
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 1000u}) {
    const std::vector<float> values = random_numbers(size, Rng(3, "norm"));
    double expected = 0;
    for (const float value : values) expected += static_cast<double>(value) * value;
    EXPECT_NEAR(squared_norm(values), expected, 1e-12 * (1 + expected)) << size;
  }
  EXPECT_EQ(squared_norm(std::vector<float>{3, 4}), 25.0);
}

TEST(Clip, BringsLongGradientsDown) {
  EXPECT_EQ(clip_scale(25.0, 10.0), 1.0f);
  EXPECT_EQ(clip_scale(25.0, 2.5), 0.5f);
  EXPECT_EQ(clip_scale(0.0, 2.5), 1.0f);
}

// One clipped step from zero moments: what each tensor's gradient was scaled by is read off its first moment.
enum class By { Tensor, All };
std::vector<double> scales_of(By by, double clip) {
  Mlp mlp({3, {10}, 1, Activation::Relu}), gradient(mlp.shape());
  fill_tensors(gradient, Rng(4, "gradient"));
  Adam adam(mlp.values().size());
  (by == By::Tensor ? step_clipped_by_tensor : step_clipped_globally)(mlp, gradient, adam, clip, AdamOptions{});
  EXPECT_EQ(adam.steps, 1);
  std::vector<double> scales;
  for (const TensorPlace& place : mlp.tensors()) {
    scales.push_back(adam.first[place.offset] / (0.1 * gradient.values()[place.offset]));
    for (std::size_t r = 0; r < place.rows; ++r)  // padding stays zero
      for (std::size_t c = place.columns; c < place.stride; ++c) EXPECT_EQ(mlp.view(place).row(r)[c], 0.0f);
  }
  return scales;
}

TEST(Clip, PerTensorOrGlobally) {
  Mlp gradient({3, {10}, 1, Activation::Relu});
  fill_tensors(gradient, Rng(4, "gradient"));
  std::vector<double> norms;
  double all = 0;
  for (const TensorPlace& place : gradient.tensors()) {
    const double square = squared_norm(gradient.values().subspan(place.offset, place.size()));
    norms.push_back(std::sqrt(square));
    all += square;
  }
  const double clip = 1.0;
  const std::vector<double> by_tensor = scales_of(By::Tensor, clip), together = scales_of(By::All, clip);
  for (std::size_t t = 0; t < norms.size(); ++t) {
    EXPECT_NEAR(by_tensor[t], std::min(1.0, clip / norms[t]), 1e-6) << t;
    EXPECT_NEAR(together[t], clip / std::sqrt(all), 1e-6) << t;
    EXPECT_NEAR(scales_of(By::Tensor, 0)[t], 1, 1e-6);
    EXPECT_NEAR(scales_of(By::All, -1)[t], 1, 1e-6);
  }
  EXPECT_LT(*std::ranges::min_element(norms), clip);  // so that both branches were taken
  EXPECT_GT(*std::ranges::max_element(norms), clip);
}

TEST(Polyak, MovesTheTargetPartOfTheWay) {
  std::vector<float> target(50, 1.0f);
  const std::vector<float> online(50, 3.0f);
  polyak(target, online, 0.25f);
  EXPECT_EQ(target, std::vector<float>(50, 1.5f));
  polyak(target, online, 1.0f);
  EXPECT_EQ(target, online);
}

TEST(Optimiser, EveryProcessorWithFusedMultiplyAddGivesTheSameBits) {
  const std::size_t size = 77;
  const std::vector<float> gradient = random_numbers(size, Rng(5, "gradient"));
  std::vector<float> expected;
  std::vector<double> norms;
  for_each_vector_target([&](const VectorTarget& target) {
    std::vector<float> values = random_numbers(size, Rng(5, "values")), slow(size);
    Adam adam(size);
    for (int step = 0; step < 5; ++step) {
      adam_update(values, adam.first, adam.second, gradient, 0.3f, adam_rate({}, step), {});
      polyak(slow, values, 0.01f);
    }
    values.insert(values.end(), slow.begin(), slow.end());
    values.insert(values.end(), adam.second.begin(), adam.second.end());
    if (expected.empty()) expected = values;
    if (target.has_fma) {
      EXPECT_EQ(values, expected) << target.name;
    } else {
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-6) << target.name;
    }
    norms.push_back(squared_norm(gradient));
  });
  // Squares of floats are exact in double, so this sum is the same without fused operations too.
  for (const double norm : norms) EXPECT_EQ(norm, norms[0]);
}

}  // namespace
}  // namespace tilewright
