#include "tilewright/vta/program.hpp"

#include <gtest/gtest.h>

#include "golden.hpp"
#include "tilewright/vta/disassembly.hpp"

namespace tilewright::vta {
namespace {

const Bytes& good() {
  for (const GoldenNegative& golden : golden_negatives()) {
    if (golden.verdict == "ok") return golden.program;
  }
  static const Bytes none;
  return none;
}

TEST(Program, GoldenFilesReadAndWriteBackTheSameBytes) {
  for (const GoldenCase& golden : golden_cases()) {
    EXPECT_EQ(to_bytes(program_from_bytes(golden.program, golden.name).value()), golden.program) << golden.name;
    EXPECT_EQ(to_bytes(program_from_bytes(golden.expected, golden.name).value()), golden.expected) << golden.name;
  }
}

TEST(Program, EveryPrefixOfAFileIsRefused) {
  const Bytes& whole = good();
  ASSERT_TRUE(program_from_bytes(whole, "whole"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto program = program_from_bytes(std::span(whole).first(size), "cut");
    ASSERT_FALSE(program) << size;
    EXPECT_TRUE(program.error().message.starts_with(size < 8 ? "bad_magic: cut: " : "truncated: cut: ")) << size;
  }
}

TEST(Program, SizesThatLieAskForNoMemory) {
  const auto verdict = [](std::size_t at, int byte_count) {
    Bytes bytes = good();
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), byte_count, 0xff);
    const auto program = program_from_bytes(bytes, "liar");
    return program ? "" : program.error().message.substr(0, program.error().message.find(':'));
  };
  EXPECT_EQ(verdict(8, 4), "truncated");        // number of sections
  EXPECT_EQ(verdict(12, 4), "bad_checksum");    // zeros
  EXPECT_EQ(verdict(16, 4), "bad_section");     // kind
  EXPECT_EQ(verdict(16 + 16, 8), "truncated");  // size of the first section
  EXPECT_EQ(verdict(16 + 4 * 24 + 16, 8), "");  // size of a section of zeros, which the simulator refuses
  Bytes longer = good();
  longer.push_back(0);
  EXPECT_EQ(program_from_bytes(longer, "long").error().message,
            "bad_section: long: 1 bytes follow the last section, expected none");
}

TEST(Program, FilesNoticeEveryFlippedBit) {
  const Bytes file = to_file(program_from_bytes(good(), "good").value());
  ASSERT_TRUE(program_from_bytes(file, "file"));
  EXPECT_EQ(to_bytes(program_from_bytes(file, "file").value()), good());
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes other = file;
    other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(program_from_bytes(other, "flipped")) << bit;
  }
}

TEST(Program, ListingHasALinePerInstruction) {
  EXPECT_EQ(
      listing(program_from_bytes(good(), "good").value(), Machine{}),
      "data at 0x10000, 32 bytes, tag 0\n"
      "data at 0x20000, 256 bytes, tag 0\n"
      "micro-ops at 0x30000, 8 bytes, tag 0\n"
      "stream at 0x50000, 160 bytes, tag 0\n"
      "     0  compute  load  uop[0] from 0x30000, 1x2 stride 2\n"
      "     1  compute  reset uops 0..2 iter 1x1 acc +0/+0 (dst 0..1)\n"
      "     2  load     load  inp[0] from 0x10000, 1x2 stride 2\n"
      "     3  load     load  wgt[0] from 0x20000, 1x1 stride 1  push compute\n"
      "     4  compute  gemm  uops 0..2 iter 1x1 acc +0/+0 inp +0/+0 wgt +0/+0 (dst 0..1 src 0..1 wgt 0..0)  pop load\n"
      "     5  compute  max   uops 0..1 iter 1x2 acc +0/+1 by -128 (dst 0..0)\n"
      "     6  compute  min   uops 0..1 iter 1x2 acc +0/+1 by 127 (dst 0..0)  push store\n"
      "     7  store    store out[0] to 0x40000, 1x2 stride 2  pop compute, push compute\n"
      "     8  compute  load  nothing  pop store\n"
      "     9  compute  finish\n"
      "zeros at 0x40000, 128 bytes, tag 0\n"
      "dump at 0x40000, 32 bytes, tag 0\n");
}

}  // namespace
}  // namespace tilewright::vta
