#include "tilewright/hardware/accelerator.hpp"

#include <filesystem>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

const std::string kFormat = "format: tilewright-accelerator-1\n";

Accelerator from_yaml(const std::string& text) {
  const Result<Accelerator> accelerator = accelerator_from_yaml(kFormat + text, "a.yaml");
  EXPECT_TRUE(accelerator) << accelerator.error().message;
  return accelerator ? *accelerator : Accelerator{};
}

std::string complaint_about_yaml(const std::string& text) {
  const Result<Accelerator> accelerator = accelerator_from_yaml(kFormat + text, "a.yaml");
  return accelerator ? "nothing" : accelerator.error().message;
}

TEST(AcceleratorYaml, ReadsEveryField) {
  const Accelerator accelerator = from_yaml(
      "name: mine\n"
      "source: a paper\n"
      "pes: 168\n"
      "clusters: [12, 7]\n"
      "l1_bytes: 512\n"
      "l2_bytes: 110592\n"
      "noc: {bandwidth: 64, hops: 2, hop_latency: 3}\n"
      "offchip_bandwidth: 16\n"
      "simd_lanes: 4\n"
      "clock_ghz: 0.2\n"
      "leakage_mw: 7\n"
      "energy_pj: {mac: 1.5, l1_access: 2.5, l2_access: 3.5}\n"
      "area: {pe_um2: 100, buffer_byte_um2: 0.5, l1_byte_um2: 2}\n");
  const Accelerator expected{.name = "mine",
                             .source = "a paper",
                             .pes = 168,
                             .clusters = {12, 7},
                             .l1 = {512},
                             .l2 = {110592},
                             .noc = {.bandwidth = 64, .hops = 2, .hop_latency = 3},
                             .offchip_bandwidth = 16,
                             .simd_lanes = 4,
                             .clock_ghz = 0.2,
                             .leakage = {7},
                             .energy = {{1.5}, {2.5}, {3.5}},
                             .area = {.pe = {{100}}, .buffer_byte = {{0.5}}, .l1_byte = {{2}}}};
  EXPECT_EQ(accelerator, expected);
  EXPECT_EQ(accelerator.noc.latency(), 6);
}

TEST(AcceleratorYaml, WhatIsNotGivenIsUnlimitedOrMaestros) {
  Accelerator expected;
  expected.name = "a";
  expected.pes = 16;
  EXPECT_EQ(from_yaml("pes: 16\n"), expected);
  EXPECT_EQ(expected.l1, Bytes{kUnlimited});
  EXPECT_EQ(expected.energy.mac, Picojoules{0.23});
}

TEST(AcceleratorYaml, ComplaintsNameTheLine) {
  EXPECT_EQ(complaint_about_yaml("name: x\n"), "a.yaml:1: 'pes' is missing, expected it here");
  EXPECT_EQ(complaint_about_yaml("pes: 0\n"), "a.yaml:2: pes is 0, expected at least 1");
  EXPECT_EQ(complaint_about_yaml("pes: 3\nl1_byte: 5\n"),
            "a.yaml:3: 'l1_byte' is not a known field (did you mean 'l1_bytes'?)");
  EXPECT_EQ(complaint_about_yaml("pes: 3\nnoc:\n  hops: 1\n  bandwidth: 0\n"),
            "a.yaml:5: noc.bandwidth is 0, expected at least 1");
  EXPECT_EQ(complaint_about_yaml("pes: 3\nl2_bytes: 9999999999\n"),
            "a.yaml:3: l2_bytes is 9999999999, expected at most 2147483647");
  EXPECT_EQ(complaint_about_yaml("pes: 12\nclusters: [4, 2]\n"),
            "a.yaml:3: clusters of 2 do not divide 3 units, expected sizes whose product divides pes");
  EXPECT_EQ(complaint_about_yaml("pes: 16\nclusters: [2, 2, 2, 2]\n"),
            "a.yaml:3: clusters are nested 4 deep, expected at most 3");
  EXPECT_EQ(complaint_about_yaml("pes: 1\nclock_ghz: 0\n"),
            "a.yaml:3: clock_ghz is 0, expected a number from 1e-09 to 1000");
  EXPECT_EQ(complaint_about_yaml("pes: 1\nenergy_pj: {mac: -1}\n"),
            "a.yaml:3: energy_pj.mac is -1, expected a number from 0 to 1000000000");
  EXPECT_THAT(accelerator_from_yaml("pes: 1\n", "a.yaml").error().message, HasSubstr("'format' is missing"));
}

TEST(AcceleratorYaml, NumbersThatNoMachineHasAreRefused) {
  for (const std::string line : {"energy_pj: {mac: 1e300}", "energy_pj: {l1_access: 1e300}", "energy_pj: {l2_access: 1.1e9}",
                                 "clock_ghz: 1e-300", "clock_ghz: 1e300", "leakage_mw: 1e300", "leakage_mw: -1",
                                 "area: {pe_um2: 1e300}", "area: {buffer_byte_um2: -1}", "area: {l1_byte_um2: 1e13}"}) {
    EXPECT_THAT(complaint_about_yaml("pes: 3\n" + line + "\n"), HasSubstr("expected a number from")) << line;
  }
  for (const std::string word : {"nan", "inf", "1e999", "-.inf", ".nan"}) {
    EXPECT_THAT(complaint_about_yaml("pes: 3\nclock_ghz: " + word + "\n"), HasSubstr("expected a number")) << word;
  }
}

TEST(AcceleratorYaml, AreaIsKnownWhenElementsAndBytesAre) {
  EXPECT_FALSE(from_yaml("pes: 3\n").area.known());
  EXPECT_FALSE(from_yaml("pes: 3\narea: {pe_um2: 5}\n").area.known());
  EXPECT_FALSE(from_yaml("pes: 3\narea: {pe_um2: 5, l1_byte_um2: 1}\n").area.known());
  EXPECT_TRUE(from_yaml("pes: 3\narea: {pe_um2: 5, buffer_byte_um2: 1}\n").area.known());
}

TEST(AcceleratorYaml, WhatIsWrittenIsReadBack) {
  Rng rng(1, "accelerator");
  const auto maybe = [&](std::int64_t least) { return rng.below(3) == 0 ? kUnlimited : rng.between(least, 1 << 20); };
  for (int round = 0; round < 300; ++round) {
    Accelerator accelerator{.name = rng.below(2) == 0 ? "x y: #" : "plain",
                            .source = rng.below(2) == 0 ? "" : "\"quoted\" - and, [odd]",
                            .pes = 12 * rng.between(1, 1000),
                            .clusters = {},
                            .l1 = {maybe(0)},
                            .l2 = {maybe(0)},
                            .noc = {.bandwidth = maybe(1), .hops = rng.between(0, 9), .hop_latency = rng.between(0, 9)},
                            .offchip_bandwidth = maybe(1),
                            .simd_lanes = rng.between(1, 16),
                            .clock_ghz = rng.uniform() + 0.001,
                            .leakage = {},
                            .energy = {{rng.uniform()}, {rng.uniform()}, {rng.uniform() * 1e-9}},
                            .area = {}};
    if (rng.below(2) == 0) accelerator.leakage = {rng.uniform() * 1e6};
    for (auto* figure : {&accelerator.area.pe, &accelerator.area.buffer_byte, &accelerator.area.l1_byte}) {
      if (rng.below(2) == 0) *figure = SquareMicrometres{rng.uniform() * 1e9};
    }
    if (rng.below(2) == 0) accelerator.clusters = {4, 3};
    const Result<Accelerator> again = accelerator_from_yaml(to_yaml(accelerator), "again.yaml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, accelerator) << to_yaml(accelerator);
  }
}

TEST(AcceleratorMaestro, DefaultsAreThoseOfTheRealProgram) {
  const Result<Accelerator> accelerator = accelerator_from_maestro("", "hw/small.m");
  ASSERT_TRUE(accelerator);
  EXPECT_EQ(accelerator->name, "small");
  EXPECT_EQ(accelerator->pes, 1);
  EXPECT_EQ(accelerator->l1, Bytes{2147483647});
  EXPECT_EQ(accelerator->noc.bandwidth, 2147483647);
  EXPECT_EQ(accelerator->noc.latency(), 1);
  EXPECT_EQ(accelerator->offchip_bandwidth, 2147483647);
}

TEST(AcceleratorMaestro, ReadsKeysAndValuesAsWords) {
  const Result<Accelerator> accelerator = accelerator_from_maestro(
      "num_pes: 256 // many\n"
      "l1_size_cstr: 100\tl2_size_cstr (3000);\n"
      "noc_bw_cstr\n"
      "1000x\n"
      "NoC_NumHops: 0\n"
      "offchip_bw_cstr: 40, num_pes: 128\n",
      "hw.m");
  ASSERT_TRUE(accelerator) << accelerator.error().message;
  EXPECT_EQ(accelerator->pes, 128);
  EXPECT_EQ(accelerator->l1, Bytes{100});
  EXPECT_EQ(accelerator->l2, Bytes{3000});
  EXPECT_EQ(accelerator->noc.bandwidth, 1000);
  EXPECT_EQ(accelerator->noc.latency(), 0);
  EXPECT_EQ(accelerator->offchip_bandwidth, 40);
}

TEST(AcceleratorMaestro, ComplaintsNameTheLine) {
  const auto complaint = [](const std::string& text) {
    const Result<Accelerator> accelerator = accelerator_from_maestro(text, "hw.m");
    return accelerator ? "nothing" : accelerator.error().message;
  };
  EXPECT_EQ(complaint("\nnum_pe: 3"),
            "hw.m:2: 'num_pe' is not a known key, expected one of num_pes, l1_size_cstr, l2_size_cstr, noc_bw_cstr, "
            "offchip_bw_cstr, NoC_NumHops (did you mean 'num_pes'?)");
  EXPECT_EQ(complaint("num_pes:\n"), "hw.m:1: the file ends here, expected a number for num_pes");
  EXPECT_EQ(complaint("num_pes: none\n"), "hw.m:1: num_pes is 0, expected at least 1");
  EXPECT_EQ(complaint("noc_bw_cstr: 4294967297\n"), "hw.m:1: noc_bw_cstr is '4294967297', expected at most 2147483647");
}

TEST(ReadAccelerator, ChoosesByEnding) {
  const Scratch folder;
  ASSERT_TRUE(write_file(folder / "a.yaml", kFormat + "pes: 5\n"));
  ASSERT_TRUE(write_file(folder / "b.m", "num_pes: 6\n"));
  EXPECT_EQ(read_accelerator((folder / "a.yaml").string())->pes, 5);
  EXPECT_EQ(read_accelerator((folder / "a.yaml").string())->name, "a");
  EXPECT_EQ(read_accelerator((folder / "b.m").string())->pes, 6);
  EXPECT_EQ(read_accelerator("zoo:eyeriss")->pes, 168);
  EXPECT_EQ(read_accelerator("a.json").error().message,
            "a.json: ends in '.json', expected an accelerator in .yaml, .yml, .m or .txt, or zoo:NAME");
  EXPECT_EQ(read_accelerator("zoo:eyerris").error().message,
            "zoo:eyerris: no such entry in zoo/accelerators (did you mean 'eyeriss'?)");
  EXPECT_EQ(read_accelerator((folder / "none.m").string()).error().code, ErrorCode::NotFound);
}

TEST(CheckAccelerator, StartsWithWhereItWasAsked) {
  Accelerator accelerator;
  EXPECT_TRUE(check(accelerator, "machine"));
  accelerator.simd_lanes = 0;
  EXPECT_EQ(check(accelerator, "machine").error().message, "machine: simd_lanes is 0, expected at least 1");
  accelerator.simd_lanes = 1;
  accelerator.noc = {.bandwidth = 1, .hops = 1 << 20, .hop_latency = 1 << 20};
  EXPECT_THAT(check(accelerator, "machine").error().message, HasSubstr("make a latency of 1099511627776"));
}

}  // namespace
}  // namespace tilewright
