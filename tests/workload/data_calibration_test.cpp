// Integers chosen by data: ranges, grids, and that every kind of step computes what its real numbers say.
#include "tilewright/workload/data_calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/rng.hpp"
#include "tilewright/workload/quantised_accuracy.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kImages = 24;

Draft empty_draft(std::int64_t channels, std::int64_t side) {
  Draft draft;
  draft.name = "net";
  draft.input = {1, channels, side, side};
  add_step(draft, StepKind::Input, "input", {});
  return draft;
}

std::size_t add_convolution(Draft& draft, std::size_t input, ConvolutionShape shape, std::int64_t pad, Rng& rng) {
  Layer layer = convolution("conv" + std::to_string(draft.steps.size()), shape);
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = pad;
  const std::size_t index = add_product(draft, layer, {input});
  const double spread =
      std::sqrt(2.0 / static_cast<double>(layer.in_channels / layer.groups * layer.kernel_height * layer.kernel_width));
  for (std::int64_t i = 0; i < tensor_sizes(layer).weight.value; ++i) {
    draft.steps[index].weight.push_back(
        static_cast<float>(spread * (rng.uniform() + rng.uniform() + rng.uniform() - 1.5) * 2));
  }
  for (std::int64_t k = 0; k < layer.out_channels; ++k) draft.steps[index].bias.push_back(rng.uniform() - 0.5);
  return index;
}

std::size_t add_relu(Draft& draft, std::size_t input, double high = std::numeric_limits<double>::infinity()) {
  const std::size_t index = add_step(draft, StepKind::Clip, "relu" + std::to_string(draft.steps.size()), {input});
  draft.steps[index].low = 0;
  draft.steps[index].high = high;
  return index;
}

Images images(const Draft& draft, double low, double high, std::uint64_t seed) {
  Rng rng(seed, "images");
  Images result{kImages, {}};
  for (std::int64_t i = 0; i < kImages * draft.input.elements(); ++i) {
    result.values.push_back(static_cast<float>(low + (high - low) * rng.uniform()));
  }
  return result;
}

struct Case {
  RealNetwork real;
  QuantisedNetwork integers;
  Accuracy held;  // on images that calibration has not seen
};

Case calibrated(Draft draft, double low, double high, const DataCalibration& options = {}) {
  ThreadPool pool(1);
  const Images seen = images(draft, low, high, 1), held = images(draft, low, high, 2);
  Result<RealNetwork> real = calibrated_form(std::move(draft));
  EXPECT_TRUE(real) << (real ? "" : real.error().message);
  Result<QuantisedNetwork> integers = quantise(*real, seen, options, pool);
  EXPECT_TRUE(integers) << (integers ? "" : integers.error().message);
  Accuracy accuracy = accuracy_of(*real, *integers, held, {}, pool);
  return {std::move(real).value(), std::move(integers).value(), std::move(accuracy)};
}

TEST(RangeOf, PercentileCutsBothTails) {
  std::vector<std::uint32_t> bins(10, 0);
  bins[0] = 1;
  bins[4] = bins[5] = 49;
  bins[9] = 1;
  const RangeOptions options{.method = RangeMethod::Percentile, .percentile = 98};
  const ValueRange both = range_of(bins, -5, 5, options);
  EXPECT_DOUBLE_EQ(both.low, -1);
  EXPECT_DOUBLE_EQ(both.high, 1);
  const ValueRange positive = range_of(bins, 0, 10, options);  // zero is a bound, so two of a hundred go at the other end
  EXPECT_DOUBLE_EQ(positive.low, 0);
  EXPECT_DOUBLE_EQ(positive.high, 6);
  const ValueRange all = range_of(bins, -5, 5, {.method = RangeMethod::MinMax});
  EXPECT_DOUBLE_EQ(all.high, 5);
}

TEST(RangeOf, MeanSquareGivesUpRareEndsOnly) {
  std::vector<std::uint32_t> even(100, 1000), rare(100, 0);
  for (std::size_t i = 0; i < 50; ++i) rare[i] = 100'000;
  rare[99] = 1;
  EXPECT_DOUBLE_EQ(range_of(even, 0, 10, {}).high, 10);
  EXPECT_LT(range_of(rare, 0, 10, {}).high, 8);
  EXPECT_GT(range_of(rare, 0, 10, {}).high, 5);
}

TEST(RealReference, ConvolutionsAreTheirDefinition) {
  Rng rng(3, "real");
  Draft draft = empty_draft(6, 7);
  add_convolution(draft, 0,
                  {.out_channels = 4,
                   .in_channels = 6,
                   .in_height = 7,
                   .in_width = 7,
                   .kernel_height = 3,
                   .kernel_width = 3,
                   .groups = 2},
                  1, rng);
  ThreadPool pool(1);
  const Images seen = images(draft, -1, 1, 1);
  const Result<RealNetwork> real = real_network(draft);
  ASSERT_TRUE(real);
  const std::vector<float> input = batch_of(seen, draft.input, 0), result = run_real_step(*real, 1, {input, {}}, pool);
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t y = 0; y < 7; ++y) {
      for (std::int64_t x = 0; x < 7; ++x) {
        double sum = real->draft.steps[1].bias[static_cast<std::size_t>(k)];
        for (std::int64_t c = 0; c < 3; ++c) {
          for (std::int64_t r = 0; r < 3; ++r) {
            for (std::int64_t s = 0; s < 3; ++s) {
              const std::int64_t row = y + r - 1, column = x + s - 1;
              if (row < 0 || row > 6 || column < 0 || column > 6) continue;
              sum += double{input[static_cast<std::size_t>(((k / 2 * 3 + c) * 7 + row) * 7 + column)]} *
                     real->draft.steps[1].weight[static_cast<std::size_t>(((k * 3 + c) * 3 + r) * 3 + s)];
            }
          }
        }
        EXPECT_NEAR(result[static_cast<std::size_t>((k * 7 + y) * 7 + x)], sum, 1e-5);
      }
    }
  }
}

// A zero that is not the integer 0, and zeros around the image: borders are as good as the middle.
TEST(DataCalibration, BordersOfShiftedImages) {
  for (const auto& [low, high] : {std::pair(0.0, 255.0), {-9.0, -3.0}, {-1.0, 1.0}, {100.0, 116.0}}) {
    Rng rng(4, "borders");
    Draft draft = empty_draft(2, 6);
    add_convolution(
        draft, 0,
        {.out_channels = 8, .in_channels = 2, .in_height = 6, .in_width = 6, .kernel_height = 3, .kernel_width = 3}, 1, rng);
    const Case both = calibrated(draft, low, high);
    EXPECT_GT(both.held.noise_ratio[1], 33) << low;
    ThreadPool pool(1);
    const Images held = images(draft, low, high, 2);
    const RealTensors expected{batch_of(held, draft.input, 0)};
    const std::vector<float> real = run_real_step(both.real, 1, expected, pool);
    const QuantisedStep& step = both.integers.steps[1];
    const std::vector<float> is =
        real_values(step, run_step(both.integers, 1, {integers_of(both.integers.steps[0], expected[0])}, pool));
    for (std::size_t i = 0; i < is.size(); ++i) EXPECT_NEAR(is[i], real[i], 4 * scale_at(step, i / 36)) << low << " " << i;
  }
}

// A channel a thousand times as large, which the next layer makes small again, is the same network: one scale for all would
// leave the other channels nothing.
TEST(DataCalibration, ChannelsHaveScalesOfTheirOwn) {
  const auto network = [](float factor) {
    Rng rng(5, "channels");
    Draft draft = empty_draft(3, 6);
    const std::size_t first = add_convolution(
        draft, 0,
        {.out_channels = 4, .in_channels = 3, .in_height = 6, .in_width = 6, .kernel_height = 3, .kernel_width = 3}, 1, rng);
    for (std::size_t i = 54; i < 81; ++i) draft.steps[first].weight[i] *= factor;
    draft.steps[first].bias[2] *= factor;
    const std::size_t second = add_convolution(draft, add_relu(draft, first),
                                               {.out_channels = 4, .in_channels = 4, .in_height = 6, .in_width = 6}, 0, rng);
    for (std::size_t i = 2; i < 16; i += 4) draft.steps[second].weight[i] /= factor;
    return calibrated(draft, -2, 2);
  };
  const Case even = network(1), uneven = network(1000);
  EXPECT_GT(scale_at(uneven.integers.steps[1], 2), 100 * scale_at(uneven.integers.steps[1], 0));
  EXPECT_NEAR(uneven.held.noise_ratio.back(), even.held.noise_ratio.back(), 1.5);
  EXPECT_EQ(uneven.integers.steps.back().grid.scale.size(), 1);  // whoever reads the result need not know of channels
}

TEST(DataCalibration, EveryKindOfStep) {
  Rng rng(6, "kinds");
  Draft draft = empty_draft(3, 8);
  const auto side = [](std::int64_t out, std::int64_t in, std::int64_t size, std::int64_t kernel, std::int64_t groups = 1) {
    return ConvolutionShape{.out_channels = out,
                            .in_channels = in,
                            .in_height = size,
                            .in_width = size,
                            .kernel_height = kernel,
                            .kernel_width = kernel,
                            .groups = groups};
  };
  const std::size_t first = add_relu(draft, add_convolution(draft, 0, side(12, 3, 8, 3), 1, rng), 6);
  const std::size_t depthwise = add_relu(draft, add_convolution(draft, first, side(12, 12, 8, 3, 12), 1, rng));
  const std::size_t narrow = add_convolution(draft, depthwise, side(12, 12, 8, 1), 0, rng);
  const std::size_t residual = add_step(draft, StepKind::Add, "residual", {narrow, first});
  const std::size_t table = add_step(draft, StepKind::Table, "silu", {residual});
  draft.steps[table].function = [](double x) { return x / (1 + std::exp(-x)); };
  const std::size_t sum = add_step(draft, StepKind::Add, "sum", {table, residual});  // no layer can take this one over
  const std::size_t joined = add_step(draft, StepKind::Concat, "joined", {sum, depthwise});
  const std::size_t pool = add_step(draft, StepKind::MaxPool, "pool", {joined});
  draft.steps[pool].step.window = {.kernel_height = 2, .kernel_width = 2, .stride_height = 2, .stride_width = 2};
  const std::size_t clip = add_step(draft, StepKind::Clip, "clip", {pool});
  draft.steps[clip].low = -0.5;
  draft.steps[clip].high = 3;
  const std::size_t last = add_convolution(draft, clip, side(16, 24, 4, 3), 1, rng);
  const Window window{.kernel_height = 4, .kernel_width = 4};
  const std::size_t average = add_average(draft, "average", add_relu(draft, last), {1, 16, 4, 4}, window);
  add_convolution(draft, average, {.out_channels = 5, .in_channels = 16}, 0, rng);
  for (const RangeMethod method : {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::MeanSquare}) {
    for (const auto& [low, high] : {std::pair(-1.0, 1.0), {0.0, 3.0}}) {
      const Case both = calibrated(draft, low, high, {.ranges = {.method = method}});
      for (std::size_t index = 0; index < both.integers.steps.size(); ++index) {
        EXPECT_GT(both.held.noise_ratio[index], 20) << name(method) << " " << both.integers.steps[index].name;
      }
      EXPECT_GT(both.held.correlation, 0.99);
      const Macs layers = macs(both.integers);
      EXPECT_EQ(layers.value,
                64 * (12 * 27 + 12 * 9 + 144) + 16 * 16 * 24 * 9 + 80);  // sums, clips and averages are no layers
    }
  }
}

// With and without: on images that nobody has seen, the integers are nearer to the truth on average.
TEST(DataCalibration, BiasCorrectionTakesMeansBack) {
  double with = 0, without = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Rng rng(seed, "bias");
    Draft draft = empty_draft(2, 8);
    std::size_t at = 0;
    for (int i = 0; i < 4; ++i) {
      const ConvolutionShape shape{.out_channels = 4,
                                   .in_channels = i == 0 ? 2 : 4,
                                   .in_height = 8,
                                   .in_width = 8,
                                   .kernel_height = 3,
                                   .kernel_width = 3};
      at = add_relu(draft, add_convolution(draft, at, shape, 1, rng));
    }
    const auto offset = [&](bool corrects) {
      const Case both = calibrated(draft, 0, 1, {.ranges = {.method = RangeMethod::MinMax}, .corrects_bias = corrects});
      ThreadPool pool(1);
      const Images held = images(draft, 0, 1, 2);
      std::vector<double> off(4, 0);
      for (std::int64_t image = 0; image < kImages; ++image) {
        const std::vector<float> input = batch_of(held, draft.input, image);
        RealTensors real{input};
        for (std::size_t i = 1; i < both.real.shapes.size(); ++i) real.push_back(run_real_step(both.real, i, real, pool));
        const QuantisedTensors integers = run(both.integers, integers_of(both.integers.steps[0], input), pool);
        const std::vector<float> is = real_values(both.integers.steps.back(), integers.back());
        for (std::size_t i = 0; i < is.size(); ++i) off[i / 64] += is[i] - real.back()[i];
      }
      double sum = 0;
      for (const double channel : off) sum += std::abs(channel);
      return sum;
    };
    with += offset(true);
    without += offset(false);
  }
  EXPECT_LT(with, 0.7 * without);
}

TEST(DataCalibration, DeadChannelsAndEmptyWeights) {
  Rng rng(7, "dead");
  Draft draft = empty_draft(2, 4);
  const std::size_t first =
      add_convolution(draft, 0, {.out_channels = 3, .in_channels = 2, .in_height = 4, .in_width = 4}, 0, rng);
  for (std::size_t i = 0; i < 2; ++i) draft.steps[first].weight[i] = 0;
  draft.steps[first].bias = {-3, 0, 0};
  add_convolution(draft, add_relu(draft, first), {.out_channels = 2, .in_channels = 3, .in_height = 4, .in_width = 4}, 0,
                  rng);
  EXPECT_GT(calibrated(draft, -1, 1).held.noise_ratio.back(), 30);
  EXPECT_TRUE(std::isinf(calibrated(draft, 0, 0).held.noise_ratio[0]));  // a black image
}

TEST(DataCalibration, RefusesProductsOfTwoTensors) {
  Draft draft = empty_draft(1, 4);
  add_product(draft, matrix_multiply("product", {.rows = 4, .inner = 4, .columns = 4}), {0, 0});
  EXPECT_EQ(
      calibrated_form(draft).error().message,
      "net: step 'product': is a product of two tensors, expected constant weights: calibration by data has no form for it");
}

TEST(Accuracy, CountsAnswers) {
  ThreadPool pool(1);
  Draft draft;
  draft.name = "two";
  draft.input = {2, 2, 1, 1};
  add_step(draft, StepKind::Input, "input", {});
  const std::size_t index = add_product(draft, fully_connected("same", 2, 2, 2), {0});
  draft.steps[index].weight = {1, 0, 0, 1};
  const Images seen{3, {1, 0, 0, 1, 1, 0.5}};  // classes 0, 1, 0; the last batch is half an image short
  const Result<RealNetwork> real = calibrated_form(draft);
  const Result<QuantisedNetwork> integers = quantise(*real, seen, {}, pool);
  ASSERT_TRUE(integers);
  const Accuracy accuracy = accuracy_of(*real, *integers, seen, {0, 1, 1}, pool);
  EXPECT_DOUBLE_EQ(*accuracy.correct, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*accuracy.real_correct, 2.0 / 3);
  EXPECT_DOUBLE_EQ(accuracy.agreement, 1);
  EXPECT_GT(accuracy.correlation, 0.999);
  EXPECT_EQ(accuracy.results.size(), 6);
}

}  // namespace
}  // namespace tilewright
