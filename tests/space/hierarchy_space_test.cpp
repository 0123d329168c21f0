#include "tilewright/space/hierarchy_space.hpp"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"

namespace tilewright {
namespace {

using namespace hierarchy;

Problem conv(const NamedNumbers& bounds, std::int64_t stride = 1) {
  return problem_of(*shape_named("conv"), bounds, {{"Wstride", stride}, {"Hstride", stride}}, "test").value();
}
Problem layer() { return conv({{"R", 3}, {"S", 3}, {"P", 14}, {"Q", 14}, {"C", 24}, {"K", 32}, {"N", 2}}, 2); }

std::unique_ptr<HierarchySpace> space_of(const std::string& machine, Judge judge, const std::string& restriction = "") {
  const Machine read = read_machine(machine).value();
  HierarchySpaceOptions options{.judge = judge};
  if (!restriction.empty()) options.restriction = restriction_from_timeloop(restriction, "test", layer(), read).value();
  return HierarchySpace::make("test", layer(), read, options).value();
}

TEST(HierarchySpace, EveryPointMeansOneMappingAndBack) {
  for (const char* machine : {"zoo:simple3", "zoo:eyeriss-like", "zoo:simba-like"}) {
    for (const Judge judge : {Judge::Timeloop, Judge::Hierarchy}) {
      const auto space = space_of(machine, judge);
      Rng rng(3, "space");
      for (int n = 0; n < 300; ++n) {
        const Point point = random_point(*space, rng);
        ASSERT_TRUE(is_legal(*space, point));
        const Mapping mapping = space->mapping(point);
        ASSERT_TRUE(check(mapping, space->problem(), space->machine(), Factors::Exact, "test")) << machine;
        ASSERT_EQ(space->point_of(mapping), point) << machine << "\n"
                                                   << to_text(mapping, space->problem(), space->machine());
        std::string design;
        space->append_design(point, design);
        ASSERT_EQ(space->point_of_design(design), point);
        EXPECT_NE(space->design_text(design), "");
      }
    }
  }
}

// One asker goes from point to point and from space to space; another begins anew each time.
TEST(HierarchySpace, MasksDoNotDependOnWhatWasAskedBefore) {
  const auto first = space_of("zoo:simba-like", Judge::Timeloop), second = space_of("zoo:eyeriss-like", Judge::Hierarchy);
  Rng rng(5, "space");
  Choices kept;
  for (int n = 0; n < 400; ++n) {
    const HierarchySpace& space = n % 7 == 0 ? *second : *first;
    Point point = random_point(space, rng);
    for (std::size_t asked = 0; asked < 20; ++asked) {
      const std::size_t p = rng.below(static_cast<std::uint32_t>(point.size()));
      Choices fresh;
      space.choices(point, p, fresh);
      space.choices(point, p, kept);
      ASSERT_EQ(kept.count(), fresh.count()) << space.parameters()[p].name;
      for (std::int32_t i = 0; i < fresh.count(); ++i) ASSERT_EQ(kept[i], fresh[i]);
      point[p] = fresh[static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(fresh.count())))];
    }
  }
}

TEST(HierarchySpace, PointsCostWhatTheirMappingsCost) {
  for (const Judge judge : {Judge::Timeloop, Judge::Hierarchy}) {
    const auto space = space_of("zoo:eyeriss-like", judge);
    const auto evaluator = space->evaluator();
    Evaluator direct(space->problem(), space->machine(), {.judge = judge});
    Rng rng(4, "space");
    int feasible = 0;
    for (int n = 0; n < 500; ++n) {
      const Point point = random_point(*space, rng);
      const Outcome outcome = evaluator->evaluate(point);
      const Evaluation evaluation = direct.evaluate(space->mapping(point));
      ASSERT_EQ(outcome.feasible, std::holds_alternative<Cost>(evaluation));
      if (!outcome.feasible) continue;
      ++feasible;
      const Cost& cost = std::get<Cost>(evaluation);
      EXPECT_EQ(outcome.metrics.latency, static_cast<double>(cost.cycles.value));
      EXPECT_DOUBLE_EQ(outcome.metrics.edp(), cost.edp() * 1e9);  // nJ, not J
    }
    EXPECT_EQ(feasible, 500) << "here masks leave nothing that does not fit";
  }
}

// All ways to cut a number into `parts` factors.
void for_each_split(std::int64_t number, std::size_t parts, std::vector<std::int64_t>& split,
                    const std::function<void()>& visit) {
  if (split.size() + 1 == parts) {
    split.push_back(number);
    visit();
    split.pop_back();
    return;
  }
  for (std::int64_t factor = 1; factor <= number; ++factor) {
    if (number % factor != 0) continue;
    split.push_back(factor);
    for_each_split(number / factor, parts, split, visit);
    split.pop_back();
  }
}

constexpr const char* kTiny = R"(
format: tilewright-accelerator-2
name: tiny
mac: {instances: 4, mesh_x: 2, word_bits: 16}
levels:
- {name: L1, technology: registers, instances: 4, mesh_x: 2, capacity: 9, word_bits: 16}
- {name: L2, technology: sram, capacity: 30, word_bits: 16}
- {name: DRAM, technology: dram, word_bits: 16}
)";

TEST(HierarchySpace, LosesNoMappingThatFits) {
  const Machine machine = machine_from_yaml(kTiny, "tiny").value();
  const Problem problem = problem_of(*shape_named("gemm"), {{"M", 4}, {"N", 2}, {"K", 6}}, {}, "test").value();
  for (const Judge judge : {Judge::Timeloop, Judge::Hierarchy}) {
    const auto space = HierarchySpace::make("tiny", problem, machine, {.judge = judge}).value();
    Evaluator evaluator(problem, machine, {.judge = judge});
    int fitting = 0, all = 0;
    std::set<Point> points;
    // Blocks of a dimension: in time at L1, spread inside L2, in time at L2 and at DRAM.
    std::vector<std::int64_t> m, n, k;
    const auto visit = [&] {
      for (unsigned along_y = 0; along_y < 8; ++along_y) {
        for (unsigned keeps = 0; keeps < 64; ++keeps) {
          Mapping mapping = outermost_mapping(problem, machine);
          const std::array<const std::vector<std::int64_t>*, 3> splits = {&m, &n, &k};
          bool canonical_axes = true;
          for (std::uint8_t dim = 0; dim < 3; ++dim) {
            const auto& split = *splits[problem.dims[dim] == 'M' ? 0 : problem.dims[dim] == 'N' ? 1 : 2];
            mapping.levels[0].temporal.factors[dim] = split[0];
            mapping.levels[1].spatial.factors[dim] = split[1];
            mapping.levels[1].temporal.factors[dim] = split[2];
            mapping.levels[2].temporal.factors[dim] = split[3];
            canonical_axes = canonical_axes && (split[1] > 1 || (along_y >> dim & 1) == 0);
          }
          if (!canonical_axes) continue;
          auto& spatial = mapping.levels[1].spatial;
          const auto x = std::stable_partition(spatial.order.begin(), spatial.order.begin() + 3,
                                               [&](std::uint8_t dim) { return (along_y >> dim & 1) == 0; });
          spatial.split = static_cast<std::uint8_t>(x - spatial.order.begin());
          mapping.levels[0].keeps = static_cast<TensorMask>(keeps & 7);
          mapping.levels[1].keeps = static_cast<TensorMask>(keeps >> 3);
          ++all;
          if (std::holds_alternative<Infeasible>(evaluator.evaluate(mapping))) continue;
          ++fitting;
          const auto point = space->point_of(mapping);
          ASSERT_TRUE(point) << to_text(mapping, problem, machine);
          points.insert(*point);
        }
      }
    };
    for_each_split(4, 4, m, [&] { for_each_split(2, 4, n, [&] { for_each_split(6, 4, k, visit); }); });
    EXPECT_GT(fitting, 1000);
    EXPECT_LT(fitting, all);
    EXPECT_EQ(points.size(), static_cast<std::size_t>(fitting)) << "each has its own point";
  }
}

TEST(HierarchySpace, RestrictionsHoldForEveryPoint) {
  const std::string restriction = R"(
mapspace_constraints:
  targets:
  - {target: PsumSpad, type: datatype, keep: [Outputs], bypass: [Weights, Inputs]}
  - {target: WtSpad, type: datatype, keep: [Weights], bypass: [Inputs, Outputs]}
  - {target: WtSpad, type: temporal, factors: S=1 P=1 Q=1 K=1 N=1, permutation: SPQKNCR}
  - {target: GlobalBuf, type: spatial, factors: N=1 C=1 P=1 R=1 S=1, permutation: NCPRSQK, split: 7}
  - {target: GlobalBuf, type: temporal, factors: Q=7}
)";
  const auto space = space_of("zoo:eyeriss-like", Judge::Timeloop, restriction);
  Rng rng(5, "space");
  for (int n = 0; n < 1000; ++n) {
    const Mapping mapping = space->mapping(random_point(*space, rng));
    ASSERT_EQ(violation(space->restriction(), mapping, space->problem(), space->machine()), std::nullopt);
  }
}

TEST(HierarchySpace, ImpossibleRestrictionsAreSaid) {
  const Machine machine = read_machine("zoo:eyeriss-like").value();
  Restriction restriction = restriction_of(machine, layer());
  restriction.levels[0].temporal.exactly[*layer().dim_named('K')] = 5;
  const auto space = HierarchySpace::make("test", layer(), machine, {.judge = Judge::Timeloop, .restriction = restriction});
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().message, "test: level 'PsumSpad' has to cut K into 5, expected divisors of 32 in all");
}

TEST(HierarchySpace, GreedyPointsTakeWhatFits) {
  const auto space = space_of("zoo:simple3", Judge::Timeloop);
  const std::uint8_t k = *layer().dim_named('K');
  const std::vector<HierarchySpace::Wish> wishes = {{k, 1, HierarchySpace::Wish::Where::X}, {k, 0}};
  const Mapping mapping = space->mapping(space->greedy(wishes, {}));
  EXPECT_EQ(mapping.levels[1].spatial.factors[k], 8);  // the columns of the array
  EXPECT_EQ(mapping.levels[0].temporal.factors[k], 4);
}

}  // namespace
}  // namespace tilewright
