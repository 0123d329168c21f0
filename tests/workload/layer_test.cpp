#include "tilewright/workload/layer.hpp"

#include <limits>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

std::string complaint_about(const Layer& layer) {
  const Result<Layer> checked = check(layer);
  return checked ? "nothing" : checked.error().message;
}

Layer small_convolution() {
  return convolution(
      "conv1", {.out_channels = 8, .in_channels = 4, .in_height = 10, .in_width = 9, .kernel_height = 3, .kernel_width = 3});
}

TEST(Layer, FirstConvolutionOfResNet) {
  const Layer layer = convolution("conv1", {.out_channels = 64,
                                            .in_channels = 3,
                                            .in_height = 224,
                                            .in_width = 224,
                                            .kernel_height = 7,
                                            .kernel_width = 7,
                                            .stride = 2,
                                            .pad = 3});
  EXPECT_EQ(out_height(layer), 112);
  EXPECT_EQ(out_width(layer), 112);
  EXPECT_EQ(macs(layer), Macs{118013952});  // 64 * 3 * 112 * 112 * 7 * 7
  EXPECT_EQ(tensor_sizes(layer).input, Elements{3 * 224 * 224});
  EXPECT_EQ(tensor_sizes(layer).weight, Elements{64 * 3 * 7 * 7});
  EXPECT_EQ(tensor_sizes(layer).output, Elements{64 * 112 * 112});
}

TEST(Layer, StrideRoundsDownAndDilationReachesFurther) {
  Layer layer = small_convolution();
  layer.stride_height = 2;   // rows 0-2, 2-4, 4-6, 6-8: the tenth is never read
  layer.dilation_width = 3;  // taps 0, 3 and 6 of 9 columns
  EXPECT_EQ(out_height(layer), 4);
  EXPECT_EQ(out_width(layer), 3);
}

TEST(Layer, GroupsReadOnlyTheirOwnChannels) {
  const Layer grouped = convolution("g", {.out_channels = 8, .in_channels = 4, .in_height = 5, .in_width = 5, .groups = 2});
  EXPECT_EQ(grouped.op, Operator::Convolution);
  EXPECT_EQ(macs(grouped), Macs{8 * 2 * 25});
  EXPECT_EQ(tensor_sizes(grouped).weight, Elements{8 * 2});
  const Layer depthwise =
      convolution("d", {.out_channels = 8, .in_channels = 4, .in_height = 5, .in_width = 5, .groups = 4});
  EXPECT_EQ(depthwise.op, Operator::Depthwise);  // two outputs for each channel
  EXPECT_EQ(macs(depthwise), Macs{8 * 25});
}

TEST(Layer, TransposedConvolutionSpreadsEveryInput) {
  Layer layer = convolution("up", {.out_channels = 512,
                                   .in_channels = 1024,
                                   .in_height = 28,
                                   .in_width = 28,
                                   .kernel_height = 2,
                                   .kernel_width = 2,
                                   .stride = 2});
  layer.op = Operator::TransposedConvolution;
  EXPECT_EQ(out_height(layer), 56);
  EXPECT_EQ(macs(layer), Macs{std::int64_t{1024} * 512 * 28 * 28 * 4});
  layer.kernel_height = 3;
  layer.pad_top = 1;
  layer.output_pad_height = 1;
  EXPECT_EQ(out_height(layer), 57);  // 27 * 2 + 3 - 1 + 1
}

TEST(Layer, MatrixMultiplyHasAWeightPerProduct) {
  const Layer layer = matrix_multiply("qk", {.batch = 12, .rows = 128, .inner = 64, .columns = 100});
  EXPECT_EQ(macs(layer), Macs{12 * 128 * 64 * 100});
  EXPECT_EQ(tensor_sizes(layer).input, Elements{12 * 128 * 64});
  EXPECT_EQ(tensor_sizes(layer).weight, Elements{12 * 64 * 100});
  EXPECT_EQ(tensor_sizes(layer).output, Elements{12 * 128 * 100});
}

TEST(Layer, FullyConnectedSharesItsWeightOverTheBatch) {
  const Layer layer = fully_connected("fc", 4, 512, 1000);
  EXPECT_EQ(macs(layer), Macs{4 * 512 * 1000});
  EXPECT_EQ(tensor_sizes(layer).weight, Elements{512 * 1000});
  EXPECT_EQ(tensor_sizes(layer).output, Elements{4 * 1000});
}

// The definitions at the top of layer.hpp, walked: every multiplication of one image, one pair of channels.
struct Walk {
  std::int64_t rows = 0, columns = 0, multiplications = 0;
};
Walk walk(const Layer& l) {
  Walk result;
  if (l.op == Operator::TransposedConvolution) {
    for (std::int64_t y = 0; y < l.in_height; ++y)
      for (std::int64_t x = 0; x < l.in_width; ++x)
        for (std::int64_t r = 0; r < l.kernel_height; ++r)
          for (std::int64_t s = 0; s < l.kernel_width; ++s) {
            ++result.multiplications;
            result.rows = std::max(result.rows, y * l.stride_height + r * l.dilation_height + 1);
            result.columns = std::max(result.columns, x * l.stride_width + s * l.dilation_width + 1);
          }
    result.rows += l.output_pad_height - l.pad_top - l.pad_bottom;
    result.columns += l.output_pad_width - l.pad_left - l.pad_right;
    return result;
  }
  const auto reach = [](std::int64_t kernel, std::int64_t dilation) { return (kernel - 1) * dilation; };
  const std::int64_t last_row = l.in_height + l.pad_top + l.pad_bottom - 1;
  const std::int64_t last_column = l.in_width + l.pad_left + l.pad_right - 1;
  for (std::int64_t y = 0; y + reach(l.kernel_height, l.dilation_height) <= last_row; y += l.stride_height) {
    ++result.rows;
    result.columns = 0;
    for (std::int64_t x = 0; x + reach(l.kernel_width, l.dilation_width) <= last_column; x += l.stride_width) {
      ++result.columns;
      result.multiplications += l.kernel_height * l.kernel_width;
    }
  }
  return result;
}

TEST(Layer, SizesAgreeWithWalkingTheLoops) {
  Rng rng(1, "layer-walk");
  int checked_count = 0;
  for (int round = 0; round < 2000; ++round) {
    Layer l;
    l.op = rng.below(2) == 0 ? Operator::Convolution : Operator::TransposedConvolution;
    l.batch = rng.between(1, 3);
    l.groups = rng.between(1, 3);
    l.in_channels = l.groups * rng.between(1, 3);
    l.out_channels = l.groups * rng.between(1, 3);
    for (auto member : {&Layer::in_height, &Layer::in_width}) l.*member = rng.between(1, 12);
    for (auto member : {&Layer::kernel_height, &Layer::kernel_width, &Layer::stride_height, &Layer::stride_width,
                        &Layer::dilation_height, &Layer::dilation_width}) {
      l.*member = rng.between(1, 4);
    }
    for (auto member : {&Layer::pad_top, &Layer::pad_bottom, &Layer::pad_left, &Layer::pad_right}) l.*member = rng.below(3);
    if (l.op == Operator::TransposedConvolution) l.output_pad_height = rng.below(2);
    if (!check(l)) continue;
    ++checked_count;
    const Walk walked = walk(l);
    ASSERT_EQ(out_height(l), walked.rows);
    ASSERT_EQ(out_width(l), walked.columns);
    ASSERT_EQ(macs(l).value, walked.multiplications * l.batch * l.in_channels * l.out_channels / l.groups);
    ASSERT_EQ(tensor_sizes(l).output.value, l.batch * l.out_channels * walked.rows * walked.columns);
  }
  EXPECT_GT(checked_count, 1000);
}

TEST(CheckLayer, NamesTheFirstImpossibleNumber) {
  EXPECT_EQ(complaint_about(small_convolution()), "nothing");
  const auto with = [](std::int64_t Layer::*member, std::int64_t value) {
    Layer layer = small_convolution();
    layer.*member = value;
    return complaint_about(layer);
  };
  EXPECT_EQ(with(&Layer::stride_height, 0), "layer 'conv1': stride is 0, expected at least 1");
  EXPECT_EQ(with(&Layer::pad_left, -1), "layer 'conv1': pad is -1, expected at least 0");
  EXPECT_EQ(with(&Layer::batch, std::int64_t{1} << 31), "layer 'conv1': batch is 2147483648, expected at most 2147483647");
  EXPECT_EQ(with(&Layer::kernel_height, 11),
            "layer 'conv1': kernel reaches over 11 rows, expected at most 10, which is input and padding");
  EXPECT_EQ(with(&Layer::dilation_width, 5),
            "layer 'conv1': kernel reaches over 11 columns, expected at most 9, which is input and padding");
  EXPECT_EQ(with(&Layer::groups, 3), "layer 'conv1': input channels is 4, expected a multiple of groups, which is 3");
  EXPECT_EQ(with(&Layer::output_pad_width, 1), "layer 'conv1': output pad is 1, expected 0 for conv");
}

TEST(CheckLayer, OperatorsHaveTheirOwnRules) {
  Layer depthwise = small_convolution();
  depthwise.op = Operator::Depthwise;
  EXPECT_EQ(complaint_about(depthwise), "layer 'conv1': groups is 1, expected the 4 input channels of a depthwise layer");
  depthwise.groups = 4;
  depthwise.out_channels = 6;
  EXPECT_EQ(complaint_about(depthwise),
            "layer 'conv1': output channels is 6, expected a multiple of input channels, which is 4");

  Layer product = matrix_multiply("qk", {.rows = 0, .inner = 4, .columns = 4});
  EXPECT_EQ(complaint_about(product), "layer 'qk': rows is 0, expected at least 1");
  product.in_height = 4;
  product.kernel_width = 3;
  EXPECT_EQ(complaint_about(product), "layer 'qk': kernel is 3, expected 1 for matmul");

  Layer up = small_convolution();
  up.op = Operator::TransposedConvolution;
  up.output_pad_height = 1;
  EXPECT_EQ(complaint_about(up), "layer 'conv1': output pad is 1, expected at most 0, less than stride or dilation");
  up.output_pad_height = 0;
  up.pad_top = 12;
  EXPECT_EQ(complaint_about(up), "layer 'conv1': output has 0 rows, expected 1 to 2147483647");
}

TEST(CheckLayer, ProductsFitIn63Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(complaint_about(fully_connected("fc", 1, kMost, kMost)), "nothing");
  EXPECT_EQ(complaint_about(fully_connected("fc", 3, kMost, kMost)),
            "layer 'fc': has more than 2^63 multiply-accumulates, expected fewer");
  EXPECT_EQ(complaint_about(matrix_multiply("mm", {.batch = kMost, .rows = 3, .inner = kMost})),
            "layer 'mm': input has more than 2^63 elements, expected fewer");
  EXPECT_EQ(complaint_about(matrix_multiply("mm", {.batch = kMost, .rows = 1, .inner = 3, .columns = kMost})),
            "layer 'mm': weight has more than 2^63 elements, expected fewer");
}

TEST(Layer, SameShapeLooksPastTheName) {
  Layer other = small_convolution();
  other.name = "conv2";
  EXPECT_TRUE(same_shape(small_convolution(), other));
  other.pad_bottom = 1;
  EXPECT_FALSE(same_shape(small_convolution(), other));
}

}  // namespace
}  // namespace tilewright
