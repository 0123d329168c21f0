// The exact model against a walk of the loops (loop_walk.hpp), on random mappings.
//
// Exact, whatever the tiles leave over: a mapping that gets a Cost does every multiplication exactly once; the model counts
// them exactly, at level 0 and at the processing elements; the runtime on a network that costs nothing, the processing
// elements at work, the outputs written to L2 and the L1 need are those of the walk. A mapping whose tiles leave gaps or
// overlap, or that spreads two dimensions over the same units, is infeasible.
//
// Where the model differs by design, always to the safe side of the walk, in which a unit keeps its latest tile and an
// element wanted by several units at once is sent once:
//   1. In the very first step each unit is sent all of its tile, although neighbours share the halo of their inputs.
//   2. Later the halo is sent once if the spatial loop moved on or lies inside the loop that did. When a loop inside the
//      spatial one moves, each unit is sent its own copy.
//   3. A unit keeps nothing of an operand in a step where the spatial loop moved on, or a loop on the operand began again.
//   4. A shorter last tile of a loop of level 0 is sent as if it were a whole one, if the loop is temporal or has only one
//      unit left to work on it.
//   5. Outputs leave for L2 in every step of level 0, also when the next step goes on with the same ones.
//   6. Where a level cuts the kernel, the model also spends time where a part of the kernel meets no output: runtime and the
//      count at the processing elements are upper bounds there.
// To the other side there are two omissions. Partial sums that come back from L2 are not counted as reads: outputs are read
// once, at the end. And only what passes between L2 and the top array costs energy; what the levels inside pass on costs
// time only.
#include "tilewright/cost/stance_walk.hpp"
#include "walked.hpp"

namespace tilewright {
namespace {

Evaluation exactly_on_free_network(const Nest& nest, const Mapping& mapping, std::int64_t pes) {
  return evaluate(mapping, nest, free_network(pes), Model::Exact);
}

// True when rule 4 has nothing to say about an operand: no loop of level 0 that it speaks of leaves a shorter tile over.
bool last_tiles_are_whole(const RandomCase& drawn, std::size_t operand) {
  const std::set<Dim> dims = dims_of(drawn.nest, operand);
  std::int64_t units = drawn.pes;
  for (std::size_t i = 1; i < drawn.mapping.levels.size(); ++i) units /= drawn.mapping.levels[i].cluster_size;
  for (const Directive& loop : drawn.mapping.levels[0].directives) {
    if (dims.count(loop.dim) == 0) continue;
    const Dim input = loop.dim == Dim::OutY ? Dim::Y : loop.dim == Dim::OutX ? Dim::X : loop.dim;
    std::int64_t size = drawn.nest[input], tile = loop.size;
    if (input == Dim::Y || input == Dim::X) {
      const std::int64_t stride = std::max(1, drawn.nest.stride[static_cast<std::size_t>(input)]);
      size = outputs_along(drawn.nest, input);
      tile = loop.dim != input ? (tile + stride - 1) / stride
                               : (tile - drawn.nest[input == Dim::Y ? Dim::R : Dim::S]) / stride + 1;
    }
    const std::int64_t whole_tiles = size / tile;
    const bool alone = loop.kind == Kind::Temporal || whole_tiles % units == 0;
    if (tile < size && size % tile != 0 && alone) return false;
  }
  return true;
}

void expect_exact(const RandomCase& drawn, Rng& rng) {
  const std::int64_t lanes = rng.between(1, 3);
  const Evaluation evaluation = evaluate(drawn.mapping, drawn.nest, free_network(drawn.pes, lanes), Model::Exact);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  ASSERT_NE(cost, nullptr) << to_sentence(std::get<Infeasible>(evaluation));
  const LoopWalk walk = walk_loops(drawn.nest, drawn.mapping, drawn.pes, lanes);
  const std::int64_t true_macs = macs(drawn.nest).value;
  EXPECT_EQ(walk.distinct, true_macs);
  EXPECT_EQ(walk.duplicates(), 0);
  EXPECT_EQ(walk.missing, 0);
  EXPECT_EQ(cost->macs.value, true_macs);
  EXPECT_EQ(cost->leaf_macs.value, true_macs);
  EXPECT_EQ(cost->runtime.value, walk.cycles);
  EXPECT_NEAR(cost->detail.utilised_pes, walk.busy_pes, 1e-9 * walk.busy_pes);

  std::int64_t written = 0;
  for (const WalkedStep& step : walk.steps) written += step.elements[kOutput].once_whole;
  EXPECT_EQ(cost->traffic[kOutput].l2_write, written);
  EXPECT_EQ(cost->l2_need[kOutput], 2 * walk.steps[0].elements[kOutput].once_whole);
  for (const std::size_t operand : {kInput, kWeight}) {
    std::int64_t first_step = 0;
    const std::int64_t expected = traffic_by_the_rules(drawn, walk, operand, Resend::WhenALoopBeganAgain, &first_step);
    EXPECT_GE(expected, walked_traffic(walk, operand)) << "operand " << operand;
    EXPECT_GE(cost->traffic[operand].l2_read, expected) << "operand " << operand;
    if (last_tiles_are_whole(drawn, operand)) {
      EXPECT_EQ(cost->traffic[operand].l2_read, expected) << "operand " << operand;
    }
    EXPECT_EQ(cost->l2_need[operand], 2 * first_step) << "operand " << operand;
  }
  for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
    EXPECT_EQ(cost->l1_need[operand], 2 * walk.largest_tile[operand]) << "operand " << operand;
    for (const WalkedStep& step : walk.steps) EXPECT_GE(cost->l2_need[operand], 2 * step.elements[operand].once_whole);
  }
}

// ---- The model against the walk.

TEST(ExactModel, EqualsTheWalkWhenTilesDivide) { for_random_cases(TileStyle::Dividing, 2500, expect_exact); }

TEST(ExactModel, EqualsTheWalkWhenTilesAreRagged) { for_random_cases(TileStyle::Ragged, 4000, expect_exact); }

TEST(ExactModel, EqualsTheWalkWhenTilesAreLargerThanWhatThereIs) {
  for_random_cases(TileStyle::Oversize, 2500, expect_exact);
}

TEST(ExactModel, ACostMeansThatEveryMacIsDoneOnce) {
  int costs = 0;
  for_random_cases(TileStyle::Wild, 12000, [&](const RandomCase& drawn, Rng&) {
    const Evaluation evaluation = exactly_on_free_network(drawn.nest, drawn.mapping, drawn.pes);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr) return;
    ++costs;
    const LoopWalk walk = walk_loops(drawn.nest, drawn.mapping, drawn.pes);
    EXPECT_EQ(walk.missing, 0);
    EXPECT_EQ(walk.duplicates(), 0);
    EXPECT_EQ(cost->macs.value, walk.distinct);
    EXPECT_EQ(cost->leaf_macs.value, walk.executed);
    EXPECT_GE(cost->runtime.value, walk.cycles);
    for (const std::size_t operand : {kInput, kWeight})
      EXPECT_GE(cost->traffic[operand].l2_read, walked_traffic(walk, operand));
  });
  EXPECT_GT(costs, 3000);
}

TEST(ExactModel, TilesThatDoNotMeetReallyMissOrRepeatWork) {
  int refused = 0;
  for_random_cases(TileStyle::Wild, 5000, [&](const RandomCase& drawn, Rng&) {
    if (refusal(exactly_on_free_network(drawn.nest, drawn.mapping, drawn.pes)) != "tiles-do-not-meet") return;
    for (const MappingLevel& level : drawn.mapping.levels) {  // leave out what can go wrong in other ways as well
      int spatial = 0;
      for (const Directive& loop : level.directives) {
        spatial += loop.kind == Kind::Spatial ? 1 : 0;
        if ((loop.dim == Dim::R || loop.dim == Dim::S) && loop.size < drawn.nest[loop.dim]) return;
      }
      if (spatial > 1) return;
    }
    ++refused;
    const LoopWalk walk = walk_loops(drawn.nest, drawn.mapping, drawn.pes);
    EXPECT_GT(walk.missing + walk.duplicates(), 0);
  });
  EXPECT_GT(refused, 200);
}

TEST(ExactModel, NoMachineIsFasterThanItsProcessingElements) {
  for_random_cases(TileStyle::Ragged, 1500, [&](const RandomCase& drawn, Rng& rng) {
    Accelerator machine = free_network(drawn.pes, rng.between(1, 2));
    machine.noc = {.bandwidth = rng.between(1, 32), .hops = rng.between(0, 3), .hop_latency = 1};
    machine.offchip_bandwidth = rng.between(1, 32);
    const Evaluation evaluation = evaluate(drawn.mapping, drawn.nest, machine, Model::Exact, Constraints::Report);
    ASSERT_TRUE(std::holds_alternative<Cost>(evaluation)) << to_sentence(std::get<Infeasible>(evaluation));
    const std::int64_t runtime = std::get<Cost>(evaluation).runtime.value;
    const LoopWalk walk = walk_loops(drawn.nest, drawn.mapping, drawn.pes, machine.simd_lanes);
    EXPECT_GE(runtime, walk.cycles);
    EXPECT_GE(runtime * drawn.pes * machine.simd_lanes, walk.distinct);
  });
}

TEST(ExactModel, GroupedAndLiteralEvaluationAgree) {
  for_random_cases(TileStyle::Wild, 4000, [&](const RandomCase& drawn, Rng& rng) {
    Accelerator machine = free_network(drawn.pes);
    machine.noc = {.bandwidth = rng.between(1, 32), .hops = rng.between(0, 3), .hop_latency = 1};
    machine.offchip_bandwidth = rng.between(1, 32);
    const Evaluation evaluation = evaluate(drawn.mapping, drawn.nest, machine, Model::Exact, Constraints::Report);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    Plan plan;
    if (cost == nullptr || make_plan(plan, drawn.nest, drawn.mapping, drawn.pes, Model::Exact)) return;
    const auto outcome = walk_stances(plan, {machine.noc.bandwidth, machine.noc.latency(), machine.offchip_bandwidth, 1});
    ASSERT_TRUE(std::holds_alternative<Analysis>(outcome));
    const Analysis& literal = std::get<Analysis>(outcome);
    EXPECT_EQ(cost->runtime.value, literal.runtime);
    EXPECT_EQ((cost->leaf_macs + cost->idle_macs).value, literal.leaf_macs);
    EXPECT_DOUBLE_EQ(cost->detail.utilised_pes, literal.utilisation);
    EXPECT_EQ(cost->peak_bandwidth, literal.peak_bandwidth);
    EXPECT_EQ(cost->offchip_bandwidth, literal.offchip_bandwidth);
    EXPECT_EQ(cost->l1_need, literal.first_lower_need);
    EXPECT_EQ(cost->l2_need, literal.upper_need);
    for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
      EXPECT_EQ(cost->traffic[operand].l2_read, literal.traffic[operand].l2_read);
      EXPECT_EQ(cost->traffic[operand].l2_write, literal.traffic[operand].l2_write);
      EXPECT_EQ(cost->traffic[operand].l1_read, literal.traffic[operand].l1_read);
    }
  });
}

// ---- Single facts, each once the way to a wrong number.

TEST(ExactModel, OverlapsDoNotMakeUpForGaps) {
  const Nest nest = matrix_nest(1, 4, 3);
  // K {0,1} {1,2} {2,3} and N 0, 2: twelve multiplications, as many as there are, and four of them are missing.
  const Mapping mapping = one_level({{Kind::Temporal, Dim::K, 2, 1}, {Kind::Spatial, Dim::N, 1, 2}});
  EXPECT_EQ(walk_loops(nest, mapping, 1).missing, 4);
  EXPECT_EQ(refusal(exactly_on_free_network(nest, mapping, 1)), "tiles-do-not-meet");
}

TEST(ExactModel, TwoSpatialLoopsLeaveCombinationsOut) {
  const Nest nest = matrix_nest(1, 2, 2);
  const Mapping mapping = one_level({{Kind::Spatial, Dim::K, 1, 1}, {Kind::Spatial, Dim::N, 1, 1}});
  EXPECT_EQ(walk_loops(nest, mapping, 2).missing, 2);  // unit 0 has (0, 0), unit 1 has (1, 1)
  EXPECT_EQ(refusal(exactly_on_free_network(nest, mapping, 2)), "unpaired-spatial-maps");
}

TEST(ExactModel, RowStationaryPairsOfSpatialLoopsAreExact) {
  for (const std::int64_t stride : {1, 2}) {
    const Nest nest = convolution_nest({.out_channels = 2,
                                        .in_channels = 3,
                                        .in_height = 7,
                                        .in_width = 5,
                                        .kernel_height = 3,
                                        .kernel_width = 3,
                                        .stride = stride});
    Mapping mapping = one_level({{Kind::Spatial, Dim::OutY, 1, 1},
                                 {Kind::Temporal, Dim::K, 1, 1},
                                 {Kind::Temporal, Dim::R, 3, 3},
                                 {Kind::Temporal, Dim::S, 3, 3}});
    add_level(mapping, 3, {{Kind::Spatial, Dim::Y, 1, 1}, {Kind::Spatial, Dim::R, 1, 1}, {Kind::Temporal, Dim::C, 1, 1}});
    const LoopWalk walk = walk_loops(nest, mapping, 6);
    EXPECT_EQ(walk.missing + walk.duplicates(), 0);
    const Evaluation evaluation = exactly_on_free_network(nest, mapping, 6);
    ASSERT_TRUE(std::holds_alternative<Cost>(evaluation)) << to_sentence(std::get<Infeasible>(evaluation));
    EXPECT_EQ(std::get<Cost>(evaluation).runtime.value, walk.cycles);
    EXPECT_EQ(std::get<Cost>(evaluation).leaf_macs.value, walk.distinct);
  }
}

TEST(ExactModel, OutputTilesLargerThanTheOutputsCostTheSameAsWholeOnes) {
  // MAESTRO makes negative tiles of these, and 38 cycles of 104,976.
  const Nest nest = convolution_nest(
      {.out_channels = 64, .in_channels = 64, .in_height = 56, .in_width = 56, .kernel_height = 3, .kernel_width = 3});
  const auto runtime = [&](std::int32_t tile) {
    Mapping mapping = one_level({{Kind::Spatial, Dim::K, 1, 1},
                                 {Kind::Temporal, Dim::C, 64, 64},
                                 {Kind::Temporal, Dim::OutY, tile, tile},
                                 {Kind::Temporal, Dim::OutX, tile, tile},
                                 {Kind::Temporal, Dim::R, 3, 3},
                                 {Kind::Temporal, Dim::S, 3, 3}});
    add_level(mapping, 16, {{Kind::Spatial, Dim::C, 1, 1}});
    return std::get<Cost>(exactly_on_free_network(nest, mapping, 1024)).runtime.value;
  };
  EXPECT_EQ(runtime(54), 104976);
  for (const std::int32_t tile : {55, 56, 57, 100}) EXPECT_EQ(runtime(tile), 104976);
}

TEST(ExactModel, OneUnitLeftOverAtTheEdgeOfAWindowCountsOutputs) {
  const Nest nest = convolution_nest({.in_width = 7, .kernel_width = 3});  // 5 outputs over 4 units: 4, then 1
  const Mapping mapping = one_level({{Kind::Spatial, Dim::OutX, 1, 1}, {Kind::Temporal, Dim::S, 3, 3}});
  const Evaluation evaluation = exactly_on_free_network(nest, mapping, 4);
  ASSERT_TRUE(std::holds_alternative<Cost>(evaluation)) << to_sentence(std::get<Infeasible>(evaluation));
  EXPECT_EQ(std::get<Cost>(evaluation).macs.value, 15);
  EXPECT_EQ(std::get<Cost>(evaluation).runtime.value, 3 + 3);
}

TEST(ExactModel, ARaggedUnitWorksBesideTheWholeOnes) {
  const Nest nest = matrix_nest(1, 1, 11);  // tiles of 2 over 4 units: 2 2 2 2, then 2 and 1
  const Evaluation evaluation = exactly_on_free_network(nest, one_level({{Kind::Spatial, Dim::N, 2, 2}}), 4);
  ASSERT_TRUE(std::holds_alternative<Cost>(evaluation)) << to_sentence(std::get<Infeasible>(evaluation));
  EXPECT_EQ(std::get<Cost>(evaluation).runtime.value, 2 + 2);
  EXPECT_DOUBLE_EQ(std::get<Cost>(evaluation).detail.utilised_pes, (4 + 2) / 2.0);
}

TEST(ExactModel, EveryBusyUnitWritesItsOutputs) {
  const Nest nest = matrix_nest(5, 12, 10);  // two of six units busy, three steps of K, 50 outputs each
  const Mapping mapping =
      one_level({{Kind::Temporal, Dim::M, 5, 5}, {Kind::Spatial, Dim::N, 5, 5}, {Kind::Temporal, Dim::K, 4, 4}});
  EXPECT_EQ(std::get<Cost>(exactly_on_free_network(nest, mapping, 6)).traffic[kOutput].l2_write, 3 * 50);
}

TEST(ExactModel, WhatALoopBeginsAgainWithIsSentAgain) {
  const Nest nest = matrix_nest(2, 1, 3);
  // For each of two rows the three columns pass by, one at a time: a unit holds one of them.
  const Mapping mapping =
      one_level({{Kind::Temporal, Dim::M, 1, 1}, {Kind::Temporal, Dim::N, 1, 1}, {Kind::Spatial, Dim::K, 1, 1}});
  EXPECT_EQ(walked_traffic(walk_loops(nest, mapping, 1), kWeight), 6);
  EXPECT_EQ(std::get<Cost>(exactly_on_free_network(nest, mapping, 1)).traffic[kWeight].l2_read, 6);
}

TEST(ExactModel, InnerTilesAreCutFromTheTilesThatAreThere) {
  // Tiles of 6 and 3 columns, cut inside into 4 and 2, and into 3.
  const Nest nest = matrix_nest(1, 1, 9);
  Mapping mapping = one_level({{Kind::Temporal, Dim::N, 6, 6}, {Kind::Spatial, Dim::K, 1, 1}});
  add_level(mapping, 1, {{Kind::Temporal, Dim::N, 4, 4}, {Kind::Spatial, Dim::M, 1, 1}});
  const Evaluation evaluation = exactly_on_free_network(nest, mapping, 1);
  ASSERT_TRUE(std::holds_alternative<Cost>(evaluation)) << to_sentence(std::get<Infeasible>(evaluation));
  EXPECT_EQ(std::get<Cost>(evaluation).runtime.value, 9);
  EXPECT_EQ(std::get<Cost>(evaluation).leaf_macs.value, 9);
}

TEST(ExactModel, AStridedTileHoldsItsOutputsAndNoMore) {
  const Nest nest = convolution_nest(
      {.in_height = 9, .in_width = 9, .kernel_height = 3, .kernel_width = 3, .stride = 2});  // 4 x 4 outputs
  const Mapping mapping = one_level({{Kind::Spatial, Dim::OutY, 3, 3},
                                     {Kind::Temporal, Dim::OutX, 4, 4},
                                     {Kind::Temporal, Dim::R, 3, 3},
                                     {Kind::Temporal, Dim::S, 3, 3}});  // tiles of 2 x 2 outputs
  const Cost exact = std::get<Cost>(exactly_on_free_network(nest, mapping, 2));
  EXPECT_EQ(exact.macs.value, 16 * 9);
  EXPECT_EQ(exact.runtime.value, 8 * 9);
  const Cost maestro = std::get<Cost>(evaluate(mapping, nest, free_network(2), Model::Maestro));
  EXPECT_EQ(maestro.macs.value, 36 * 9);  // as if 5 input rows held 3 outputs
}

}  // namespace
}  // namespace tilewright
