// Accelergy's tables: every version says the same, what a machine file gives itself goes before them, and Timeloop's printed
// total of a mapping with leakage can be added up from them by hand.
#include <cmath>

#include <gmock/gmock.h>

#include "example_machine.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"

namespace tilewright::hierarchy {
namespace {

constexpr const char* kListed = R"(ERT:
  version: '0.4'
  tables:
  - name: soc.DRAM[1..1]
    actions:
    - {name: leak, arguments: {}, energy: 0.0}
    - {name: read, arguments: {}, energy: 512}
    - {name: write, arguments: {}, energy: 500}
    - {name: update, arguments: {}, energy: 490}
  - name: soc.chip.pe[0..15].L1
    actions:
    - {name: read, arguments: {data_delta: 0}, energy: 0.1}
    - {name: read, arguments: {data_delta: 1}, energy: 0.2}
    - {name: leak, energy: 0.001}
  - name: soc.chip.pe[0..15].mac
    actions: [{name: compute, energy: 0.3}, {name: leak, energy: 7}]
  - name: soc.chip.unknown
    actions: [{name: read, energy: 9}]
)";

constexpr const char* kMapped = R"(ERT:
  version: 0.2
  tables:
    soc.DRAM: {leak: {energy: 0.0}, read: {energy: 512}, write: {energy: 500}, update: {energy: 490}}
    soc.chip.pe[0..15].L1: {read: [{arguments: {data_delta: 0}, energy: 0.1}, {energy: 0.2}], leak: {energy: 0.001}}
    soc.chip.pe[0..15].mac: {compute: {energy: 0.3}, leak: {energy: 7}}
)";

constexpr const char* kFlat = R"(arch:
  arithmetic: {name: mac, instances: 16, word-bits: 16, meshX: 4, energy: 5}
  storage:
  - {name: L1, technology: regfile, entries: 32, instances: 16, meshX: 4}
  - {name: L2, technology: SRAM, entries: 32768, block-size: 4, read_bandwidth: 16, write_bandwidth: 16}
  - {name: DRAM, technology: DRAM, block-size: 4, bandwidth: 16}
)";

Machine priced(const char* text) {
  const Result<EnergyReference> reference = energy_reference_from_yaml(text, "ert.yaml");
  EXPECT_TRUE(reference) << reference.error().message;
  const Result<Machine> machine = machine_from_timeloop(kFlat, "example.yaml", &*reference);
  EXPECT_TRUE(machine) << machine.error().message;
  return *machine;
}

TEST(EnergyReference, EveryVersionSaysTheSame) {
  const Machine machine = priced(kListed);
  EXPECT_EQ(machine, priced(kMapped));
  // The action itself, a write in its place, the most expensive one where there is neither.
  EXPECT_EQ(machine.levels[2].energy, (AccessEnergy{{512}, {500}, {490}}));
  EXPECT_EQ(machine.levels[0].energy, (AccessEnergy{{0.2}, {0.2}, {0.2}}));
  EXPECT_EQ(machine.levels[0].leakage, Picojoules{0.001});
  EXPECT_EQ(machine.mac.energy, Picojoules{0.3});                                  // as in Timeloop, before its own `energy`
  EXPECT_EQ(machine.levels[1].energy, table_energy(example_machine().levels[1]));  // it is in no table
}

TEST(EnergyReference, MayStandInTheArchitecturesOwnFile) {
  const Result<Machine> machine = machine_from_timeloop(std::string(kFlat) + kListed, "example.yaml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(*machine, priced(kListed));
}

TEST(EnergyReference, WhatALevelGivesItselfGoesFirst) {
  const Result<EnergyReference> reference = energy_reference_from_yaml(kListed, "ert.yaml");
  std::string text = kFlat;
  text.replace(text.find("entries: 32,"), 0, "vector_access_energy: 4, ");
  const Machine theirs = *machine_from_timeloop(text, "example.yaml", &*reference);
  EXPECT_EQ(theirs.levels[0].energy, (AccessEnergy{{4}, {4}, {4}}));
  EXPECT_EQ(theirs.levels[0].leakage, Picojoules{0});
  const Machine ours = *machine_from_yaml(R"(format: tilewright-accelerator-2
mac: {instances: 16, energy_pj: 2}
levels:
- {name: L1, instances: 16, energy_pj: {read: 3}}
- {name: DRAM, technology: dram, leakage_pj: 1}
)",
                                          "m.yaml", &*reference);
  EXPECT_EQ(ours.mac.energy, Picojoules{2});
  EXPECT_EQ(ours.levels[0].energy, (AccessEnergy{{3}, {0.2}, {0.2}}));
  EXPECT_EQ(ours.levels[0].leakage, Picojoules{0.001});
  EXPECT_EQ(ours.levels[1].energy.read, Picojoules{512});
  EXPECT_EQ(ours.levels[1].leakage, Picojoules{1});
}

// Reads, fills and updates are counted by the judge and priced here once more.
TEST(EnergyReference, PricesEveryAccessAndEveryCycle) {
  const Machine machine = priced(kListed);
  const Problem problem = example_problem();
  Evaluator evaluator(problem, machine, {.judge = Judge::Timeloop, .detail = EvaluateOptions::Detail::All});
  const Evaluation evaluation = evaluator.evaluate(example_mapping());
  ASSERT_TRUE(std::holds_alternative<Cost>(evaluation));
  const Analysis& analysis = evaluator.analysis();
  double dram = 0;
  for (const auto& tensor : analysis.levels[2].tensors) {
    const auto blocks = [](double words) { return std::ceil(words / 4); };
    dram += blocks(static_cast<double>(tensor.reads)) * 512 + blocks(static_cast<double>(tensor.fills)) * 500 +
            blocks(static_cast<double>(tensor.updates)) * 490;
  }
  EXPECT_DOUBLE_EQ(analysis.levels[2].energy.value, dram);
  double registers = 0.001 * 16 * static_cast<double>(std::get<Cost>(evaluation).cycles.value);
  for (const auto& tensor : analysis.levels[0].tensors) {
    registers += 16 * 0.2 * static_cast<double>(tensor.reads + tensor.fills + tensor.updates);
  }
  EXPECT_NEAR(analysis.levels[0].energy.value, registers, 1e-9 * registers);
  EXPECT_DOUBLE_EQ(analysis.mac_energy.value, 0.3 * 131072);
}

TEST(EnergyReference, TakesAreasToo) {
  const Result<EnergyReference> reference = energy_reference_from_yaml(
      "ART: {tables: [{name: 'a.L1[0..15]', area: 120.5}, {name: a.mac, area: 30}]}\n", "art.yaml");
  ASSERT_TRUE(reference) << reference.error().message;
  const Machine machine = *machine_from_timeloop(kFlat, "example.yaml", &*reference);
  EXPECT_EQ(machine.levels[0].area, SquareMicrometres{120.5});
  EXPECT_EQ(machine.mac.area, SquareMicrometres{30});
  EXPECT_EQ(machine.levels[0].energy, example_machine().levels[0].energy);
}

TEST(EnergyReference, SaysWhatIsWrong) {
  const auto error = [](const char* text) {
    const Result<EnergyReference> reference = energy_reference_from_yaml(text, "ert.yaml");
    return reference ? std::string("read") : reference.error().message;
  };
  EXPECT_EQ(error("tables: []\n"),
            "ert.yaml:1: neither ERT nor ART is there, expected Accelergy's tables of energies or areas");
  EXPECT_EQ(error("ERT:\n  tables:\n  - {name: a.b, actions: [{name: read, energy: -1}]}\n"),
            "ert.yaml:3: energy is -1, expected 0 to 1e15 pJ");
  EXPECT_EQ(error("ERT:\n  tables:\n  - {name: a.b, actions: [{name: read}]}\n"),
            "ert.yaml:3: energy is missing, expected pJ of the action");
  EXPECT_EQ(error("ERT:\n  tables:\n  - {name: a.b, actions: [{name: read, energy: 1}]}\n"
                  "  - {name: c.b, actions: [{name: read, energy: 1}]}\n"),
            "ert.yaml:4: a second component 'b', expected names that differ in their last part");
}

}  // namespace
}  // namespace tilewright::hierarchy
