#include "tilewright/vta/layouts.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tilewright/vta/column_folding.hpp"
#include "tilewright/vta/generator_loops.hpp"
#include "tilewright/vta/reference.hpp"

namespace tilewright::vta {
namespace {

Machine small_machine(int log_batch, int log_in, int log_out) {
  Machine machine;
  machine.log_batch = log_batch;
  machine.log_block_in = log_in;
  machine.log_block_out = log_out;
  return machine;
}

std::vector<std::int8_t> counting(std::int64_t count) {
  std::vector<std::int8_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), std::int8_t{1});
  return numbers;
}

TEST(Layouts, ChannelsBecomeTheLanesOfAPixel) {
  // Three channels of 1x2 pixels in blocks of two: [block][pixel][channel], the fourth channel is padding.
  const Layer layer = convolution("c", {.out_channels = 2, .in_channels = 3, .in_height = 1, .in_width = 2});
  const TensorLayout layout = input_layout(layer, small_machine(0, 1, 1));
  EXPECT_EQ(to_blocks(layout, counting(6)), (std::vector<std::int8_t>{1, 3, 2, 4, 5, 0, 6, 0}));
  // Two images are lanes of their own: [pixel][image][channel].
  Layer two = layer;
  two.batch = 2;
  two.in_channels = 2;
  EXPECT_EQ(to_blocks(input_layout(two, small_machine(1, 1, 1)), counting(8)),
            (std::vector<std::int8_t>{1, 3, 5, 7, 2, 4, 6, 8}));
}

TEST(Layouts, RowsOfAMatrixAreLanes) {
  const Layer layer = matrix_multiply("m", {.rows = 3, .inner = 2, .columns = 3});
  const Machine machine = small_machine(1, 1, 1);
  EXPECT_EQ(to_blocks(input_layout(layer, machine), counting(6)), (std::vector<std::int8_t>{1, 2, 3, 4, 5, 6, 0, 0}));
  // right[k][n] becomes [n block][n][k].
  EXPECT_EQ(weight_blocks(layer, machine, counting(6)), (std::vector<std::int8_t>{1, 4, 2, 5, 3, 6, 0, 0}));
}

TEST(Layouts, WeightsOfDepthwiseLayersAreDiagonal) {
  Layer layer = convolution("d", {.out_channels = 2, .in_channels = 2, .in_height = 4, .in_width = 4, .groups = 2});
  EXPECT_EQ(layer.op, Operator::Depthwise);
  EXPECT_EQ(weight_blocks(layer, small_machine(0, 1, 1), counting(2)), (std::vector<std::int8_t>{1, 0, 0, 2}));
}

TEST(Layouts, BlockingIsUndone) {
  for (const Machine& machine : {small_machine(0, 4, 4), small_machine(1, 2, 3), small_machine(2, 5, 1)}) {
    Layer layer =
        convolution("c", {.batch = 3, .out_channels = 21, .in_channels = 9, .in_height = 5, .in_width = 3, .groups = 3});
    const Layer matrix = matrix_multiply("m", {.batch = 2, .rows = 5, .inner = 7, .columns = 11});
    for (const TensorLayout& layout : {output_layout(layer, machine), input_layout(layer, machine),
                                       output_layout(matrix, machine), input_layout(matrix, machine)}) {
      const std::vector<std::int8_t> plain = counting(layout.images * layout.channels * layout.height * layout.width);
      const std::vector<std::int8_t> blocked = to_blocks(layout, plain);
      EXPECT_EQ(static_cast<std::int64_t>(blocked.size()), layout.numbers());
      EXPECT_EQ(from_blocks(layout, blocked), plain);
    }
  }
}

TEST(Layouts, ProgramsKeepSectionsApart) {
  const Layer layer = convolution("c", {.out_channels = 16, .in_channels = 16, .in_height = 4, .in_width = 4});
  const std::vector<std::int8_t> input = counting(256), weight = counting(256);
  const LayerProgram built =
      layer_program(layer, Machine{}, {.tile_h = 4, .tile_w = 4}, {}, {.input = input, .weight = weight});
  std::uint64_t end = 0;
  for (const Section& section : built.program.sections) {
    if (section.kind == SectionKind::Dump) continue;
    EXPECT_GE(section.address, end);
    end = section.address + section.size;
    EXPECT_EQ(section.address % 16, 0u);
  }
}

TEST(ColumnFolding, GivesTheSameSums) {
  Layer layer = convolution("c", {.batch = 2,
                                  .out_channels = 6,
                                  .in_channels = 4,
                                  .in_height = 7,
                                  .in_width = 9,
                                  .kernel_height = 3,
                                  .kernel_width = 4,
                                  .stride = 2,
                                  .groups = 2});
  layer.pad_left = 3;
  layer.pad_right = layer.pad_top = 1;
  layer.dilation_width = 2;
  const std::vector<std::int8_t> input = counting(2 * 4 * 7 * 9), weight = counting(6 * 2 * 3 * 4);
  ASSERT_TRUE(check(folded_layer(layer)));
  EXPECT_EQ(reference_sums(folded_layer(layer), folded_input(layer, input), folded_weight(layer, weight)),
            reference_sums(layer, input, weight));
}

TEST(ColumnFolding, IsForImages) {
  const ConvolutionShape image{.out_channels = 64,
                               .in_channels = 3,
                               .in_height = 224,
                               .in_width = 224,
                               .kernel_height = 7,
                               .kernel_width = 7,
                               .stride = 2,
                               .pad = 3};
  const Layer first = machine_layer(convolution("conv1", image));
  EXPECT_EQ(first.in_channels, 21);
  EXPECT_EQ(first.kernel_width, 1);
  EXPECT_EQ(macs(first).value, macs(convolution("conv1", image)).value);
  const ElementLoops loops = element_loops(first, Machine{});
  EXPECT_EQ(loops.in_blocks * loops.kernel_height * loops.kernel_width, 14);
  ConvolutionShape full = image;
  full.in_channels = 64;
  EXPECT_EQ(machine_layer(convolution("conv2", full)), convolution("conv2", full));
  ConvolutionShape narrow = image;
  narrow.kernel_width = 1;
  EXPECT_EQ(machine_layer(convolution("column", narrow)), convolution("column", narrow));
}

TEST(ColumnFolding, NeverTakesMoreSteps) {
  for (int log_block = 0; log_block <= 6; ++log_block) {
    Machine machine;
    machine.log_block_in = log_block;
    for (std::int64_t channels = 1; channels <= 4; ++channels) {
      for (std::int64_t width = 2; width <= 11; ++width) {
        const Layer layer = convolution(
            "c", {.in_channels = channels, .in_height = 32, .in_width = 32, .kernel_height = 3, .kernel_width = width});
        const auto steps = [&machine](const Layer& one) {
          const ElementLoops loops = element_loops(one, machine);
          return loops.in_blocks * loops.kernel_height * loops.kernel_width;
        };
        EXPECT_LE(steps(machine_layer(layer)), steps(layer)) << log_block << ' ' << channels << ' ' << width;
      }
    }
  }
}

TEST(Reference, FinishesAsTheAluDoes) {
  EXPECT_EQ(finished(1000, {.shift = 2}), 127);
  EXPECT_EQ(finished(-5, {.shift = 1}), -3);  // rounds down
  EXPECT_EQ(finished(-5, {.low = 0}), 0);
  EXPECT_EQ(finished(3, {.shift = -4}), 48);
  EXPECT_EQ(finished(-1, {.shift = 40}), -1);
  EXPECT_EQ(finished(1 << 30, {.shift = -2}), 0);  // shifted out
}

TEST(Reference, SumsByHand) {
  // 1x3 input (1 2 3), kernel (1 2) with one zero before: 0*1+1*2, 1*1+2*2, 2*1+3*2.
  Layer layer = convolution("c", {.in_width = 3, .kernel_width = 2});
  layer.pad_left = 1;
  const std::vector<std::int8_t> input = {1, 2, 3}, weight = {1, 2};
  EXPECT_EQ(reference_sums(layer, input, weight), (std::vector<std::int32_t>{2, 5, 8}));
  const PoolTask pool{.in_width = 3, .kernel_width = 2, .pad_left = 1};
  const std::vector<std::int8_t> negative = {-1, -2, -3};
  EXPECT_EQ(reference(pool, {}, {.input = negative}), (std::vector<std::int8_t>{-1, -1, -2}));
}

}  // namespace
}  // namespace tilewright::vta
