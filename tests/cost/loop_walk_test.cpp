// The walk itself, on cases small enough to do by hand.
#include "walked.hpp"

namespace tilewright {
namespace {

TEST(LoopWalk, SpatialLoopsHandEachUnitItsOwnTile) {
  const Nest nest = matrix_nest(1, 2, 5);  // 10 multiplications
  const LoopWalk walk = walk_loops(nest, one_level({{Kind::Spatial, Dim::N, 2, 2}, {Kind::Temporal, Dim::K, 1, 1}}), 2);
  // Columns {0,1} and {2,3}, then {4} alone; each for two steps of K.
  ASSERT_EQ(walk.steps.size(), 4u);
  EXPECT_EQ(walk.steps[0].busy_units, 2);
  EXPECT_EQ(walk.steps[2].busy_units, 1);
  EXPECT_EQ(walk.cycles, 2 + 2 + 1 + 1);
  EXPECT_EQ(walk.busy_pes, 1.5);
  EXPECT_EQ(walk.executed, 10);
  EXPECT_EQ(walk.missing, 0);
  EXPECT_EQ(walk.steps[1].moved, 1);
  EXPECT_EQ(walk.steps[2].moved, 0);
  EXPECT_EQ(walk.steps[2].began_again, 0b10u);
}

TEST(LoopWalk, NeighboursShareTheHaloOfTheirInputs) {
  const Nest nest = convolution_nest({.in_width = 6, .kernel_width = 3});  // 4 outputs
  const LoopWalk walk = walk_loops(nest, one_level({{Kind::Spatial, Dim::OutX, 1, 1}, {Kind::Temporal, Dim::S, 3, 3}}), 4);
  ASSERT_EQ(walk.steps.size(), 1u);
  EXPECT_EQ(walk.steps[0].elements[kInput].each_whole, 12);
  EXPECT_EQ(walk.steps[0].elements[kInput].once_whole, 6);
  EXPECT_EQ(walk.steps[0].elements[kOutput].each_whole, 4);
}

TEST(LoopWalk, AUnitKeepsWhatItsNextTileShares) {
  const Nest nest = convolution_nest({.in_width = 6, .kernel_width = 3});
  const Mapping mapping =
      one_level({{Kind::Temporal, Dim::OutX, 2, 2}, {Kind::Temporal, Dim::S, 3, 3}, {Kind::Spatial, Dim::K, 1, 1}});
  const LoopWalk walk = walk_loops(nest, mapping, 1);
  ASSERT_EQ(walk.steps.size(), 2u);
  EXPECT_EQ(walk.steps[0].elements[kInput].once_fresh, 4);  // columns 0 to 3
  EXPECT_EQ(walk.steps[1].elements[kInput].once_fresh, 2);  // columns 4 and 5
  EXPECT_EQ(walk.steps[1].elements[kWeight].once_fresh, 0);
}

TEST(LoopWalk, GapsLeaveWorkOutAndOverlapsDoItTwice) {
  const Nest nest = matrix_nest(1, 4, 3);
  const LoopWalk walk = walk_loops(nest, one_level({{Kind::Temporal, Dim::K, 2, 1}, {Kind::Spatial, Dim::N, 1, 2}}), 1);
  EXPECT_EQ(walk.executed, 6 * 2);  // K: {0,1} {1,2} {2,3}; N: 0 and 2
  EXPECT_EQ(walk.distinct, 4 * 2);
  EXPECT_EQ(walk.missing, 4 * 1);
}

TEST(LoopWalk, AStridedTileHoldsWholeOutputs) {
  const Nest nest = convolution_nest({.in_width = 9, .kernel_width = 3, .stride = 2});  // 4 outputs
  for (const Directive& columns : {Directive{Kind::Spatial, Dim::OutX, 3, 3}, Directive{Kind::Spatial, Dim::X, 6, 1}}) {
    const LoopWalk walk = walk_loops(nest, one_level({columns, {Kind::Temporal, Dim::S, 3, 3}}), 2);
    ASSERT_EQ(walk.steps.size(), 1u);  // two units with two outputs each
    EXPECT_EQ(walk.steps[0].elements[kInput].each_whole, 5 + 5);
    EXPECT_EQ(walk.executed, 12);
    EXPECT_EQ(walk.missing, 0);
  }
}

}  // namespace
}  // namespace tilewright
