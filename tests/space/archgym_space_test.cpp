#include "tilewright/space/archgym_space.hpp"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/workload/layer.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

Accelerator gym_machine(std::int64_t pes) {
  Accelerator accelerator;
  accelerator.pes = pes;
  return accelerator;
}

// ResNet-18's second layer, as in the gym's default: K 64, C 64, 56 x 56, 3 x 3.
Nest gym_nest(std::int64_t side = 56, std::int64_t channels = 64) {
  return *nest_of(convolution("layer", {.out_channels = channels,
                                        .in_channels = channels,
                                        .in_height = side,
                                        .in_width = side,
                                        .kernel_height = 3,
                                        .kernel_width = 3}));
}

ArchgymSpace gym_space(const ArchgymOptions& options = {}) {
  return ArchgymSpace("gym", gym_nest(), gym_machine(1024), options);
}

std::size_t number_of(const DesignSpace& space, std::string_view name) {
  const auto found = std::ranges::find(space.parameters(), name, &Parameter::name);
  EXPECT_NE(found, space.parameters().end()) << name;
  return static_cast<std::size_t>(found - space.parameters().begin());
}

// Every entry its largest legal value.
Point largest_point(const DesignSpace& space) {
  Point point(space.parameters().size());
  Choices choices;
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    point[parameter] = choices.back();
  }
  return point;
}

TEST(ArchgymSpace, HasTheSeventeenParametersOfTheGym) {
  std::vector<std::string> names;
  std::vector<std::int32_t> counts;
  const ArchgymSpace space = gym_space({.evaluate = {}, .input_tiles = true});
  for (const Parameter& parameter : space.parameters()) {
    names.push_back(parameter.name);
    counts.push_back(parameter.value_count);
  }
  EXPECT_THAT(names, ElementsAre("seed_l2", "ckxy_l2", "s_l2", "r_l2", "k_l2", "c_l2", "x_l2", "y_l2", "ckxy_l1", "s_l1",
                                 "r_l1", "k_l1", "c_l1", "x_l1", "y_l1", "seed_l1", "num_pe"));
  EXPECT_THAT(counts, ElementsAre(720, 4, 2, 2, 64, 64, 56, 56, 4, 2, 2, 64, 64, 56, 56, 720, 1024));
}

TEST(ArchgymSpace, SoundTilesEndAtTheOutputs) {
  const ArchgymSpace space = gym_space();
  EXPECT_EQ(space.parameters()[number_of(space, "y_l2")].value_count, 54);
  EXPECT_EQ(space.parameters()[number_of(space, "x_l1")].value_count, 54);
}

TEST(ArchgymSpace, SeedsArePermutationsInLexicographicOrder) {
  const ArchgymSpace space = gym_space();
  EXPECT_EQ(space.value_name(0, 0), "SRKCXY");
  EXPECT_EQ(space.value_name(0, 1), "SRKCYX");
  EXPECT_EQ(space.value_name(0, 119), "SYXCKR");
  EXPECT_EQ(space.value_name(0, 120), "RSKCXY");
  EXPECT_EQ(space.value_name(0, 719), "YXCKRS");
  std::set<std::string> orders;
  for (std::int32_t seed = 0; seed < 720; ++seed) orders.insert(space.value_name(0, seed));
  EXPECT_EQ(orders.size(), 720U);
}

TEST(ArchgymSpace, EveryValueOfEveryParameterIsReachable) {
  const ArchgymSpace space = gym_space();
  Choices choices;
  for (std::size_t parameter = 0; parameter < space.parameters().size(); ++parameter) {
    for (std::int32_t index = 0; index < space.parameters()[parameter].value_count; ++index) {
      Point point = largest_point(space);
      point[parameter] = index;
      for (std::size_t later = parameter + 1; later < point.size(); ++later) {
        space.choices(point, later, choices);
        point[later] = choices.nearest(point[later]);
      }
      EXPECT_TRUE(is_legal(space, point)) << space.parameters()[parameter].name << " " << index;
    }
  }
}

// The published decoder ignores four tiles, gives all S and R the same value, and never changes the machine. Bandwidth is
// limited, since with more than enough of it the order inside a cluster costs nothing.
TEST(ArchgymSpace, EveryParameterChangesTheCostOfSomePoint) {
  Accelerator accelerator = gym_machine(64);
  accelerator.noc.bandwidth = 16;
  const ArchgymSpace space("gym", gym_nest(), accelerator, {.evaluate = {.model = Model::MaestroE1d8efd}});
  const auto evaluator = space.evaluator();
  std::vector<int> changes(space.parameters().size(), 0);
  Rng rng(1, "archgym");
  Choices choices;
  for (int n = 0; n < 500; ++n) {
    const Point point = random_point(space, rng);
    const Outcome before = evaluator->evaluate(point);
    ASSERT_TRUE(before.feasible);
    for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
      Point other = point;
      space.choices(other, parameter, choices);
      other[parameter] = choices[static_cast<std::int32_t>(rng.below(choices.count()))];
      if (!is_legal(space, other)) continue;
      const Metrics after = evaluator->evaluate(other).metrics;
      if (after.latency != before.metrics.latency || after.energy != before.metrics.energy) ++changes[parameter];
    }
  }
  for (std::size_t parameter = 0; parameter < changes.size(); ++parameter) {
    EXPECT_GT(changes[parameter], 0) << space.parameters()[parameter].name;
  }
}

TEST(ArchgymSpace, InnerTilesAreNoLargerThanOuterOnes) {
  const ArchgymSpace space = gym_space();
  Rng rng(2, "archgym");
  for (int n = 0; n < 1000; ++n) {
    const Point point = random_point(space, rng);
    ASSERT_TRUE(is_legal(space, point));
    const Mapping mapping = space.mapping(point);
    ASSERT_EQ(mapping.levels.size(), 2U);
    for (const Directive& inner : mapping.levels[1].directives) {
      for (const Directive& outer : mapping.levels[0].directives) {
        EXPECT_TRUE(outer.dim != inner.dim || inner.size <= outer.size);
      }
    }
  }
}

TEST(ArchgymSpace, AClusterHasAUnitForEachInnerTile) {
  const ArchgymSpace space = gym_space();
  Point point = largest_point(space);
  point[number_of(space, "ckxy_l1")] = 1;  // C
  point[number_of(space, "c_l2")] = 9;     // tiles of 10
  point[number_of(space, "c_l1")] = 3;     // in pieces of 4
  EXPECT_EQ(space.mapping(point).levels[1].cluster_size, 3);
  point[number_of(space, "num_pe")] = 1;  // two processing elements
  EXPECT_EQ(space.mapping(point).levels[1].cluster_size, 2);
}

TEST(ArchgymSpace, MoreProcessingElementsAreANewMachine) {
  const ArchgymSpace space = gym_space();
  Point point = largest_point(space);
  const std::size_t num_pe = number_of(space, "num_pe");
  point[number_of(space, "k_l2")] = 0;     // one output channel per cluster
  point[number_of(space, "ckxy_l2")] = 0;  // K
  const std::size_t k_l1 = number_of(space, "k_l1");
  point[k_l1] = 0;
  ASSERT_TRUE(is_legal(space, point));
  const auto evaluator = space.evaluator();
  const Outcome many = evaluator->evaluate(point);
  point[num_pe] = 0;
  const Outcome one = evaluator->evaluate(point);
  ASSERT_TRUE(many.feasible && one.feasible);
  EXPECT_EQ(one.metrics.pes, 1);
  EXPECT_EQ(many.metrics.pes, 1024);
  EXPECT_GT(one.metrics.latency, 30 * many.metrics.latency);  // 64 channels at a time against one
}

TEST(ArchgymSpace, CanonicalPointsCostTheSame) {
  for (const Model model : {Model::Sound, Model::Exact, Model::MaestroE1d8efd}) {
    Accelerator accelerator = gym_machine(256);
    accelerator.noc.bandwidth = 16;
    const ArchgymSpace space("gym", gym_nest(), accelerator,
                             {.evaluate = {.model = model, .constraints = Constraints::Report}});
    const auto evaluator = space.evaluator();
    Rng rng(3, "archgym");
    Choices choices;
    for (int n = 0; n < 2000; ++n) {
      Point point(space.parameters().size());
      for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
        space.choices(point, parameter, choices);
        const bool whole = rng.below(3) == 0;
        point[parameter] = whole ? choices.back() : choices[static_cast<std::int32_t>(rng.below(choices.count()))];
      }
      Point canonical = point;
      space.canonicalise(canonical);
      ASSERT_TRUE(is_legal(space, canonical));
      EXPECT_EQ(evaluator->evaluate(canonical), evaluator->evaluate(point)) << name_of(model);
      Point again = canonical;
      space.canonicalise(again);
      EXPECT_EQ(again, canonical);
    }
  }
}

TEST(ArchgymSpace, SameDesignSameBytesAsInTheMappingSpace) {
  const ArchgymSpace space = gym_space();
  const MappingSpace& mappings = space.basis();
  EXPECT_EQ(space.problem_key(), mappings.problem_key());
  EXPECT_EQ(space.features(), mappings.features());
  Rng rng(4, "archgym");
  int compared = 0;
  for (int n = 0; n < 500; ++n) {
    Point point = random_point(space, rng);
    for (const char* kernel : {"s_l2", "r_l2", "s_l1", "r_l1"}) point[number_of(space, kernel)] = 1;
    space.canonicalise(point);
    auto twin = mappings.point_of(space.mapping(point));
    if (!twin) continue;
    (*twin)[*mappings.pes_place()] = static_cast<std::int32_t>(space.pes(point) - 1);
    mappings.canonicalise(*twin);
    std::string ours, theirs;
    space.append_design(point, ours);
    mappings.append_design(*twin, theirs);
    EXPECT_EQ(ours, theirs);
    EXPECT_EQ(space.evaluator()->evaluate(point), mappings.evaluator()->evaluate(*twin));
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(ArchgymSpace, SizeIsTheNumberOfLegalPoints) {
  const ArchgymSpace space("small", gym_nest(4, 2), gym_machine(2), {});
  // 720 orders and 4 dimensions on both levels, 2 machines, 3 pairs of tiles for each of the six dimensions
  EXPECT_NEAR(space.log10_size(), std::log10(720.0 * 720 * 16 * 2 * 729), 1e-9);
  Choices choices;
  Point point(space.parameters().size(), 0);
  std::int64_t tiles = 0;
  const auto walk = [&](const auto& self, std::size_t parameter) -> void {
    if (parameter == 15) {
      ++tiles;
      return;
    }
    space.choices(point, parameter, choices);
    const bool tile = space.parameters()[parameter].role == Role::Tile;
    const std::int32_t count = tile ? choices.count() : 1;
    for (std::int32_t n = 0; n < count; ++n) {
      point[parameter] = n;
      self(self, parameter + 1);
    }
  };
  walk(walk, 0);
  EXPECT_EQ(tiles, 729);
}

TEST(ArchgymSpace, LayersWithoutSomeLoopsKeepAllParameters) {
  const Nest depthwise = *nest_of(convolution("depthwise", {.out_channels = 8,
                                                            .in_channels = 8,
                                                            .in_height = 14,
                                                            .in_width = 14,
                                                            .kernel_height = 3,
                                                            .kernel_width = 3,
                                                            .groups = 8}));
  const Nest product = *nest_of(matrix_multiply("product", {.batch = 3, .rows = 12, .inner = 20, .columns = 8}));
  const Nest grouped = *nest_of(convolution("grouped", {.batch = 2,
                                                        .out_channels = 8,
                                                        .in_channels = 8,
                                                        .in_height = 9,
                                                        .in_width = 9,
                                                        .kernel_height = 3,
                                                        .kernel_width = 3,
                                                        .stride = 2,
                                                        .groups = 2}));
  for (const Nest& nest : {depthwise, product, grouped}) {
    const ArchgymSpace space("layer", nest, gym_machine(16), {});
    ASSERT_EQ(space.parameters().size(), 17U);
    const auto evaluator = space.evaluator();
    Rng rng(5, "archgym");
    std::int64_t feasible = 0;
    for (int n = 0; n < 300; ++n) {
      const Point point = random_point(space, rng);
      ASSERT_TRUE(is_legal(space, point));
      const Outcome outcome = evaluator->evaluate(point);
      EXPECT_EQ(outcome, evaluator->evaluate(point));
      if (outcome.feasible) ++feasible;
    }
    EXPECT_GT(feasible, 10) << static_cast<int>(nest.kind);
  }
}

}  // namespace
}  // namespace tilewright
