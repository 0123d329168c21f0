#include "tilewright/vta/instruction.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "golden.hpp"

namespace tilewright::vta {
namespace {

using Values = std::map<std::string, std::int64_t>;

template <typename T>
T value(const Values& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? T{} : static_cast<T>(found->second);
}

Instruction instruction_of(const Values& f) {
  Instruction i;
  i.opcode = value<Opcode>(f, "opcode");
  i.pop_prev = value<bool>(f, "pop_prev");
  i.pop_next = value<bool>(f, "pop_next");
  i.push_prev = value<bool>(f, "push_prev");
  i.push_next = value<bool>(f, "push_next");
  i.buffer = value<Buffer>(f, "memory_type");
  i.sram_base = value<std::uint16_t>(f, "sram_base");
  i.dram_base = value<std::uint32_t>(f, "dram_base");
  i.y_size = value<std::uint16_t>(f, "y_size");
  i.x_size = value<std::uint16_t>(f, "x_size");
  i.x_stride = value<std::uint16_t>(f, "x_stride");
  i.y_pad_0 = value<std::uint8_t>(f, "y_pad_0");
  i.y_pad_1 = value<std::uint8_t>(f, "y_pad_1");
  i.x_pad_0 = value<std::uint8_t>(f, "x_pad_0");
  i.x_pad_1 = value<std::uint8_t>(f, "x_pad_1");
  i.reset = value<bool>(f, "reset_reg");
  i.uop_begin = value<std::uint16_t>(f, "uop_bgn");
  i.uop_end = value<std::uint16_t>(f, "uop_end");
  i.iter_out = value<std::uint16_t>(f, "iter_out");
  i.iter_in = value<std::uint16_t>(f, "iter_in");
  i.dst_factor_out = value<std::uint16_t>(f, "dst_factor_out");
  i.dst_factor_in = value<std::uint16_t>(f, "dst_factor_in");
  i.src_factor_out = value<std::uint16_t>(f, "src_factor_out");
  i.src_factor_in = value<std::uint16_t>(f, "src_factor_in");
  i.wgt_factor_out = value<std::uint16_t>(f, "wgt_factor_out");
  i.wgt_factor_in = value<std::uint16_t>(f, "wgt_factor_in");
  i.alu_opcode = value<AluOpcode>(f, "alu_opcode");
  i.use_imm = value<bool>(f, "use_imm");
  i.imm = value<std::int16_t>(f, "imm");
  return i;
}

TEST(Encoding, EveryGoldenWordIsEncodedAndDecoded) {
  std::map<std::string, Encoding> encodings;
  for (const GoldenLayout& layout : golden_layouts()) encodings.emplace(layout.config_name, Encoding(layout.machine));
  EXPECT_EQ(golden_words().size(), 2310u);
  for (const GoldenWord& golden : golden_words()) {
    SCOPED_TRACE(golden.config_name + " " + golden.mnemonic);
    const Encoding& encoding = encodings.at(golden.config_name);
    if (golden.mnemonic == "UOP") {
      const MicroOp uop{.dst = value<std::uint16_t>(golden.fields, "dst_idx"),
                        .src = value<std::uint16_t>(golden.fields, "src_idx"),
                        .wgt = value<std::uint16_t>(golden.fields, "wgt_idx")};
      std::uint32_t word = 0;
      for (std::size_t i = 4; i-- > 0;) word = word << 8 | golden.bytes[i];
      EXPECT_EQ(encoding.encode(uop), word);
      EXPECT_EQ(encoding.decode(word), uop);
      continue;
    }
    const Instruction instruction = instruction_of(golden.fields);
    const Word word = encoding.encode(instruction);
    EXPECT_TRUE(std::ranges::equal(word, golden.bytes));
    Instruction decoded;
    // The golden values are random: some memory types and ALU opcodes are none.
    EXPECT_EQ(encoding.decode(word, decoded),
              instruction.buffer <= Buffer::Acc8 && instruction.alu_opcode <= AluOpcode::Mul);
    EXPECT_EQ(decoded, instruction);
  }
}

TEST(Encoding, WordsThatAreNoInstructionAreSaidToBe) {
  const Encoding encoding(Machine{});
  Instruction instruction;
  for (std::uint8_t opcode = 0; opcode < 8; ++opcode) {
    EXPECT_EQ(encoding.decode(Word{opcode}, instruction), opcode <= 4);
    EXPECT_EQ(static_cast<std::uint8_t>(instruction.opcode), opcode);
  }
  for (std::uint16_t type = 0; type < 8; ++type) {
    Word word{};
    word[0] = static_cast<std::uint8_t>(type << 7);
    word[1] = static_cast<std::uint8_t>(type >> 1);
    EXPECT_EQ(encoding.decode(word, instruction), type <= 5);
    EXPECT_EQ(static_cast<std::uint16_t>(instruction.buffer), type);
  }
  Word mad{4};
  mad[13] = 5 << 4;  // alu_opcode lies in bits 108 to 110
  EXPECT_FALSE(encoding.decode(mad, instruction));
}

TEST(Instruction, GoesToTheModuleThatOwnsTheBuffer) {
  const auto module = [](Opcode opcode, Buffer buffer) { return module_of({.opcode = opcode, .buffer = buffer}); };
  EXPECT_EQ(module(Opcode::Load, Buffer::Inp), Module::Load);
  EXPECT_EQ(module(Opcode::Load, Buffer::Wgt), Module::Load);
  EXPECT_EQ(module(Opcode::Load, Buffer::Acc), Module::Compute);
  EXPECT_EQ(module(Opcode::Load, Buffer::Acc8), Module::Compute);
  EXPECT_EQ(module(Opcode::Load, Buffer::Uop), Module::Compute);
  EXPECT_EQ(module(Opcode::Store, Buffer::Out), Module::Store);
  EXPECT_EQ(module(Opcode::Finish, Buffer::Inp), Module::Compute);
}

TEST(Instruction, TextSaysWhatItDoes) {
  EXPECT_EQ(to_text({.opcode = Opcode::Gemm,
                     .pop_prev = true,
                     .push_prev = true,
                     .uop_begin = 1,
                     .uop_end = 9,
                     .iter_out = 8,
                     .iter_in = 128,
                     .dst_factor_in = 8,
                     .src_factor_out = 1,
                     .src_factor_in = 8,
                     .wgt_factor_out = 1}),
            "gemm  uops 1..9 iter 8x128 acc +0/+8 inp +1/+8 wgt +1/+0  pop load, push load");
  EXPECT_EQ(to_text({.opcode = Opcode::Load,
                     .push_next = true,
                     .buffer = Buffer::Inp,
                     .y_pad_0 = 1,
                     .x_pad_1 = 2,
                     .sram_base = 3,
                     .y_size = 4,
                     .x_size = 5,
                     .x_stride = 6,
                     .dram_base = 0x1234}),
            "load  inp[3] from dram[0x1234], 4x5 stride 6 pads y 1/0 x 0/2  push compute");
  EXPECT_EQ(to_text({.opcode = Opcode::Alu,
                     .push_next = true,
                     .use_imm = true,
                     .alu_opcode = AluOpcode::Shr,
                     .imm = -3,
                     .uop_begin = 9,
                     .uop_end = 10,
                     .iter_out = 1,
                     .iter_in = 1024,
                     .dst_factor_in = 1}),
            "shr   uops 9..10 iter 1x1024 acc +0/+1 by -3  push store");
  EXPECT_EQ(to_text({.opcode = Opcode::Store, .pop_prev = true}), "store nothing  pop compute");
  EXPECT_EQ(to_text({.opcode = Opcode::Finish, .pop_next = true}), "finish  pop store");
}

}  // namespace
}  // namespace tilewright::vta
