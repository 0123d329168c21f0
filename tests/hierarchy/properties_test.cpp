// What holds of every mapping, whatever the numbers.
#include "random_case.hpp"

namespace tilewright::hierarchy {
namespace {

constexpr int kCases = 10000;

Cost cost_of(const Case& drawn, Judge judge) {
  Evaluator evaluator(drawn.problem, drawn.machine, {.judge = judge});
  return std::get<Cost>(evaluator.evaluate(drawn.mapping));
}

template <typename Check>
void for_cases(std::string_view stream, Check check) {
  Rng rng(11, stream);
  for (int number = 0; number < kCases && !testing::Test::HasFailure(); ++number) {
    const Judge judge = number % 2 == 0 ? Judge::Timeloop : Judge::Hierarchy;
    check(random_case(rng, judge == Judge::Timeloop || number % 4 == 1 ? Factors::Exact : Factors::Ragged), judge, rng);
  }
}

TEST(HierarchyProperties, EnergyIsLinearInTheTables) {
  for_cases("linear", [](Case drawn, Judge judge, Rng&) {
    const double once = cost_of(drawn, judge).energy.value;
    drawn.machine.mac.energy = drawn.machine.mac.energy * 3;
    for (StorageLevel& level : drawn.machine.levels) {
      level.energy = {level.energy.read * 3, level.energy.fill * 3, level.energy.update * 3};
      level.energy_per_hop = level.energy_per_hop * 3;
      level.router_energy = level.router_energy * 3;
    }
    EXPECT_NEAR(cost_of(drawn, judge).energy.value, 3 * once, 1e-9 * once);
  });
}

TEST(HierarchyProperties, MoreBandwidthIsNeverSlower) {
  for_cases("bandwidth", [](Case drawn, Judge judge, Rng& rng) {
    drawn.machine.levels[0].overlaps = rng.below(2) == 0;
    const Cycles before = cost_of(drawn, judge).cycles;
    StorageLevel& level =
        drawn.machine.levels[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(drawn.machine.levels.size())))];
    for (auto* bandwidth : {&level.read_bandwidth, &level.write_bandwidth, &level.shared_bandwidth}) {
      if (*bandwidth) *bandwidth = **bandwidth * (1 + rng.uniform());
    }
    EXPECT_LE(cost_of(drawn, judge).cycles, before);
  });
}

TEST(HierarchyProperties, ALoopOfOneTripChangesNothing) {
  for_cases("one-trip", [](Case drawn, Judge judge, Rng& rng) {
    const Cost before = cost_of(drawn, judge);
    // Dimensions without a loop in a block may stand anywhere in its order.
    Block& block = drawn.mapping.levels[0].temporal;
    std::stable_partition(block.order.begin(), block.order.begin() + static_cast<std::ptrdiff_t>(drawn.problem.dims.size()),
                          [&, first = rng.below(2) == 0](std::uint8_t dim) { return (block.factors[dim] == 1) == first; });
    const Cost after = cost_of(drawn, judge);
    EXPECT_EQ(after.cycles, before.cycles);
    EXPECT_EQ(after.energy, before.energy);
  });
}

// Traffic in bits is words times width; the words do not depend on it.
TEST(HierarchyProperties, HalfTheBitsAreHalfTheWeightTraffic) {
  Rng rng(11, "bits");
  for (int number = 0; number < kCases && !HasFailure(); ++number) {
    Case drawn = random_case(rng, number % 2 == 0 ? Factors::Exact : Factors::Ragged);
    for (StorageLevel& level : drawn.machine.levels) {
      level.block_size = 1;
      level.word_bits = 4;  // accesses of 4-bit elements need no rounding
    }
    const auto weights = [&](std::int64_t bits) {
      drawn.machine.bits.weights = bits;
      Evaluator evaluator(drawn.problem, drawn.machine, {.judge = Judge::Hierarchy});
      (void)evaluator.evaluate(drawn.mapping);
      double energy = 0;
      for (const LevelAnalysis& level : evaluator.analysis().levels) {
        for (std::size_t tensor = 0; tensor < drawn.problem.tensors.size(); ++tensor) {
          if (drawn.problem.tensors[tensor].kind == TensorKind::Weight) energy += level.tensors[tensor].energy.value;
        }
      }
      return energy;
    };
    const double wide = weights(8), narrow = weights(4);
    EXPECT_GT(narrow, 0);
    EXPECT_NEAR(wide, 2 * narrow, 1e-12 * wide);
  }
}

}  // namespace
}  // namespace tilewright::hierarchy
