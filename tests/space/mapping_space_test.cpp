#include "tilewright/space/mapping_space.hpp"

#include <array>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_mappings.hpp"

namespace tilewright {
namespace {

class EveryKind : public testing::TestWithParam<std::tuple<std::size_t, Tiles>> {
 protected:
  NamedNest layer() const { return all_kinds()[std::get<0>(GetParam())]; }
  MappingSpace space(MappingSpaceOptions options, const Accelerator& accelerator = machine()) const {
    options.tiles = std::get<1>(GetParam());
    return {layer().name, layer().nest, accelerator, options};
  }
  // All forms a space of the layer can have.
  std::vector<MappingSpace> spaces() const {
    std::vector<MappingSpace> all;
    for (const std::size_t levels : {1U, 2U, 3U}) all.push_back(space(options_of(Tiles::Any, levels, levels)));
    all.push_back(space(options_of(Tiles::Any, 1, 3, true)));
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(MappingSpace, EveryKind,
                         testing::Combine(testing::Range<std::size_t>(0, 7), testing::Values(Tiles::Any, Tiles::Divisors)),
                         [](const auto& tested) {
                           return all_kinds()[std::get<0>(tested.param)].name + "_" +
                                  std::string(name_of(std::get<1>(tested.param)));
                         });

TEST_P(EveryKind, EveryParameterChangesTheCostOfSomePoint) {
  for (const MappingSpace& tested : spaces()) {
    const auto evaluator = tested.evaluator();
    std::vector<int> changes(tested.parameters().size(), 0);
    Rng rng(1, "changes");
    Choices choices;
    for (int n = 0; n < 3000 && std::ranges::count(changes, 0) > 0; ++n) {
      const Point point = stepping_point(tested, rng);
      const Outcome before = evaluator->evaluate(point);
      if (!before.feasible) continue;
      for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
        Point other = point;
        tested.choices(other, parameter, choices);
        other[parameter] = choices[static_cast<std::int32_t>(rng.below(choices.count()))];
        // Another number of levels needs other entries; everything else must do it alone.
        if (parameter == tested.levels_place()) repair(tested, other);
        if (other[parameter] == point[parameter] || !is_legal(tested, other)) continue;
        const Outcome after = evaluator->evaluate(other);
        if (!after.feasible) continue;
        if (after.metrics.latency != before.metrics.latency || after.metrics.energy != before.metrics.energy) {
          ++changes[parameter];
        }
      }
    }
    for (std::size_t parameter = 0; parameter < changes.size(); ++parameter) {
      EXPECT_GT(changes[parameter], 0) << tested.parameters()[parameter].name << " of " << tested.most_levels() << " levels";
    }
  }
}

TEST_P(EveryKind, EveryValueIsReachable) {
  for (const MappingSpace& tested : spaces()) {
    Choices choices;
    for (std::size_t parameter = 0; parameter < tested.parameters().size(); ++parameter) {
      std::set<double> values;
      for (std::int32_t index = 0; index < tested.parameters()[parameter].value_count; ++index) {
        // Everything else leaves as much room as it can: small clusters, the largest of all other things.
        Point point(tested.parameters().size());
        for (std::size_t other = 0; other < point.size(); ++other) {
          tested.choices(point, other, choices);
          point[other] = tested.parameters()[other].name.starts_with("cluster") ? choices[0] : choices.back();
          if (other == parameter) point[other] = index;
        }
        EXPECT_TRUE(is_legal(tested, point)) << tested.parameters()[parameter].name << " " << index;
        values.insert(tested.value(parameter, index));
      }
      EXPECT_EQ(values.size(), tested.parameters()[parameter].value_count) << tested.parameters()[parameter].name;
    }
  }
}

// Where every loop of a level has several steps, any of them can stand anywhere.
TEST_P(EveryKind, EveryPlaceOfALoopHasACanonicalPoint) {
  for (const MappingSpace& tested : spaces()) {
    Choices choices;
    for (std::size_t level = 0; level < tested.most_levels(); ++level) {
      const std::vector<Slot>& slots = tested.slots(level);
      const auto count = static_cast<std::int32_t>(slots.size());
      if (count < 2) continue;
      for (std::int32_t turn = 0; turn < count; ++turn) {
        Point point(tested.parameters().size());
        for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
          tested.choices(point, parameter, choices);
          const Parameter& declared = tested.parameters()[parameter];
          const bool cut = declared.role == Role::Tile && declared.name.back() - '0' >= static_cast<int>(level);
          point[parameter] = cut || declared.name.starts_with("cluster") ? choices[0] : choices.back();
        }
        for (std::int32_t i = 0; i < count; ++i) {
          const auto slot = static_cast<std::size_t>(slots[static_cast<std::size_t>(i)]);
          point[tested.places(level).order[slot].value()] = (i + turn) % count;
        }
        const Point given = point;
        tested.canonicalise(point);
        for (const auto& order : tested.places(level).order) {
          EXPECT_TRUE(!order || point[*order] == given[*order]) << level;
        }
      }
    }
  }
}

TEST_P(EveryKind, EvaluatingIsPure) {
  for (const MappingSpace& tested : spaces()) {
    const auto first = tested.evaluator(), second = tested.evaluator();
    Rng rng(3, "pure");
    std::vector<Point> points;
    std::vector<Outcome> outcomes;
    for (int n = 0; n < 60; ++n) {
      points.push_back(random_point(tested, rng));
      outcomes.push_back(first->evaluate(points.back()));
    }
    for (std::size_t i = points.size(); i-- > 0;) {
      EXPECT_EQ(second->evaluate(points[i]), outcomes[i]);
      EXPECT_EQ(first->evaluate(points[i]), outcomes[i]);
      EXPECT_EQ(tested.evaluator()->evaluate(points[i]), outcomes[i]);
    }
  }
}

TEST_P(EveryKind, InnerTilesAreNoLargerThanOuterOnesAndClustersFitTheMachine) {
  for (const MappingSpace& tested : spaces()) {
    Rng rng(4, "inner");
    for (int n = 0; n < 200; ++n) {
      const Point point = careless_point(tested, rng);
      ASSERT_TRUE(is_legal(tested, point));
      const Mapping mapping = tested.mapping(point);
      ASSERT_EQ(mapping.levels.size(), tested.level_count(point));
      std::int64_t units = 1;
      std::map<Dim, std::int32_t> outer;
      for (const MappingLevel& level : mapping.levels) {
        if (&level != &mapping.levels[0]) units *= level.cluster_size;
        int spatial = 0;
        for (const Directive& directive : level.directives) {
          spatial += directive.kind == Directive::Kind::Spatial ? 1 : 0;
          EXPECT_TRUE(!outer.contains(directive.dim) || directive.size <= outer[directive.dim]);
          outer[directive.dim] = directive.size;
        }
        EXPECT_EQ(spatial, 1);
      }
      EXPECT_LE(units, tested.pes(point));
    }
  }
}

TEST_P(EveryKind, RepairMakesPointsLegalAndLeavesCanonicalOnes) {
  for (const MappingSpace& tested : spaces()) {
    Rng rng(5, "repair");
    for (int n = 0; n < 200; ++n) {
      Point point(tested.parameters().size());
      for (std::int32_t& entry : point) entry = static_cast<std::int32_t>(rng.between(-5, 40));
      repair(tested, point);
      ASSERT_TRUE(is_legal(tested, point));
      EXPECT_TRUE(is_canonical(tested, point));
      Point again = point;
      repair(tested, again);
      EXPECT_EQ(again, point);
    }
  }
}

TEST_P(EveryKind, AMappingLeadsBackToItsPoint) {
  for (const MappingSpace& tested : spaces()) {
    Rng rng(6, "back");
    for (int n = 0; n < 200; ++n) {
      Point point = random_point(tested, rng);
      // A mapping does not say how many processing elements there are: all of them.
      if (const auto pes = tested.pes_place()) point[*pes] = tested.parameters()[*pes].value_count - 1;
      const auto found = tested.point_of(tested.mapping(point));
      ASSERT_TRUE(found);
      EXPECT_EQ(*found, point);
    }
  }
}

TEST_P(EveryKind, DesignsAreEqualWhenMappingAndMachineAre) {
  for (const MappingSpace& tested : spaces()) {
    Rng rng(7, "designs");
    std::map<std::string, std::pair<Mapping, std::int64_t>> known;
    for (int n = 0; n < 300; ++n) {
      const Point point = careless_point(tested, rng);
      const auto meaning = std::pair(tested.mapping(point), tested.pes(point));
      const auto [found, added] = known.emplace(design_of(tested, point), meaning);
      EXPECT_EQ(found->second, meaning);
      for (const auto& [bytes, other] : known) EXPECT_EQ(other == meaning, bytes == found->first);
    }
  }
}

// Buffers about as small as they may be, so that masks have something to remove.
TEST_P(EveryKind, MasksNeverRemoveAFeasiblePoint) {
  for (const Model model : {Model::Sound, Model::Exact}) {
    Accelerator accelerator = machine();
    accelerator.noc.bandwidth = kUnlimited;
    accelerator.l1.value = 200;
    accelerator.l2.value = 2000;
    std::int64_t feasible = 0, pruned = 0;
    for (const std::size_t levels : {1U, 2U, 3U}) {
      const MappingSpace open = space(options_of(Tiles::Any, levels, levels, false, model), accelerator);
      const MappingSpace hard = space(options_of(Tiles::Any, levels, levels, false, model, Constraints::Hard), accelerator);
      const auto evaluator = hard.evaluator();
      Rng rng(8, "masks");
      for (int n = 0; n < 1000; ++n) {
        // Half of the points with small tiles: large ones seldom fit.
        Point point = random_point(open, rng);
        if (n % 2 == 0) {
          for (std::size_t i = 0; i < point.size(); ++i) {
            if (open.parameters()[i].role == Role::Tile) point[i] /= 3;
          }
          repair(open, point);
        }
        const bool legal = is_legal(hard, point);
        if (!legal) ++pruned;
        if (!evaluator->evaluate(point).feasible) continue;
        ++feasible;
        EXPECT_TRUE(legal) << name_of(model) << ", " << levels << " levels";
      }
    }
    EXPECT_GT(feasible, 100) << name_of(model);
    EXPECT_GT(pruned, 100) << name_of(model);
  }
}

// … and what they leave is feasible more often than not.
TEST_P(EveryKind, MasksKeepMostPointsWithinTheBuffers) {
  Accelerator accelerator = machine();
  accelerator.noc.bandwidth = kUnlimited;
  accelerator.l1.value = 200;
  accelerator.l2.value = 20'000;
  std::array<int, 2> feasible = {0, 0};
  for (const Constraints constraints : {Constraints::Report, Constraints::Hard}) {
    const MappingSpace drawn = space(options_of(Tiles::Any, 2, 2, false, Model::Sound, constraints), accelerator);
    const MappingSpace hard = space(options_of(Tiles::Any, 2, 2, false, Model::Sound, Constraints::Hard), accelerator);
    const auto evaluator = hard.evaluator();
    Rng rng(9, "kept");
    for (int n = 0; n < 500; ++n) {
      const Outcome outcome = evaluator->evaluate(random_point(drawn, rng));
      feasible[constraints == Constraints::Hard] += outcome.feasible ? 1 : 0;
    }
  }
  EXPECT_GT(feasible[1], feasible[0]);
  EXPECT_GT(feasible[1], 250);
}

TEST_P(EveryKind, CanonicalPointsCostTheSame) {
  for (const char* name : {"zoo:eyeriss", "zoo:gamma-edge", "zoo:nvdla-small"}) {
    const Accelerator accelerator = *read_accelerator(name);
    Accelerator unlimited = accelerator;
    unlimited.noc.bandwidth = unlimited.offchip_bandwidth = kUnlimited;
    unlimited.l1.value = unlimited.l2.value = kUnlimited;
    for (const Model model : {Model::Sound, Model::Exact}) {
      for (const Accelerator& tested : {accelerator, unlimited}) {
        for (const Constraints constraints : {Constraints::Hard, Constraints::Report}) {
          const MappingSpace whole = space(options_of(Tiles::Any, 1, 3, false, model, constraints), tested);
          const auto evaluator = whole.evaluator();
          Rng rng(10, "canonical");
          for (int n = 0; n < 60; ++n) {
            const Point point = careless_point(whole, rng);
            Point canonical = point;
            whole.canonicalise(canonical);
            ASSERT_TRUE(is_legal(whole, canonical));
            EXPECT_EQ(evaluator->evaluate(canonical), evaluator->evaluate(point)) << name << ", " << name_of(model);
            EXPECT_TRUE(is_canonical(whole, canonical));
          }
        }
      }
    }
  }
}

TEST_P(EveryKind, FeaturesAreEquallyManyAndOfUnitSize) {
  const MappingSpace tested = space(options_of(Tiles::Any, 2, 2));
  EXPECT_EQ(tested.features().size(), MappingSpace("other", all_kinds()[0].nest, machine(), {}).features().size());
  for (const float feature : tested.features()) {
    EXPECT_GE(feature, 0);
    EXPECT_LE(feature, 3);
  }
}

}  // namespace
}  // namespace tilewright
