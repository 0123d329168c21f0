#include "tilewright/workload/nest.hpp"

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

TEST(Nest, PaddingIsPartOfTheInput) {
  const auto layer = convolution("conv2_1", {.out_channels = 64,
                                             .in_channels = 64,
                                             .in_height = 56,
                                             .in_width = 56,
                                             .kernel_height = 3,
                                             .kernel_width = 3,
                                             .pad = 1});
  const Nest nest = nest_of(layer).value();
  EXPECT_EQ(nest.kind, NestKind::Convolution);
  EXPECT_EQ(nest[Dim::Y], 58);
  EXPECT_EQ(nest[Dim::OutY], 56);
  EXPECT_EQ(outputs_along(nest, Dim::Y), 56);
  EXPECT_FALSE(nest.has(Dim::N));
  EXPECT_EQ(macs(nest), macs(layer));
}

TEST(Nest, RowsNoTapReachesAreLeftOut) {
  // 224 rows padded to 230, kernel 7, stride 2: 112 outputs read 229 rows.
  const auto layer = convolution("conv1", {.out_channels = 64,
                                           .in_channels = 3,
                                           .in_height = 224,
                                           .in_width = 224,
                                           .kernel_height = 7,
                                           .kernel_width = 7,
                                           .stride = 2,
                                           .pad = 3});
  const Nest nest = nest_of(layer).value();
  EXPECT_EQ(nest[Dim::Y], 229);
  EXPECT_EQ(outputs_along(nest, Dim::Y), 112);
  EXPECT_EQ(macs(nest), macs(layer));
}

TEST(Nest, AKernelShorterThanItsStrideClosesTheGaps) {
  // A 1x1 kernel with stride 2 reads every second pixel: the same as a dense 1x1 on a quarter of the image.
  const auto layer =
      convolution("projection", {.out_channels = 128, .in_channels = 64, .in_height = 56, .in_width = 56, .stride = 2});
  const Nest nest = nest_of(layer).value();
  EXPECT_EQ(nest[Dim::Y], 28);
  EXPECT_EQ(nest.stride[static_cast<std::size_t>(Dim::Y)], 1);
  EXPECT_EQ(macs(nest), macs(layer));
}

TEST(Nest, DilationKeepsTapsAndOutputs) {
  auto layer = convolution("atrous", {.in_height = 20, .in_width = 20, .kernel_height = 3, .kernel_width = 3});
  layer.dilation_height = layer.dilation_width = 4;
  const Nest nest = nest_of(layer).value();
  EXPECT_EQ(nest[Dim::Y], 14);  // 12 outputs, 3 taps
  EXPECT_EQ(macs(nest), macs(layer));
}

TEST(Nest, TransposedConvolutionsBecomeTheirSubPixels) {
  auto layer = convolution("up", {.out_channels = 512,
                                  .in_channels = 1024,
                                  .in_height = 28,
                                  .in_width = 28,
                                  .kernel_height = 2,
                                  .kernel_width = 2,
                                  .stride = 2});
  layer.op = Operator::TransposedConvolution;
  const Nest nest = nest_of(layer).value();
  EXPECT_EQ(nest[Dim::K], 512 * 4);
  EXPECT_EQ(nest[Dim::R], 1);
  EXPECT_EQ(macs(nest), macs(layer));
  layer.kernel_height = layer.kernel_width = 3;  // 2 does not divide 3: every tap at every input position
  EXPECT_EQ(nest_of(layer).value()[Dim::K], 512);
  EXPECT_EQ(macs(nest_of(layer).value()), macs(layer));
}

TEST(Nest, GroupsDepthwiseAndProducts) {
  auto grouped = convolution("g", {.out_channels = 64, .in_channels = 32, .in_height = 8, .in_width = 8, .groups = 4});
  EXPECT_EQ(nest_of(grouped).value().kind, NestKind::Grouped);
  EXPECT_EQ(nest_of(grouped).value()[Dim::K], 16);
  EXPECT_EQ(macs(nest_of(grouped).value()), macs(grouped));

  auto depthwise = convolution("d", {.out_channels = 32, .in_channels = 32, .in_height = 8, .in_width = 8, .groups = 32});
  EXPECT_EQ(nest_of(depthwise).value().kind, NestKind::Depthwise);
  EXPECT_FALSE(nest_of(depthwise).value().has(Dim::K));
  EXPECT_EQ(macs(nest_of(depthwise).value()), macs(depthwise));

  const auto product = matrix_multiply("qk", {.batch = 12, .rows = 128, .inner = 64, .columns = 100});
  EXPECT_EQ(nest_of(product).value()[Dim::G], 12);
  EXPECT_EQ(macs(nest_of(product).value()), Macs{12 * 128 * 64 * 100});

  const auto dense = fully_connected("fc", 8, 512, 1000);
  EXPECT_EQ(nest_of(dense).value()[Dim::N], 8);
  EXPECT_EQ(macs(nest_of(dense).value()), macs(dense));
}

TEST(Nest, RandomLayersKeepTheirMacs) {
  Rng rng(4, "nest");
  int kept = 0;
  for (int i = 0; i < 2000; ++i) {
    auto layer = convolution("random", {.batch = rng.between(1, 3),
                                        .out_channels = 12,
                                        .in_channels = 12,
                                        .in_height = rng.between(1, 30),
                                        .in_width = rng.between(1, 30),
                                        .kernel_height = rng.between(1, 5),
                                        .kernel_width = rng.between(1, 5),
                                        .stride = rng.between(1, 6),
                                        .pad = rng.between(0, 3)});
    layer.groups = std::int64_t{1} << rng.between(0, 2);
    layer.dilation_height = rng.between(1, 3);
    if (!check(layer)) continue;
    ++kept;
    EXPECT_EQ(macs(nest_of(layer).value()), macs(layer));
  }
  EXPECT_GT(kept, 1000);
}

TEST(Nest, RandomTransposedLayersKeepTheirMacs) {
  Rng rng(5, "nest");
  for (int i = 0; i < 2000; ++i) {
    auto layer = convolution("random", {.batch = rng.between(1, 3),
                                        .out_channels = 12,
                                        .in_channels = 12,
                                        .in_height = rng.between(1, 30),
                                        .in_width = rng.between(1, 30),
                                        .kernel_height = rng.between(1, 6),
                                        .kernel_width = rng.between(1, 6),
                                        .stride = rng.between(1, 4)});
    layer.op = Operator::TransposedConvolution;
    layer.groups = i % 3 == 0 ? 12 : i % 3;  // 12: each channel for itself
    layer.groups = std::max<std::int64_t>(layer.groups, 1);
    EXPECT_EQ(macs(nest_of(layer).value()), macs(layer)) << layer.groups << " " << layer.kernel_height;
  }
}

TEST(Nest, LoopsLongerThan31BitsAreAnError) {
  const auto layer = fully_connected("huge", 1, 1, std::int64_t{1} << 31);
  EXPECT_FALSE(nest_of(layer));
}

TEST(Dim, NamesAreMaestros) {
  EXPECT_EQ(dim_named("Y'"), Dim::OutY);
  EXPECT_EQ(name_of(Dim::OutX), "X'");
  EXPECT_EQ(dim_named("Q"), std::nullopt);
}

}  // namespace
}  // namespace tilewright
