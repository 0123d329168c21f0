#include "tilewright/vta/schedule.hpp"

#include <gtest/gtest.h>

namespace tilewright::vta {
namespace {

Layer square(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
             std::int64_t pad) {
  return convolution("layer", {.out_channels = out,
                               .in_channels = in,
                               .in_height = size,
                               .in_width = size,
                               .kernel_height = kernel,
                               .kernel_width = kernel,
                               .stride = stride,
                               .pad = pad});
}

TEST(Schedule, BlocksRoundUp) {
  Machine machine;
  machine.log_batch = 1;
  const BlockedShape conv = blocked(square(14, 20, 33, 3, 2, 1), machine);
  EXPECT_EQ(conv.in_blocks, 2);
  EXPECT_EQ(conv.out_blocks, 3);
  EXPECT_EQ(conv.out_height, 7);
  EXPECT_EQ(blocked(fully_connected("fc", 5, 16, 16), machine).batch_blocks, 3);
  // Two rows are the lanes of one element.
  EXPECT_EQ(blocked(matrix_multiply("matmul", {.batch = 2, .rows = 7, .inner = 40, .columns = 16}), machine).out_height, 4);
  // Sixteen channels of a depthwise layer share a block.
  Layer depthwise = square(14, 96, 96, 3, 1, 1);
  depthwise.op = Operator::Depthwise;
  depthwise.groups = 96;
  EXPECT_EQ(blocked(depthwise, machine).in_blocks, 1);
  EXPECT_EQ(blocked(depthwise, machine).out_blocks, 1);
}

TEST(Schedule, MisfitsNameTheLimit) {
  const Machine machine;
  const Layer layer = square(56, 64, 64, 3, 1, 1);
  const auto kind = [&](const Schedule& schedule) {
    const auto why = misfit(layer, machine, schedule);
    return why ? static_cast<int>(why->kind) : -1;
  };
  EXPECT_EQ(kind({}), -1);
  EXPECT_EQ(kind({.tile_h = 57}), static_cast<int>(MisfitKind::TileRange));
  EXPECT_EQ(kind({.tile_ci = 0}), static_cast<int>(MisfitKind::TileRange));
  EXPECT_EQ(kind({.h_threading = 2, .oc_threading = 3}), static_cast<int>(MisfitKind::Threads));
  EXPECT_EQ(kind({.tile_h = 34, .tile_w = 56}), static_cast<int>(MisfitKind::InpOverflow));  // 36 * 58 = 2088 of 2048
  EXPECT_EQ(misfit(layer, machine, {.tile_h = 34, .tile_w = 56})->sentence(),
            "the input tiles need 2088 elements, expected at most 2048");
  EXPECT_EQ(kind({.tile_h = 32, .tile_w = 56}), -1);
  EXPECT_EQ(kind({.tile_h = 20, .tile_w = 56, .tile_co = 2}), static_cast<int>(MisfitKind::AccOverflow));  // 2 * (1120 + 1)
  EXPECT_EQ(kind({.tile_h = 18, .tile_w = 56, .tile_co = 2}), -1);                                         // 2 * (1008 + 1)
  EXPECT_EQ(misfit(square(7, 512, 512, 3, 1, 1), machine, {.tile_ci = 32, .tile_co = 16})->kind, MisfitKind::WgtOverflow);
  EXPECT_EQ(misfit(square(20, 16, 16, 1, 1, 16), machine, {})->kind, MisfitKind::Field);  // pads have 4 bits
  Layer transposed = layer;
  transposed.op = Operator::TransposedConvolution;
  EXPECT_EQ(misfit(transposed, machine, {})->kind, MisfitKind::Unsupported);
}

TEST(Schedule, ProgramsThatNobodyWouldRunAreMisfits) {
  const Layer layer = fully_connected("fc", 1, 200'000'000, 10);
  const auto why = misfit(layer, Machine{}, {});  // 12.5 million blocks, each multiplied on its own
  ASSERT_TRUE(why);
  EXPECT_EQ(why->kind, MisfitKind::Length);
  EXPECT_EQ(why->sentence(), "the program would have 12500000 instructions or more, expected at most 4194304");
  EXPECT_FALSE(misfit(layer, Machine{}, {.tile_ci = 4}));
  EXPECT_EQ(misfit(layer, Machine{}, {.h_threading = 1'000'000, .oc_threading = 1'000'000})->kind, MisfitKind::Threads);
}

// Contexts need a slot each, but only as far as there are tiles to fill them.
TEST(Schedule, SlotsAreNotMoreThanTiles) {
  const Layer layer = square(14, 128, 32, 3, 1, 1);
  const Schedule resident{.tile_h = 2, .tile_w = 14, .tile_ci = 8, .tile_co = 2, .h_threading = 4};
  Machine machine;
  machine.log_wgt_buffer = 16;  // 256 elements; the only weight tile has 144
  EXPECT_FALSE(misfit(layer, machine, resident));
  Schedule split = resident;
  split.tile_co = 1;
  split.tile_ci = 4;
  EXPECT_FALSE(misfit(layer, machine, split));  // four tiles of 36
  machine.log_wgt_buffer = 15;
  EXPECT_FALSE(misfit(layer, machine, split));  // 144 of 128, so kernels are taken row by row
  machine.log_wgt_buffer = 13;
  EXPECT_EQ(misfit(layer, machine, split)->need, 48);  // and a row of 32 is too much
}

}  // namespace
}  // namespace tilewright::vta
