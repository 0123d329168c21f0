#include "tilewright/hierarchy/relaxation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example_machine.hpp"
#include "random_case.hpp"

namespace tilewright::hierarchy {
namespace {

using ::testing::ElementsAre;
using What = MachineChange::What;

bool fits(const Mapping& mapping, const Problem& problem, const Machine& machine, Judge judge) {
  return std::holds_alternative<Cost>(Evaluator(problem, machine, {.judge = judge}).evaluate(mapping));
}

TEST(Relaxation, IsNothingForAMappingThatFits) {
  EXPECT_FALSE(relax(example_mapping(), example_problem(), example_machine(), Judge::Timeloop));
  const Fitting fitting = least_machine(example_mapping(), example_problem(), example_machine(), Judge::Timeloop);
  EXPECT_EQ(fitting.machine, example_machine());
  EXPECT_EQ(excess_of(fitting), 0);
}

TEST(Relaxation, RaisesACapacityToWhatTilesTake) {
  Machine machine = example_machine();
  machine.levels[0].capacity = 15;  // tiles of A, B and Z in L1: 8 + 8 + 4
  machine.levels[1].capacity = 3000;
  machine.levels[1].multiple_buffering = 2;  // tiles of A and Z in L2: 512 + 1024, twice
  const auto relaxation = relax(example_mapping(), example_problem(), machine, Judge::Timeloop);
  ASSERT_TRUE(relaxation);
  EXPECT_EQ(relaxation->why, (Infeasible{Infeasible::Reason::Capacity, 0, 20, 15}));
  EXPECT_THAT(relaxation->fitting.changes,
              ElementsAre(MachineChange{What::Capacity, 0, 15, 20}, MachineChange{What::Capacity, 1, 3000, 3072}));
  // Capacities change no count.
  const auto cost = std::get<Cost>(
      Evaluator(example_problem(), example_machine(), {.judge = Judge::Timeloop}).evaluate(example_mapping()));
  EXPECT_EQ(relaxation->fitting.cost->cycles, cost.cycles);
}

TEST(Relaxation, WidensMeshesSoThatTheyStillDivide) {
  Machine machine = example_machine();
  machine.mac.instances = machine.levels[0].instances = 6;  // the mapping spreads over 4 x 4
  machine.mac.mesh_x = machine.levels[0].mesh_x = 3;
  machine = *check(machine, "test");
  const Fitting fitting = least_machine(example_mapping(), example_problem(), machine, Judge::Timeloop);
  EXPECT_THAT(fitting.changes,
              ElementsAre(MachineChange{What::Columns, kMacLevel, 3, 4}, MachineChange{What::Rows, kMacLevel, 2, 4},
                          MachineChange{What::Columns, 0, 3, 4}, MachineChange{What::Rows, 0, 2, 4}));
  EXPECT_TRUE(check(fitting.machine, "test"));
}

TEST(Relaxation, LowersAShareThatIsNotInUse) {
  Machine machine = example_machine();
  machine.levels[1].min_utilization = 0.5;
  const auto relaxation = relax(example_mapping(), example_problem(), machine, Judge::Timeloop);
  ASSERT_TRUE(relaxation);
  EXPECT_EQ(relaxation->why.reason, Infeasible::Reason::Utilization);
  ASSERT_EQ(relaxation->fitting.changes.size(), 1U);
  EXPECT_EQ(relaxation->fitting.changes[0].what, What::Utilization);
  EXPECT_NEAR(relaxation->fitting.changes[0].to, 1536.0 / 32768, 1e-12);
}

TEST(Relaxation, MovesTheLoopThatIsInTheWay) {
  Machine machine = example_machine();
  machine.levels[1].capacity = 1024;  // half of Z's tile has to go, and with it some of A's
  const auto relaxation = relax(example_mapping(), example_problem(), machine, Judge::Timeloop);
  ASSERT_TRUE(relaxation);
  ASSERT_FALSE(relaxation->moves.empty());
  EXPECT_TRUE(check(relaxation->moved, example_problem(), machine, Factors::Exact, "test"));
  const Evaluation evaluation =
      Evaluator(example_problem(), machine, {.judge = Judge::Timeloop}).evaluate(relaxation->moved);
  ASSERT_TRUE(std::holds_alternative<Cost>(evaluation));
  EXPECT_EQ(std::get<Cost>(evaluation).energy.value, relaxation->with_moves->energy.value);
  // What the restriction forbids is no move.
  Restriction restriction = restriction_of(machine, example_problem());
  for (LevelRestriction& level : restriction.levels) {
    for (std::size_t dim = 0; dim < 3; ++dim) {
      const auto index = static_cast<std::size_t>(&level - restriction.levels.data());
      level.temporal.exactly[dim] = example_mapping().levels[index].temporal.factors[dim];
    }
  }
  EXPECT_TRUE(relax(example_mapping(), example_problem(), machine, Judge::Timeloop, restriction)->moves.empty());
}

// Against a machine of little chance: it becomes one on which the mapping fits, and no change could be smaller.
TEST(Relaxation, ChangesNoMoreThanItHasTo) {
  int changed = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed, "relaxation");
    const Judge judge = seed % 2 == 0 ? Judge::Hierarchy : Judge::Timeloop;
    Case one = random_case(rng, judge == Judge::Hierarchy ? Factors::Ragged : Factors::Exact);
    if (refusal(judge, one.problem)) continue;
    for (StorageLevel& level : one.machine.levels) {
      if (&level != &one.machine.levels.back()) level.capacity = static_cast<std::int64_t>(rng.below(40));
    }
    const auto relaxation = relax(one.mapping, one.problem, one.machine, judge);
    EXPECT_EQ(!relaxation, fits(one.mapping, one.problem, one.machine, judge));
    if (!relaxation) continue;
    const Fitting& fitting = relaxation->fitting;
    EXPECT_TRUE(check(fitting.machine, "test"));
    EXPECT_TRUE(fits(one.mapping, one.problem, fitting.machine, judge)) << seed;
    for (const MachineChange& change : fitting.changes) {
      if (change.what != What::Capacity) continue;
      ++changed;
      Machine smaller = fitting.machine;
      --*smaller.levels[change.level].capacity;
      EXPECT_FALSE(fits(one.mapping, one.problem, smaller, judge)) << seed;
    }
    if (relaxation->moves.empty()) continue;
    ++moved;
    EXPECT_TRUE(fits(relaxation->moved, one.problem, one.machine, judge)) << seed;
    EXPECT_TRUE(check(relaxation->moved, one.problem, one.machine,
                      judge == Judge::Hierarchy ? Factors::Ragged : Factors::Exact, "test"));
  }
  EXPECT_GT(changed, 100);
  EXPECT_GT(moved, 50);
}

}  // namespace
}  // namespace tilewright::hierarchy
