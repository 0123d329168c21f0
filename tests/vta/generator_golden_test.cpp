// Our programs on the data of programs that ran on the real functional simulator and on RTL: same layer, same schedule, same
// addresses, but our instructions and micro-ops. The results must be those that were recorded.
#include <gtest/gtest.h>

#include <algorithm>

#include "golden.hpp"
#include "tilewright/vta/generator.hpp"
#include "tilewright/vta/layouts.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright::vta {
namespace {

struct Golden {
  const char* name;
  std::int64_t batch, in, height, width, out, kernel, stride, pad;
  Schedule schedule;
  Finishing finishing;
};

const Finishing kClip11{.shift = 11}, kRelu11{.bias = true, .shift = 11, .low = 0},
    kRelu10{.bias = true, .shift = 10, .low = 0};

const Golden kGolden[] = {
    {"gen_conv3x3_a", 1, 32, 14, 14, 32, 3, 1, 1, {1, 7, 14, 1, 2, 1, 1}, kClip11},
    {"gen_conv3x3_b_oc2", 1, 32, 14, 14, 32, 3, 1, 1, {1, 7, 14, 1, 1, 1, 2}, kClip11},
    {"gen_conv3x3_c_h2", 1, 32, 14, 14, 32, 3, 1, 1, {1, 7, 14, 1, 2, 2, 1}, kClip11},
    {"gen_conv3x3_d_4ctx", 1, 16, 10, 12, 64, 3, 1, 1, {1, 5, 6, 1, 2, 2, 2}, kRelu11},
    {"gen_conv3x3_e_tails", 1, 24, 9, 9, 40, 3, 1, 1, {1, 4, 5, 2, 2, 2, 1}, kRelu11},
    {"gen_conv3x3_f_s2", 1, 32, 14, 14, 32, 3, 2, 1, {1, 7, 7, 1, 2, 1, 1}, kClip11},
    {"gen_conv3x3_g_s2_h2", 1, 16, 11, 15, 48, 3, 2, 1, {1, 2, 5, 1, 3, 2, 1}, kClip11},
    {"gen_conv1x1_b_s2", 1, 48, 13, 9, 32, 1, 2, 0, {1, 3, 5, 3, 1, 1, 2}, {false, true, 8, -100, 100}},
    {"gen_dense_a", 1, 256, 1, 1, 160, 1, 1, 0, {1, 1, 1, 4, 5, 1, 1}, kRelu11},
    {"gen_dense_b_oc2", 5, 128, 1, 1, 96, 1, 1, 0, {5, 1, 1, 4, 2, 1, 2}, kClip11},
    {"cfg_b1x8_conv3x3", 1, 24, 9, 9, 16, 3, 1, 1, {1, 3, 9, 1, 2, 2, 1}, kClip11},
    {"cfg_b1x32_conv1x1", 1, 64, 7, 7, 64, 1, 1, 0, {1, 7, 7, 2, 1, 1, 2}, kRelu10},
    {"cfg_b2x16_conv3x3", 2, 32, 8, 8, 32, 3, 1, 1, {1, 4, 8, 1, 2, 1, 1}, kRelu11},
    {"cfg_b4x16_dense", 10, 96, 1, 1, 80, 1, 1, 0, {3, 1, 1, 3, 3, 1, 2}, kRelu10},
    {"cfg_b1_bi16_bo32_conv3x3_s2", 1, 32, 9, 9, 64, 3, 2, 1, {1, 3, 5, 2, 1, 1, 2}, kClip11},
    {"cfg_b1_bi32_bo16_conv3x3", 1, 40, 8, 8, 48, 3, 1, 1, {1, 4, 8, 2, 3, 1, 1}, {false, true, 10, -100, 100}},
    {"cfg_b1x16_u10_conv3x3", 1, 16, 8, 8, 32, 3, 1, 1, {1, 4, 8, 1, 2, 1, 1}, kClip11},
    {"net_resnet18_c4", 1, 64, 56, 56, 128, 1, 2, 0, {1, 7, 28, 1, 4, 2, 1}, {.shift = 10}},
    {"net_resnet18_c5", 1, 128, 28, 28, 128, 3, 1, 1, {1, 14, 28, 1, 2, 2, 1}, {.shift = 12}},
};

// The recorded program with our stream in place of its own.
Program with_our_stream(const Golden& g, const Machine& machine, const Program& recorded, Code& code) {
  const Layer layer = convolution(g.name, {.batch = g.batch,
                                           .out_channels = g.out,
                                           .in_channels = g.in,
                                           .in_height = g.height,
                                           .in_width = g.width,
                                           .kernel_height = g.kernel,
                                           .kernel_width = g.kernel,
                                           .stride = g.stride,
                                           .pad = g.pad});
  EXPECT_FALSE(misfit(layer, machine, g.schedule));
  Program ours;
  std::uint64_t end = 0;
  for (const Section& section : recorded.sections) {
    end = std::max(end, section.address + section.size);
    if (section.kind != SectionKind::MicroOps && section.kind != SectionKind::Stream) ours.sections.push_back(section);
  }
  Addresses addresses;
  addresses.input = ours.sections[0].address;
  addresses.weight = ours.sections[1].address;
  if (g.finishing.bias) addresses.bias = ours.sections[2].address;
  if (g.finishing.residual) addresses.residual = ours.sections[2].address;
  const Section& output = ours.sections.back();  // between two guards of equal size
  const auto size = static_cast<std::uint64_t>(output_layout(layer, machine).numbers());
  addresses.output = output.address + (output.size - size) / 2;
  addresses.uops = (end + 4095) / 4096 * 4096;
  generate(layer, machine, g.schedule, g.finishing, addresses, code);

  const Encoding encoding(machine);
  Section uops{.kind = SectionKind::MicroOps, .address = addresses.uops, .size = 4 * code.uops.size(), .bytes = {}};
  for (const MicroOp& uop : code.uops) {
    for (int byte = 0; byte < 4; ++byte) uops.bytes.push_back(static_cast<std::uint8_t>(encoding.encode(uop) >> 8 * byte));
  }
  Section stream{.kind = SectionKind::Stream,
                 .address = (addresses.uops + uops.size + 4095) / 4096 * 4096,
                 .size = 16 * code.instructions.size(),
                 .bytes = {}};
  for (const Instruction& instruction : code.instructions) {
    const Word word = encoding.encode(instruction);
    stream.bytes.insert(stream.bytes.end(), word.begin(), word.end());
  }
  ours.sections.push_back(uops);
  ours.sections.push_back(stream);
  return ours;
}

TEST(GenerateGolden, ResultsAreThoseOfTheRealSimulator) {
  for (const Golden& g : kGolden) {
    SCOPED_TRACE(g.name);
    const GoldenCase& golden = golden_case(g.name);
    const Result<Program> recorded = program_from_bytes(golden.program, g.name);
    const Result<Program> expected = program_from_bytes(golden.expected, g.name);
    ASSERT_TRUE(recorded && expected);
    Code code;
    const Execution execution = execute(with_our_stream(g, golden.machine, *recorded, code), golden.machine);
    ASSERT_FALSE(execution.fault) << execution.fault->sentence;
    ASSERT_EQ(execution.dumps.size(), 1u);
    EXPECT_EQ(execution.dumps[0].bytes, expected->sections[0].bytes);

    // Nor are they slower than the programs whose cycles were counted in RTL.
    for (const GoldenRun& run : golden.runs) {
      const TimingOptions options{
          .core = Core::Sequential, .read_latency = run.read_latency, .write_latency = run.write_latency};
      EXPECT_LE(time_stream(code.instructions, golden.machine, options).cycles, run.cycles) << run.read_latency;
    }
  }
}

}  // namespace
}  // namespace tilewright::vta
