#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright::hierarchy {
namespace {

TEST(ZooMachines, EveryFileIsReadAndWrittenBackAsTheSame) {
  const std::vector<std::string> names = zoo_names("machines");
  EXPECT_GE(names.size(), 6u);
  for (const std::string& name : names) {
    const Result<Machine> machine = read_machine("zoo:" + name);
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->name, name);
    EXPECT_FALSE(machine->source.empty());
    const Result<Machine> again = machine_from_yaml(to_yaml(*machine), "again.yaml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, *machine);
  }
}

TEST(ZooMachines, TheRecordedOnesAreTimeloopsOwnFiles) {
  for (const std::string name : {"simple3", "eyeriss_like", "simba_like"}) {
    Machine theirs = *read_machine(std::string(TILEWRIGHT_TEST_DATA) + "/timeloop/" + name + ".yaml");
    std::string zoo_name = name;
    std::ranges::replace(zoo_name, '_', '-');
    const Machine ours = *read_machine("zoo:" + zoo_name);
    theirs.name = ours.name;
    theirs.source = ours.source;
    EXPECT_EQ(ours, theirs) << name;
  }
}

TEST(ZooMachines, AMachineOfVersionOneHasMacsL1L2AndDram) {
  for (const std::string& name : zoo_names("accelerators")) {
    const Result<Machine> machine = read_machine("zoo:" + name);
    ASSERT_TRUE(machine) << machine.error().message;
    const Accelerator accelerator = *read_accelerator("zoo:" + name);
    ASSERT_EQ(machine->levels.size(), 3u);
    EXPECT_EQ(machine->mac.instances, accelerator.pes * accelerator.simd_lanes);
    EXPECT_EQ(machine->fan_x(0) * machine->fan_y(0), accelerator.simd_lanes);
    EXPECT_EQ(machine->fan_x(1) * machine->fan_y(1), accelerator.pes);
    EXPECT_EQ(machine->levels[2].energy.read, Picojoules{100});  // 200 pJ per 16 bits
  }
  EXPECT_EQ(read_machine("zoo:eyeriss")->fan_y(1), 12);
  EXPECT_FALSE(read_machine("zoo:eyerisss"));
}

// Fetching 4096 x 4096 weights of 8 bits once from DRAM at 200 pJ per 16 bits: 1.68 mJ that no machine without DRAM shows.
TEST(ZooMachines, AMatrixTimesAVectorPaysForItsWeightsInDram) {
  const Machine machine = *read_machine("zoo:tpu-like");
  const Problem problem = *problem_of(matrix_multiply("decode", {.batch = 1, .rows = 1, .inner = 4096, .columns = 4096}));
  Mapping mapping = outermost_mapping(problem, machine);
  const std::uint8_t n = *problem.dim_named('N'), k = *problem.dim_named('K');
  mapping.levels[0].keeps = 0b010;
  mapping.levels[1].keeps = 0b100;
  mapping.levels[2].keeps = 0b101;
  for (const std::uint8_t dim : {n, k}) mapping.levels[3].temporal.factors[dim] = 16;
  mapping.levels[1].spatial.factors[k] = 256;  // down the columns
  mapping.levels[1].spatial.split = 0;
  mapping.levels[2].spatial.factors[n] = 256;
  mapping = *check(mapping, problem, machine, Factors::Exact, "decode");
  Evaluator evaluator(problem, machine, {.judge = Judge::Hierarchy});
  const Cost cost = std::get<Cost>(evaluator.evaluate(mapping));
  EXPECT_EQ(evaluator.analysis().levels[3].tensors[1].reads, 4096 * 4096);
  EXPECT_NEAR(evaluator.analysis().levels[3].tensors[1].energy.value, 4096.0 * 4096 * 100, 1);
  EXPECT_GE(cost.cycles.value, 4096 * 4096 / 48);  // DRAM limits
  EXPECT_EQ(cost.bottleneck, 3);
}

}  // namespace
}  // namespace tilewright::hierarchy
