#include "example_machine.hpp"

namespace tilewright::hierarchy {
namespace {

class WorkedExample : public testing::Test {
 protected:
  void SetUp() override { cost_ = std::get<Cost>(evaluator_.evaluate(example_mapping())); }
  const TensorCounts& at(std::size_t level, char tensor) const {
    return evaluator_.analysis().levels[level].tensors[*evaluator_.problem().tensor_named(std::string(1, tensor))];
  }

  Evaluator evaluator_{example_problem(), example_machine(), {.detail = EvaluateOptions::Detail::All}};
  Cost cost_;
};

TEST_F(WorkedExample, TilesAreWhatTheLoopsInsideCover) {
  EXPECT_EQ(at(0, 'A').tile, 8);
  EXPECT_EQ(at(0, 'B').tile, 8);
  EXPECT_EQ(at(0, 'Z').tile, 4);
  EXPECT_EQ(at(1, 'A').tile, 512);
  EXPECT_EQ(at(1, 'Z').tile, 1024);
  EXPECT_EQ(at(2, 'A').tile, 2048);
  EXPECT_EQ(at(2, 'B').tile, 2048);
  EXPECT_EQ(at(2, 'Z').tile, 4096);
}

TEST_F(WorkedExample, AIsReadOncePerGroupOfFour) {
  const std::vector<Record>& records = evaluator_.analysis().levels[1].networks[0].records;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].multicast, 4);
  EXPECT_EQ(records[0].scatter, 4);
  EXPECT_EQ(at(1, 'A').reads, 16384);
  EXPECT_EQ(at(0, 'A').fills, 4096);
  EXPECT_EQ(at(1, 'A').fills, 2048);
  EXPECT_EQ(at(2, 'A').reads, 2048);
}

TEST_F(WorkedExample, BComesFromDramBecauseItPassesL2By) {
  EXPECT_EQ(at(2, 'B').reads, 16384);
  EXPECT_EQ(at(0, 'B').fills, 4096);
  EXPECT_FALSE(at(1, 'B').kept);
}

TEST_F(WorkedExample, ZIsReducedInTheRegisters) {
  EXPECT_EQ(at(0, 'Z').updates, 8192);
  EXPECT_EQ(at(0, 'Z').partition, 256);
  EXPECT_EQ(at(0, 'Z').reads, 7936);
  EXPECT_EQ(at(0, 'Z').fills, 0);
  EXPECT_EQ(at(1, 'Z').updates, 4096);
  EXPECT_EQ(at(1, 'Z').partition, 4096);
  EXPECT_EQ(at(1, 'Z').reads, 0);
  EXPECT_EQ(at(1, 'Z').fills, 0);
}

TEST_F(WorkedExample, CyclesAndEnergy) {
  EXPECT_EQ(cost_.cycles, Cycles{8192});
  EXPECT_EQ(cost_.utilization, 1.0);
  EXPECT_EQ(cost_.bottleneck, kMacLevel);
  const double femtojoules = 1000.0 / 131072;
  const std::vector<LevelAnalysis>& levels = evaluator_.analysis().levels;
  EXPECT_NEAR(evaluator_.analysis().mac_energy.value * femtojoules, 1000, 0.005);
  EXPECT_NEAR(levels[0].energy.value * femtojoules, 4859.51, 0.005);
  EXPECT_NEAR(levels[1].energy.value * femtojoules, 720.32, 0.005);
  EXPECT_NEAR(levels[2].energy.value * femtojoules, 34375.00, 0.005);
  EXPECT_NEAR(cost_.energy.value * femtojoules, 40954.83, 0.005);
}

TEST(Misfit, SaysWhatIsNeededAndWhatThereIs) {
  Machine machine = example_machine();
  machine.levels[0].capacity = 19;  // the tiles need 8 + 8 + 4
  Evaluator small(example_problem(), machine);
  EXPECT_EQ(std::get<Infeasible>(small.evaluate(example_mapping())), (Infeasible{Infeasible::Reason::Capacity, 0, 20, 19}));
  machine.levels[0].capacity = 20;
  Evaluator enough(example_problem(), machine);
  EXPECT_TRUE(std::holds_alternative<Cost>(enough.evaluate(example_mapping())));
  machine.levels[0].min_utilization = 1;
  machine.levels[0].capacity = 21;
  Evaluator too_empty(example_problem(), machine);
  EXPECT_EQ(std::get<Infeasible>(too_empty.evaluate(example_mapping())),
            (Infeasible{Infeasible::Reason::Utilization, 0, 21, 20}));
  EXPECT_EQ(to_sentence({Infeasible::Reason::Capacity, 0, 20, 19}, machine),
            "level 'L1' holds 20 words, expected at most 19");
}

}  // namespace
}  // namespace tilewright::hierarchy
