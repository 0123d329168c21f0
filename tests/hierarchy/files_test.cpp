#include <gmock/gmock.h>

#include "example_machine.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"

namespace tilewright::hierarchy {
namespace {

constexpr const char* kMachine = R"(format: tilewright-accelerator-2
name: example
mac: {instances: 16, mesh_x: 4}
levels:
- {name: L1, technology: registers, instances: 16, mesh_x: 4, capacity: 32}
- {name: L2, capacity: 32768, block_size: 4, bandwidth: {read: 16, write: 16}}
- {name: DRAM, technology: dram, block_size: 4, bandwidth: {read: 8, write: 8}}
)";

TEST(MachineYaml, DefaultsAreThePublicTable) {
  const Result<Machine> machine = machine_from_yaml(kMachine, "m.yaml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(*machine, example_machine());
}

TEST(MachineYaml, IsReadBackAsTheSame) {
  Machine machine = example_machine();
  machine.source = "a \"paper\": 2017";
  machine.bits = {4, 8, 8, 32};
  machine.clock_ghz = 0.7;
  machine.mac.area = SquareMicrometres{12.5};
  StorageLevel& level = machine.levels[1];
  level.cluster_size = 1;
  level.multiple_buffering = 2;
  level.min_utilization = 0.25;
  level.shared_bandwidth = 1.0 / 3;
  level.overlaps = level.multicast = level.links = false;
  level.energy = {{1.1}, {1.2}, {1.3}};
  level.energy_per_hop = {0.05};
  level.router_energy = {0.1};
  level.leakage = {0.001};
  level.area = SquareMicrometres{1e6};
  level.keeps = {TensorKind::Input, TensorKind::Output};
  level.bypasses = {TensorKind::Weight};
  const Result<Machine> again = machine_from_yaml(to_yaml(machine), "again.yaml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, machine);
}

TEST(MachineYaml, SaysWhereWhatAndWhatWasExpected) {
  const auto message = [](std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    const Result<Machine> machine = machine_from_yaml(text.replace(at, from.size(), to), "m.yaml");
    return machine ? std::string("read") : machine.error().message;
  };
  EXPECT_EQ(message(kMachine, "instances: 16, mesh_x: 4, capacity", "instances: 16, mesh_x: 3, capacity"),
            "m.yaml:5: level 'L1': mesh_x is 3, expected a divisor of 16");
  EXPECT_EQ(message(kMachine, "technology: dram", "technology: dam"),
            "m.yaml:7: technology 'dam' is not known (did you mean 'dram'?), expected one of registers, sram, dram");
  EXPECT_THAT(message(kMachine, "block_size", "block_sise"), testing::HasSubstr("m.yaml:6: "));
  EXPECT_THAT(message(kMachine, "read: 8", "read: 0"), testing::HasSubstr("m.yaml:7: level 'DRAM': read_bandwidth is 0"));
  EXPECT_THAT(message(kMachine, "mac: {instances: 16", "mac: {instances: 99999999"),
              testing::HasSubstr("m.yaml:3: mac: instances is 99999999, expected at most 1048576"));
}

TEST(MappingText, ReadsAsALoopNest) {
  EXPECT_EQ(to_text(example_mapping(), example_problem(), example_machine()),
            "DRAM [A B Z]: M4\n"
            "  L2 [A Z]: M2 N8 K8, spread N4 along Y, M4 along X\n"
            "    L1 [A B Z]: N2 M2 K4\n");
}

TEST(MappingText, BothFilesAreReadBackAsTheSame) {
  const Problem problem = example_problem();
  const Machine machine = example_machine();
  const Mapping mapping = canonical(example_mapping(), problem);
  const Result<Mapping> ours = mapping_from_yaml(to_yaml(mapping, problem, machine), "again.yaml", problem, machine);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_EQ(canonical(*ours, problem), mapping);
  const Result<Mapping> theirs =
      mapping_from_timeloop(to_timeloop_yaml(mapping, problem, machine), "again.yaml", problem, machine);
  ASSERT_TRUE(theirs) << theirs.error().message;
  EXPECT_EQ(canonical(*theirs, problem), mapping);
}

TEST(MappingText, SaysWhatIsWrong) {
  const auto message = [](const std::string& levels) {
    const Result<Mapping> mapping = mapping_from_yaml("format: tilewright-mapping-2\nlevels:\n" + levels, "m.yaml",
                                                      example_problem(), example_machine());
    return mapping ? std::string("read") : mapping.error().message;
  };
  EXPECT_EQ(message("- {level: L3}\n"), "m.yaml:3: level is 'L3' (did you mean 'L1'?), expected one of L1, L2, DRAM");
  EXPECT_EQ(message("- {level: L1, time: [Q4]}\n"),
            "m.yaml:3: time has 'Q4', expected one of MNK with its trips, such as M4");
  EXPECT_THAT(message("- {level: L1, time: [M4]}\n"),
              testing::HasSubstr("the factors of M multiply to 4, expected at least 64"));
}

}  // namespace
}  // namespace tilewright::hierarchy
