#include "tilewright/space/classics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_mappings.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

Judging judging_for(const std::string& objective, Constraints constraints = Constraints::Hard, Model model = Model::Sound) {
  return {{.model = model, .constraints = constraints}, false, *objective_named(objective)};
}

Nest convolution_nest(std::int64_t batch) {
  ConvolutionShape shape{.batch = batch, .out_channels = 64, .in_channels = 8, .in_height = 57, .in_width = 57};
  shape.kernel_height = shape.kernel_width = 3;
  shape.stride = 2;
  return *nest_of(convolution("conv", shape));
}

// What a dataflow takes for twice the work is never less than for the work.
TEST(Classics, ALayerOfOneImageIsNoSlowerThanOfTwo) {
  for (const std::int64_t pes : {16, 100, 256, 1000}) {
    Accelerator array;
    array.pes = pes;
    array.noc.bandwidth = 64;
    for (const Dataflow& known : dataflows()) {
      const auto one = best_tiling(known.name, convolution_nest(1), array, judging_for("latency")).value();
      const auto two = best_tiling(known.name, convolution_nest(2), array, judging_for("latency")).value();
      ASSERT_TRUE(one && two) << known.name << " on " << pes;
      EXPECT_LE(one->score[0], two->score[0]) << known.name << " on " << pes;
    }
  }
}

TEST(Classics, AreNoWorseThanTheEstimatesTiles) {
  std::size_t better = 0, equal = 0;
  for (const NamedNest& one : all_kinds()) {
    for (const char* objective : {"latency", "energy", "edp"}) {
      const Judging judging = judging_for(objective, Constraints::Report);
      for (const Dataflow& known : dataflows()) {
        const auto classic = best_tiling(known.name, one.nest, machine(), judging).value();
        ASSERT_TRUE(classic) << one.name << " " << known.name;
        const Mapping estimated = *dataflow(known.name, one.nest, machine(), StridedTiles::Several);
        const Evaluation evaluation = evaluate(estimated, one.nest, machine(), Model::Sound, Constraints::Report);
        if (std::holds_alternative<Infeasible>(evaluation)) continue;
        const Cost& cost = std::get<Cost>(evaluation);
        Metrics metrics;
        metrics.latency = static_cast<double>(cost.runtime.value);
        metrics.energy = cost.energy.value;
        const double before = score_of(judging.objective, metrics)[0];
        EXPECT_LE(classic->score[0], before) << one.name << " " << known.name << " " << objective;
        ++(classic->score[0] < before ? better : equal);
      }
    }
  }
  EXPECT_GT(better, equal / 4);  // a choice that is never used would be no choice
}

TEST(Classics, ListsEachDataflowOnceBestFirst) {
  const Classics classics = classics_of(all_kinds()[0].nest, machine(), judging_for("edp", Constraints::Report));
  ASSERT_EQ(classics.fitting.size(), 7U);
  std::int64_t judged = 0;
  for (std::size_t i = 0; i < classics.fitting.size(); ++i) {
    judged += classics.fitting[i].judged;
    EXPECT_LE(classics.fitting[i == 0 ? 0 : i - 1].score, classics.fitting[i].score);
  }
  EXPECT_EQ(judged, classics.judged);
}

TEST(Classics, KeepTheLimitsOfTheObjective) {
  const Nest nest = all_kinds()[0].nest;
  Judging judging = judging_for("energy", Constraints::Report);
  const Classics free = classics_of(nest, machine(), judging);
  double fastest = free.fitting.front().outcome.metrics.latency;
  for (const Classic& classic : free.fitting) fastest = std::min(fastest, classic.outcome.metrics.latency);
  judging.objective.limits.latency = 2 * fastest;
  for (const Classic& classic : classics_of(nest, machine(), judging).fitting) {
    EXPECT_LE(classic.outcome.metrics.latency, 2 * fastest);
  }
}

// Every classic is a point, with the very same numbers, on layers of all kinds and machines of all sizes.
TEST(ClassicSpace, ContainsEveryClassic) {
  for (const char* hardware : {"zoo:eyeriss", "zoo:tpu-v1-like", "zoo:nvdla-small"}) {
    const Accelerator accelerator = *read_accelerator(hardware);
    for (const char* source : {"zoo:resnet18", "zoo:bert_base"}) {
      const Network network = *read_network(source);
      for (const LayerGroup& group : distinct_layers(network)) {
        const Layer& layer = network.layers[group.first].layer;
        const Nest nest = *nest_of(layer);
        for (const char* objective : {"latency", "edp"}) {
          const Classics classics = classics_of(nest, accelerator, judging_for(objective));
          MappingSpaceOptions options;
          options.tiles = Tiles::Divisors;
          const MappingSpace space = space_with(classics, layer.name, nest, accelerator, options);
          EXPECT_EQ(points_of(classics, space).size(), classics.fitting.size())
              << source << " " << layer.name << " on " << hardware << " for " << objective;
        }
      }
    }
  }
}

TEST(ClassicSpace, HasAsManyLevelsAsTheArrayAndTheClassicsNeed) {
  MappingSpaceOptions options;
  options.tiles = Tiles::Divisors;
  ConvolutionShape shape{.out_channels = 64, .in_channels = 64, .in_height = 58, .in_width = 58};
  const Nest pointwise = *nest_of(convolution("pointwise", shape));
  const auto levels_on = [&](std::int64_t pes) {
    return space_with({}, "layer", pointwise, machine(pes), options).most_levels();
  };
  EXPECT_EQ(levels_on(256), 2U);
  EXPECT_EQ(levels_on(4096), 2U);  // 64 x 64
  EXPECT_EQ(levels_on(8192), 3U);  // needs rows too

  Mapping three;
  for (int level = 0; level < 3; ++level) three.levels.push_back({});
  Classics classics;
  classics.fitting.push_back({"eyeriss", three, {}, {}, 1});
  EXPECT_EQ(space_with(classics, "layer", pointwise, machine(), options).most_levels(), 3U);
}

// Random points of a space with the row stationary form are legal, keep their spelling, and come back from their mapping.
TEST(ClassicSpace, PointsOfARowStationarySpaceComeBack) {
  const Nest nest = all_kinds()[0].nest;
  Accelerator fed = machine();
  fed.noc.bandwidth = 64;
  const Classics classics = classics_of(nest, fed, judging_for("edp", Constraints::Report));
  MappingSpaceOptions options = options_of(Tiles::Divisors, 2, 2);
  const MappingSpace space = space_with(classics, "layer", nest, fed, options);
  ASSERT_TRUE(space.places(1).diagonal);
  Rng rng(3, "rows");
  int diagonal = 0;
  for (int round = 0; round < 2000; ++round) {
    const Point point = random_point(space, rng);
    ASSERT_TRUE(is_legal(space, point));
    const auto back = space.point_of(space.mapping(point));
    ASSERT_TRUE(back);
    if (space.level_count(point) == 1) continue;
    EXPECT_EQ(*back, point) << to_yaml(space.mapping(point));
    diagonal += is_diagonal(space.mapping(point).levels.back()) ? 1 : 0;
  }
  EXPECT_GT(diagonal, 20);
}

TEST(ClassicSpace, WithoutClassicsIsThePlainSpace) {
  const Nest nest = all_kinds()[0].nest;
  const MappingSpaceOptions options = options_of(Tiles::Divisors, 2, 2);
  const MappingSpace plain("layer", nest, machine(), options), asked = space_with({}, "layer", nest, machine(), options);
  ASSERT_EQ(plain.parameters().size(), asked.parameters().size());
  for (std::size_t i = 0; i < plain.parameters().size(); ++i) {
    EXPECT_EQ(plain.parameters()[i].name, asked.parameters()[i].name);
    EXPECT_EQ(plain.parameters()[i].value_count, asked.parameters()[i].value_count);
  }
}

}  // namespace
}  // namespace tilewright
