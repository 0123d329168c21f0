// How mapping spaces are laid out: their size, names, values, and what leads into them.
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_mappings.hpp"

namespace tilewright {
namespace {

struct SmallCase {
  const char* name;
  Layer layer;
  MappingSpaceOptions options;
  std::int64_t pes;
};

std::vector<SmallCase> small_cases() {
  const Layer flat = convolution("flat", {.out_channels = 4, .in_channels = 3});
  const Layer rows = convolution("rows", {.out_channels = 2, .in_channels = 2, .in_height = 2});
  const Layer kernel =
      convolution("kernel", {.out_channels = 2, .in_height = 3, .in_width = 2, .kernel_height = 2, .kernel_width = 2});
  return {{"any", flat, options_of(Tiles::Any, 2, 2), 3},
          {"divisors", flat, options_of(Tiles::Divisors, 2, 2), 6},
          {"one_level", flat, options_of(Tiles::Any, 1, 1, true), 5},
          {"three_levels", flat, options_of(Tiles::Divisors, 3, 3), 4},
          {"all_levels", convolution("two", {.out_channels = 2, .in_channels = 2}), options_of(Tiles::Any, 1, 3), 3},
          {"three_dimensions", rows, options_of(Tiles::Any, 2, 2), 2},
          {"kernel", kernel, options_of(Tiles::Any, 2, 2), 2}};
}

class SmallSpace : public testing::TestWithParam<SmallCase> {};
INSTANTIATE_TEST_SUITE_P(MappingSpace, SmallSpace, testing::ValuesIn(small_cases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Priorities with ties mean an order that other priorities mean too, so designs are fewer than points.
TEST_P(SmallSpace, SizeIsTheNumberOfDesignsAmongAllLegalPoints) {
  const MappingSpace space("small", *nest_of(GetParam().layer), machine(GetParam().pes), GetParam().options);
  std::set<std::string> designs;
  std::set<Point> canonical;
  std::int64_t points = 0, already_canonical = 0;
  for_each_point(space, [&](const Point& point) {
    ++points;
    designs.insert(design_of(space, point));
    Point spelt = point;
    space.canonicalise(spelt);
    if (spelt == point) ++already_canonical;
    canonical.insert(spelt);
  });
  EXPECT_EQ(static_cast<double>(designs.size()), std::round(std::pow(10.0, space.log10_size())));
  EXPECT_GT(points, static_cast<std::int64_t>(designs.size()));
  EXPECT_LT(canonical.size(), designs.size());
  EXPECT_EQ(already_canonical, static_cast<std::int64_t>(canonical.size()));
}

// 3 sizes of K and 2 of C; tiles of a level are no larger than those of the level above.
TEST(MappingSpace, SizeByHand) {
  const Nest nest = *nest_of(convolution("flat", {.out_channels = 3, .in_channels = 2}));
  const auto size = [&](const MappingSpaceOptions& options, std::int64_t pes) {
    return std::round(std::pow(10.0, MappingSpace("flat", nest, machine(pes), options).log10_size()));
  };
  EXPECT_EQ(size(options_of(Tiles::Any, 1, 1), 4), 3 * 2 * 2 * 2);                   // tiles, spread, order
  EXPECT_EQ(size(options_of(Tiles::Any, 1, 1, true), 4), 4 * 3 * 2 * 2 * 2);         // … and machines
  EXPECT_EQ(size(options_of(Tiles::Any, 2, 2), 4), 6 * 3 * 2 * 2 * 2 * 2 * 4);       // … and clusters of 1 … 4
  EXPECT_EQ(size(options_of(Tiles::Any, 1, 2), 4), 3 * 2 * 4 + 6 * 3 * 16 * 4);      // one level or two
  EXPECT_EQ(size(options_of(Tiles::Any, 3, 3), 4), 10 * 4 * 64 * (4 + 2 + 1 + 1));   // pairs of clusters within 4
  EXPECT_EQ(size(options_of(Tiles::Divisors, 2, 2), 4), 3 * 3 * 2 * 2 * 2 * 2 * 4);  // K 3 3, 3 1, 1 1; clusters 1 2 3 4
}

TEST(MappingSpace, ALayerOfOneMultiplicationHasOnePoint) {
  const Nest nest = *nest_of(convolution("one", {}));
  for (const Tiles tiles : {Tiles::Any, Tiles::Divisors, Tiles::Gamma}) {
    for (const std::size_t levels : {1U, 2U, 3U}) {
      const MappingSpace space("one", nest, machine(1), options_of(tiles, levels, levels, true));
      EXPECT_TRUE(space.parameters().empty());
      EXPECT_EQ(space.log10_size(), 0);
      Rng rng(1, "one");
      const Point point = random_point(space, rng);
      EXPECT_TRUE(is_legal(space, point));
      const Outcome outcome = space.evaluator()->evaluate(point);
      ASSERT_TRUE(outcome.feasible);
      EXPECT_EQ(outcome.metrics.macs, 1);
      EXPECT_EQ(space.point_of(space.mapping(point)), point);
    }
  }
  // With processing elements to spare only the clusters are left to choose.
  const MappingSpace idle("one", nest, machine(4), options_of(Tiles::Any, 2, 2));
  ASSERT_EQ(idle.parameters().size(), 1U);
  EXPECT_EQ(idle.parameters()[0].name, "cluster@1");
}

TEST(MappingSpace, NamesAreThoseOfTheSlots) {
  const auto names = [](const Nest& nest) {
    std::vector<std::string> all;
    const MappingSpace space("layer", nest, machine(), options_of(Tiles::Any, 1, 1));
    for (const Parameter& parameter : space.parameters()) all.push_back(parameter.name);
    return all;
  };
  EXPECT_THAT(names(*nest_of(matrix_multiply("product", {.batch = 4, .rows = 12, .inner = 20, .columns = 18}))),
              testing::ElementsAre("parallel@0", "order.K@0", "order.C@0", "order.Y@0", "order.G@0", "tile.K@0", "tile.C@0",
                                   "tile.Y@0", "tile.G@0"));
  EXPECT_THAT(names(*nest_of(convolution("one", {.out_channels = 5}))), testing::ElementsAre("tile.K@0"));
}

TEST(MappingSpace, ClustersAreThoseTheMachineIsBuiltIn) {
  Accelerator accelerator = machine(24);
  accelerator.clusters = {6};
  const MappingSpace space("layer", all_kinds()[0].nest, accelerator, options_of(Tiles::Any, 2, 2));
  std::vector<double> sizes;
  const std::size_t place = space.places(1).cluster.value();
  for (std::int32_t i = 0; i < space.parameters()[place].value_count; ++i) sizes.push_back(space.value(place, i));
  EXPECT_THAT(sizes, testing::ElementsAre(1, 2, 3, 6, 12, 18, 24));
}

TEST(MappingSpace, GammaKeepsKernelsWholeAndCountsInputs) {
  const MappingSpace space("layer", all_kinds()[1].nest, machine(), options_of(Tiles::Gamma, 2, 2));
  EXPECT_EQ(space.size_of(Slot::Y), 9);  // rows of the input that are read
  for (const Parameter& parameter : space.parameters()) {
    EXPECT_FALSE(parameter.name.starts_with("tile.R") || parameter.name.starts_with("tile.S")) << parameter.name;
  }
}

TEST(MappingSpace, AMappingOfAnotherFormHasNoPoint) {
  const MappingSpace space("layer", all_kinds()[0].nest, machine(), options_of(Tiles::Divisors, 2, 2));
  Rng rng(11, "foreign");
  const Mapping mapping = space.mapping(random_point(space, rng));
  Mapping more = mapping, overlapping = mapping, uneven = mapping, nowhere = mapping;
  more.levels.push_back(mapping.levels[1]);
  overlapping.levels[0].directives[0].offset += 1;
  for (Directive& directive : uneven.levels[0].directives) {
    if (directive.dim == Dim::K) directive.size = directive.offset = 5;  // of 12
  }
  for (Directive& directive : nowhere.levels[0].directives) directive.kind = Directive::Kind::Temporal;
  EXPECT_TRUE(space.point_of(mapping));
  for (const Mapping& other : {more, overlapping, uneven, nowhere}) EXPECT_FALSE(space.point_of(other));
}

// What a level leaves out passes through it whole, and so does everything where a level is left out.
TEST(MappingSpace, AMappingThatLeavesThingsOutMeansThemWhole) {
  const MappingSpace space("layer", all_kinds()[0].nest, machine(), options_of(Tiles::Divisors, 2, 2));
  Rng rng(11, "short");
  for (int round = 0; round < 50; ++round) {
    Mapping shorter, full;
    shorter.levels.push_back(space.mapping(random_point(space, rng)).levels[0]);
    full = shorter;
    full.levels.push_back(shorter.levels[0]);  // its tiles again: nothing is cut
    full.levels[1].cluster_size = 1;
    const auto one = space.point_of(shorter), other = space.point_of(full);
    ASSERT_TRUE(one && other);
    for (std::size_t level = 0; level < 2; ++level) {
      for (const Slot slot : space.slots()) EXPECT_EQ(space.tile_of(*one, level, slot), space.tile_of(*other, level, slot));
    }
  }
}

TEST(MappingSpace, ProcessingElementsAreThoseOfTheMachine) {
  const MappingSpace space("layer", all_kinds()[0].nest, machine(16), options_of(Tiles::Divisors, 1, 1, true));
  const std::size_t place = space.pes_place().value();
  ASSERT_EQ(space.parameters()[place].value_count, 5);  // 1, 2, 4, 8, 16
  const auto evaluator = space.evaluator();
  Rng rng(12, "pes");
  Point point = random_point(space, rng);
  for (std::int32_t i = 0; i < 5; ++i) {
    point[place] = i;
    const Outcome outcome = evaluator->evaluate(point);
    ASSERT_TRUE(outcome.feasible);
    EXPECT_EQ(outcome.metrics.pes, std::pow(2, i));
    EXPECT_EQ(outcome.metrics.macs, static_cast<double>(macs(space.nest()).value));
  }
}

TEST(MappingSpace, TilesAreNamed) {
  for (const Tiles tiles : {Tiles::Any, Tiles::Divisors, Tiles::Gamma}) EXPECT_EQ(*named<Tiles>(name_of(tiles)), tiles);
  const auto wrong = named<Tiles>("divisor");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "tiles 'divisor' is not known (did you mean 'divisors'?), expected one of any, divisors, gamma");
}

TEST(MappingSpace, ReasonsAreThoseOfTheModel) {
  const MappingSpace space("layer", all_kinds()[0].nest, machine(), {});
  EXPECT_EQ(space.reason_name(static_cast<std::uint8_t>(Infeasible::Reason::L1Overflow)), "l1-overflow");
}

}  // namespace
}  // namespace tilewright
