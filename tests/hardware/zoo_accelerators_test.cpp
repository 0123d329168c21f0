// The machines of zoo/accelerators against the publications their headers cite.
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

Accelerator zoo(const std::string& name) {
  const Result<Accelerator> accelerator = read_accelerator("zoo:" + name);
  EXPECT_TRUE(accelerator) << accelerator.error().message;
  return accelerator ? *accelerator : Accelerator{};
}

TEST(ZooAccelerators, AllAreReadAndCalledAfterTheirFile) {
  const std::vector<std::string> names = zoo_names("accelerators");
  EXPECT_THAT(names, IsSupersetOf({"eyeriss", "gamma-cloud", "gamma-edge", "nvdla-large", "nvdla-small", "shidiannao",
                                   "simba-chiplet", "tpu-v1-like"}));
  for (const std::string& name : names) {
    const Accelerator accelerator = zoo(name);
    EXPECT_EQ(accelerator.name, name);
    EXPECT_FALSE(accelerator.source.empty()) << name;
    EXPECT_THAT(zoo_text("accelerators", name).value(), HasSubstr("#"))
        << name << " does not say where its numbers come from";
  }
}

TEST(ZooAccelerators, ArraysAreThePublishedOnes) {
  EXPECT_EQ(zoo("eyeriss").pes, 12 * 14);
  EXPECT_EQ(zoo("nvdla-small").pes, 8 * 8);
  EXPECT_EQ(zoo("nvdla-large").pes, 32 * 64);
  EXPECT_EQ(zoo("shidiannao").pes, 8 * 8);
  EXPECT_EQ(zoo("tpu-v1-like").pes, 256 * 256);
  EXPECT_EQ(zoo("simba-chiplet").pes * zoo("simba-chiplet").simd_lanes, 16 * 8 * 8);
  EXPECT_EQ(zoo("gamma-edge").pes, 168);
}

TEST(ZooAccelerators, BuffersAreThePublishedOnes) {
  EXPECT_EQ(zoo("eyeriss").l1, Bytes{512});
  EXPECT_EQ(zoo("eyeriss").l2, Bytes{108 * 1024});
  EXPECT_EQ(zoo("nvdla-small").l2, Bytes{32 * 512 * 8});
  EXPECT_EQ(zoo("nvdla-large").l2, Bytes{16 * 512 * 64});
  EXPECT_EQ(zoo("shidiannao").l2, Bytes{(64 + 64 + 128) * 1024});
  EXPECT_EQ(zoo("tpu-v1-like").l2, Bytes{28 * 1024 * 1024});
  EXPECT_EQ(zoo("simba-chiplet").l1, Bytes{(32 + 8 + 3) * 1024 / 8});
  EXPECT_EQ(zoo("gamma-edge").l2, Bytes{108000});
}

// With all of L2 and L1 as built; buses, control and pads are not counted, so it is somewhat less than the die.
TEST(ZooAccelerators, KnownAreasAreThePublishedOnes) {
  const auto square_millimetres = [](const std::string& name) {
    const Accelerator machine = zoo(name);
    EXPECT_TRUE(machine.area.known()) << name;
    if (!machine.area.known()) return 0.0;
    const double l1 = static_cast<double>(machine.pes * machine.l1.value) * machine.area.l1_byte->value;
    return 1e-6 * (static_cast<double>(machine.pes * machine.simd_lanes) * machine.area.pe->value + l1 +
                   static_cast<double>(machine.l2.value) * machine.area.buffer_byte->value);
  };
  EXPECT_NEAR(square_millimetres("eyeriss"), 12.25, 0.01);
  EXPECT_NEAR(square_millimetres("shidiannao"), 4.86 - 0.31, 0.01);  // without the instruction buffer
  EXPECT_NEAR(square_millimetres("tpu-v1-like"), 331 * (0.24 + 0.29 + 0.06),
              1);  // matrix unit, unified buffer, accumulators
  for (const std::string unknown : {"gamma-cloud", "gamma-edge", "nvdla-large", "nvdla-small", "simba-chiplet"}) {
    EXPECT_FALSE(zoo(unknown).area.known()) << unknown;
  }
}

TEST(ZooAccelerators, SimbaReachesItsPublishedPeak) {
  const Accelerator simba = zoo("simba-chiplet");
  const double tops = 2e-3 * static_cast<double>(simba.pes * simba.simd_lanes) * simba.clock_ghz;
  EXPECT_NEAR(tops, 4.01, 0.01);
}

}  // namespace
}  // namespace tilewright
