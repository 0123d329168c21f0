// Files as Timeloop users have them: the three machines of the records with their restrictions, and the worked example.
#include <gmock/gmock.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include "example_machine.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"

namespace tilewright::hierarchy {
namespace {

const std::string kData = std::string(TILEWRIGHT_TEST_DATA) + "/timeloop/";

constexpr const char* kArchitecture = R"(architecture:
  version: 0.3
  subtree:
  - name: soc
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 16, block_size: 4, read_bandwidth: 8, write_bandwidth: 8}}
    subtree:
    - name: chip
      local:
      - {name: L2, class: SRAM, attributes: {depth: 8192, width: 64, word_bits: 16, read_bandwidth: 16, write_bandwidth: 16}}
      subtree:
      - name: pe[0..15]
        local:
        - {name: L1, class: regfile, attributes: {entries: 32, word_bits: 16, meshX: 4}}
        - {name: mac, class: intmac, attributes: {word_bits: 16, meshX: 4}}
)";

constexpr const char* kProblem = R"(problem:
  shape:
    name: matmul
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 64, N: 64, K: 32}
)";

constexpr const char* kMapping = R"(mapping:
- {target: L2, type: datatype, keep: [A, Z], bypass: [B]}
- {target: L1, type: temporal, factors: M=2 N=2 K=4, permutation: KMN}
- {target: L2, type: spatial,  factors: M=4 N=4 K=1, permutation: MNK, split: 1}
- {target: L2, type: temporal, factors: M=2 N=8 K=8, permutation: KNM}
- {target: DRAM, type: temporal, factors: M=4 N=1 K=1, permutation: MNK}
)";

TEST(TimeloopFiles, TheWorkedExample) {
  Machine expected = example_machine();
  const Result<Machine> machine = machine_from_timeloop(kArchitecture, "example.yaml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(*machine, expected);
  const Result<Problem> problem = problem_from_timeloop(kProblem, "problem.yaml");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->tensors, example_problem().tensors);
  EXPECT_EQ(problem->bounds, example_problem().bounds);
  const Result<Mapping> mapping = mapping_from_timeloop(kMapping, "mapping.yaml", *problem, *machine);
  ASSERT_TRUE(mapping) << mapping.error().message;
  Evaluator evaluator(*problem, *machine);
  EXPECT_NEAR(std::get<Cost>(evaluator.evaluate(*mapping)).energy.value * 1000 / 131072, 40954.83, 0.005);
}

TEST(TimeloopFiles, TheOlderFlatFormIsTheSameMachine) {
  const Result<Machine> machine = machine_from_timeloop(R"(arch:
  arithmetic: {name: mac, instances: 16, word-bits: 16, meshX: 4}
  storage:
  - {name: L1, technology: regfile, entries: 32, instances: 16, meshX: 4}
  - {name: L2, technology: SRAM, entries: 32768, block-size: 4, read_bandwidth: 16, write_bandwidth: 16}
  - {name: DRAM, technology: DRAM, block-size: 4, bandwidth: 16}
)",
                                                        "example.yaml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(*machine, example_machine());
}

TEST(TimeloopFiles, ArchitecturesGiveTheNumbersTimeloopDerived) {
  const Result<Machines> derived = machines_from_json(*read_file(kData + "archs.json"), "archs.json");
  ASSERT_TRUE(derived) << derived.error().message;
  for (const auto& [name, expected] : *derived) {
    const Result<Machine> machine = read_machine(kData + name + ".yaml");
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->name, name);
    EXPECT_EQ(machine->mac, expected.mac);
    ASSERT_EQ(machine->levels.size(), expected.levels.size());
    for (std::size_t index = 0; index < expected.levels.size(); ++index) {
      const StorageLevel& ours = machine->levels[index];
      const StorageLevel& theirs = expected.levels[index];
      EXPECT_EQ(ours.name, theirs.name);
      EXPECT_EQ(ours.instances, theirs.instances);
      EXPECT_EQ(ours.mesh_x, theirs.mesh_x);
      EXPECT_EQ(ours.usable(), theirs.usable());
      EXPECT_EQ(ours.word_bits, theirs.word_bits);
      EXPECT_EQ(ours.block_size, theirs.block_size);
      EXPECT_EQ(ours.cluster_size, theirs.cluster_size);
      EXPECT_EQ(ours.read_bandwidth, theirs.read_bandwidth);
      EXPECT_EQ(ours.write_bandwidth, theirs.write_bandwidth);
      EXPECT_EQ(ours.shared_bandwidth, theirs.shared_bandwidth);
      EXPECT_NEAR(ours.energy.read.value, theirs.energy.read.value, 1e-12 * theirs.energy.read.value) << ours.name;
      EXPECT_EQ(ours.energy_per_hop, theirs.energy_per_hop);
      EXPECT_EQ(ours.router_energy, theirs.router_energy);
    }
  }
}

// A recorded mapping as a Timeloop user would have written it.
std::string mapping_file(const nlohmann::json& mapping, const std::vector<std::string>& tensors) {
  std::string text = "mapping:\n";
  for (const auto& block : mapping["levels"]) {
    std::string factors;
    for (const auto& [dim, factor] : block["factors"].items()) factors += fmt::format("{}={} ", dim, factor.get<int>());
    text += fmt::format("- target: {}\n  type: {}\n  factors: {}\n  permutation: {}\n", block["target"].get<std::string>(),
                        block["type"].get<std::string>(), factors, block["permutation"].get<std::string>());
    if (block.contains("split")) text += fmt::format("  split: {}\n", block["split"].get<int>());
  }
  for (const auto& [level, kept] : mapping["keep"].items()) {
    std::string keep, bypass;
    for (const std::string& tensor : tensors) {
      const bool is_kept = std::find(kept.begin(), kept.end(), tensor) != kept.end();
      (is_kept ? keep : bypass) += tensor + ", ";
    }
    text += fmt::format("- {{target: {}, type: datatype, keep: [{}], bypass: [{}]}}\n", level, keep, bypass);
  }
  return text;
}

TEST(TimeloopFiles, BestMappingsKeepTheirRestrictionsAndTheirCost) {
  gzFile file = gzopen((kData + "public.jsonl.gz").c_str(), "rb");
  ASSERT_NE(file, nullptr);
  std::vector<char> line(1 << 20);
  int best = 0, outside = 0;
  while (gzgets(file, line.data(), static_cast<int>(line.size())) != nullptr) {
    const std::string text = line.data();
    if (text.find(R"("set":"best_known")") == std::string::npos && text.find(R"("set":"invalid")") == std::string::npos)
      continue;
    const nlohmann::json record = nlohmann::json::parse(text);
    const std::string arch = record["arch"], shape = record["problem"]["shape"];
    const Machine machine = *read_machine(kData + arch + ".yaml");
    NamedNumbers bounds, coefficients;
    for (const auto& [name, value] : record["problem"]["dims"].items()) bounds.emplace_back(name, value);
    for (const auto& [name, value] : record["problem"]["coefficients"].items()) coefficients.emplace_back(name, value);
    const Problem problem = *problem_of(*shape_named(shape), bounds, coefficients, "record");
    std::vector<std::string> tensors;
    for (const Tensor& tensor : problem.tensors) tensors.push_back(tensor.name);
    const Result<Mapping> mapping =
        mapping_from_timeloop(mapping_file(record["mapping"], tensors), "m.yaml", problem, machine);
    ASSERT_TRUE(mapping) << mapping.error().message;
    const std::string short_name = arch == "simba_like" && shape == "gemm" ? "simba" : arch;
    const std::string rules = kData + short_name + (shape == "gemm" ? "_gemm" : "") + ".constraints.yaml";
    if (shape == "dwconv" || (arch == "eyeriss_like" && shape == "gemm")) continue;
    const Result<std::string> rules_text = read_file(rules);
    ASSERT_TRUE(rules_text) << rules_text.error().message;
    const Result<Restriction> restriction = restriction_from_timeloop(*rules_text, rules, problem, machine);
    ASSERT_TRUE(restriction) << restriction.error().message;
    const auto broken = violation(*restriction, *mapping, problem, machine);
    if (record["set"] == "invalid") {
      outside += broken ? 1 : 0;  // drawn without regard to the restrictions
      continue;
    }
    ++best;
    EXPECT_FALSE(broken) << record["id"] << ": " << *broken;
    Evaluator evaluator(problem, machine);
    const Cost cost = std::get<Cost>(evaluator.evaluate(*mapping));
    EXPECT_EQ(cost.cycles.value, record["out"]["cycles"].get<std::int64_t>());
    const double energy = record["out"]["energy"];
    EXPECT_NEAR(cost.energy.value, energy, 1e-12 * energy);
  }
  gzclose(file);
  EXPECT_EQ(best, 19);
  EXPECT_GT(outside, 10);
}

TEST(TimeloopFiles, ConstraintsLimitFactorsOrderAndParallelism) {
  const Problem problem = example_problem();
  const Machine machine = example_machine();
  const auto broken = [&](const std::string& entries) {
    const Result<Restriction> restriction =
        restriction_from_timeloop("mapspace_constraints:\n  targets:\n" + entries, "c.yaml", problem, machine);
    EXPECT_TRUE(restriction) << restriction.error().message;
    return violation(*restriction, example_mapping(), problem, machine).value_or("");
  };
  EXPECT_EQ(broken("  - {target: L2, type: spatial, factors: K=1 M<=4 N<=4, permutation: MNK, split: 1}\n"), "");
  EXPECT_EQ(broken("  - {target: L2, type: spatial, factors: M<=2}\n"), "level 'L2' cuts M into 4, expected at most 2");
  EXPECT_EQ(broken("  - {target: L2, type: spatial, permutation: MNK, split: 2}\n"),
            "level 'L2' spreads N along Y, expected the other axis");
  EXPECT_EQ(broken("  - {target: DRAM, type: temporal, factors: [M=0]}\n"), "level 'DRAM' cuts M into 4, expected 64");
  EXPECT_EQ(broken("  - {target: L1, type: temporal, permutation: K_N}\n"), "");
  EXPECT_EQ(broken("  - {target: L1, type: temporal, permutation: N}\n"),
            "level 'L1' has its loops in the order KMN, expected N inside and any outside");
  EXPECT_EQ(broken("  - {target: L2, type: bypass, keep: [B]}\n"), "level 'L2' lets B pass by, expected it to be kept");
  EXPECT_EQ(broken("  - {type: utilization, min: 1.0}\n"), "");
}

// Timeloop's mapper writes factors without a sign; people write spaces around it.
TEST(TimeloopFiles, FactorsMayBeSpeltInThreeWays) {
  const Mapping mapping = *mapping_from_timeloop(kMapping, "m.yaml", example_problem(), example_machine());
  std::string bare = kMapping, spaced = kMapping;
  for (std::size_t at = bare.find('=', bare.find("factors")); at != std::string::npos; at = bare.find('=', at))
    bare.erase(at, 1);
  for (std::size_t at = 0; (at = spaced.find('=', at)) != std::string::npos; at += 3) spaced.replace(at, 1, " = ");
  for (const std::string& text : {bare, spaced}) {
    const Result<Mapping> read = mapping_from_timeloop(text, "m.yaml", example_problem(), example_machine());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, mapping);
  }
}

// What its front end adds to the files of people: defaults spelt out, and the size of the inputs.
TEST(TimeloopFiles, AsTheFrontEndWritesThem) {
  std::string architecture = kArchitecture, problem = kProblem;
  architecture.replace(architecture.find("entries: 32"), 0,
                       "allow_overbooking: false, network_fill_latency: 0, power_gated_at: null, n_banks: 2, ");
  problem.replace(problem.find("M: 64"), 0, "H: 8, W: 8, Hpad: 1, Wpad: 1, densities: {}, ");
  const Result<Machine> machine = machine_from_timeloop(architecture, "example.yaml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(*machine, example_machine());
  const Result<Problem> read = problem_from_timeloop(problem, "problem.yaml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->bounds, example_problem().bounds);
  problem.replace(problem.find("densities: {}"), 13, "densities: {A: 0.5}");
  EXPECT_EQ(problem_from_timeloop(problem, "problem.yaml").error().message,
            "problem.yaml:9: densities are not supported, expected a dense problem");
}

TEST(TimeloopFiles, WhatIsNotSupportedIsRefusedByNameAndLine) {
  const auto machine_error = [](std::string from, const std::string& to) {
    std::string text = kArchitecture;
    text.replace(text.find(from), from.size(), to);
    const Result<Machine> machine = machine_from_timeloop(text, "a.yaml");
    return machine ? std::string("read") : machine.error().message;
  };
  EXPECT_THAT(machine_error("entries: 32", "wire_energy: 1"),
              testing::StartsWith("a.yaml:14: wire_energy is not supported"));
  EXPECT_THAT(machine_error("class: SRAM", "class: XY_NoC"), testing::StartsWith("a.yaml:10: class 'XY_NoC' is a network"));
  EXPECT_THAT(machine_error("pe[0..15]", "pe[0..9999999]"), testing::StartsWith("a.yaml:12: name is 'pe[0..9999999]'"));
  EXPECT_THAT(machine_error("width: 64", "width: 65"), testing::StartsWith("a.yaml:10: width is 65"));
  const Result<Problem> stride =
      problem_from_timeloop("problem:\n  instance: {R: 1, S: 1, P: 1, Q: 1, C: 1, K: 1, N: 1, HStride: 2}\n", "p.yaml");
  ASSERT_FALSE(stride);
  EXPECT_THAT(stride.error().message,
              testing::StartsWith("p.yaml:2: 'HStride' is neither a dimension nor a coefficient (did you mean 'Hstride'?)"));
  const Result<Mapping> ragged = mapping_from_timeloop("mapping:\n- {target: DRAM, type: temporal, factors: 'M=4,3'}\n",
                                                       "m.yaml", example_problem(), example_machine());
  ASSERT_FALSE(ragged);
  EXPECT_EQ(ragged.error().message, "m.yaml:2: factors has a remainder 3, which is not supported");
}

}  // namespace
}  // namespace tilewright::hierarchy
