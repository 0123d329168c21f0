#include "tilewright/vta/execution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>

#include "naive_chip.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/vta/step_kernels.hpp"

namespace tilewright::vta {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kStreamAddress = 0x20000;

// Any stream becomes a legal one when each instruction waits for the one before it. Load and store cannot wait for each
// other, so a compute instruction that does nothing stands between them.
std::vector<Instruction> chained(std::span<const Instruction> instructions) {
  std::vector<Instruction> stream;
  const auto append = [&](const Instruction& instruction) {
    stream.push_back(instruction);
    if (stream.size() < 2) return;
    Instruction& before = stream[stream.size() - 2];
    const Module from = module_of(before);
    const Module to = module_of(instruction);
    if (from == to) return;
    (from < to ? before.push_next : before.push_prev) = true;
    (from < to ? stream.back().pop_prev : stream.back().pop_next) = true;
  };
  for (const Instruction& instruction : instructions) {
    const bool is_far = !stream.empty() && module_of(instruction) != Module::Compute &&
                        module_of(stream.back()) != Module::Compute && module_of(stream.back()) != module_of(instruction);
    if (is_far) append(Instruction{});
    append(instruction);
  }
  append(Instruction{.opcode = Opcode::Finish});
  return stream;
}

Section stream_section(const std::vector<Instruction>& stream, const Machine& machine,
                       std::uint64_t address = kStreamAddress) {
  const Encoding encoding(machine);
  Section section{.kind = SectionKind::Stream, .tag = 0, .address = address, .size = 16 * stream.size(), .bytes = {}};
  for (const Instruction& instruction : stream) {
    const Word word = encoding.encode(instruction);
    section.bytes.insert(section.bytes.end(), word.begin(), word.end());
  }
  return section;
}

Machine random_machine(Rng& rng) {
  while (true) {
    const auto between = [&](int least, int most) { return static_cast<int>(rng.between(least, most)); };
    Machine machine{.log_inp_width = between(0, 5),
                    .log_wgt_width = between(0, 5),
                    .log_acc_width = between(2, 5),
                    .log_batch = between(0, 2),
                    .log_block_in = between(0, 5),
                    .log_block_out = between(0, 5),
                    .log_uop_buffer = between(6, 9)};
    if (rng.below(3) == 0) machine.log_inp_width = machine.log_wgt_width = 3;
    if (rng.below(2) == 0) machine.log_acc_width = 5;
    // So deep that every buffer has 16 to 64 elements.
    machine.log_inp_buffer = machine.log_inp_width + machine.log_batch + machine.log_block_in - 3 + between(4, 6);
    machine.log_wgt_buffer = machine.log_wgt_width + machine.log_block_out + machine.log_block_in - 3 + between(4, 6);
    machine.log_acc_buffer = machine.log_acc_width + machine.log_batch + machine.log_block_out - 3 + between(4, 6);
    if (check(machine, "random")) return machine;
  }
}

Instruction random_instruction(Rng& rng, const Machine& machine, std::uint64_t dram_bytes) {
  const auto below = [&](std::int64_t limit) { return static_cast<std::uint16_t>(rng.below(limit)); };
  Instruction instruction;
  const std::int64_t kind = rng.below(8);
  if (kind < 5) {
    constexpr Buffer kBuffers[] = {Buffer::Uop, Buffer::Wgt, Buffer::Inp, Buffer::Acc, Buffer::Acc8, Buffer::Out};
    instruction.buffer = kBuffers[rng.below(6)];
    instruction.opcode = instruction.buffer == Buffer::Out ? Opcode::Store : Opcode::Load;
    const std::int64_t elements = static_cast<std::int64_t>(dram_bytes) / element_bytes(machine, instruction.buffer);
    instruction.sram_base = below(depth(machine, instruction.buffer));
    instruction.dram_base = static_cast<std::uint32_t>(rng.below(elements));
    instruction.y_size = below(5);
    instruction.x_size = below(5);
    instruction.x_stride = below(9);
    if (instruction.opcode == Opcode::Load && rng.below(2) == 0) {
      instruction.y_pad_0 = static_cast<std::uint8_t>(rng.below(3));
      instruction.y_pad_1 = static_cast<std::uint8_t>(rng.below(3));
      instruction.x_pad_0 = static_cast<std::uint8_t>(rng.below(3));
      instruction.x_pad_1 = static_cast<std::uint8_t>(rng.below(3));
    }
    return instruction;
  }
  instruction.opcode = kind < 7 ? Opcode::Alu : Opcode::Gemm;
  instruction.reset = kind == 7 && rng.below(4) == 0;
  instruction.uop_begin = below(14);
  instruction.uop_end = below(17);
  instruction.iter_out = below(4);
  instruction.iter_in = below(4);
  instruction.dst_factor_out = below(3);
  instruction.dst_factor_in = below(3);
  instruction.src_factor_out = below(3);
  instruction.src_factor_in = below(3);
  if (kind == 7) {
    instruction.wgt_factor_out = below(3);
    instruction.wgt_factor_in = below(3);
  } else {
    instruction.alu_opcode = static_cast<AluOpcode>(rng.below(5));
    instruction.use_imm = rng.below(2) == 0;
    instruction.imm = static_cast<std::int16_t>(rng.below(3) == 0 ? rng.between(-32768, 32767) : rng.between(-33, 33));
  }
  return instruction;
}

// Stores all accumulators, then shifts them right by as many bits as were stored, until every bit has been seen.
std::vector<Instruction> show_accumulators(const Machine& machine) {
  const auto count = static_cast<std::uint16_t>(depth(machine, Buffer::Acc));
  std::vector<Instruction> instructions;
  std::int64_t element = 0x2000 / element_bytes(machine, Buffer::Out);
  for (int seen = 0; seen < 1 << machine.log_acc_width; seen += 1 << machine.log_inp_width, element += count) {
    instructions.push_back({.opcode = Opcode::Store,
                            .buffer = Buffer::Out,
                            .y_size = 1,
                            .x_size = count,
                            .dram_base = static_cast<std::uint32_t>(element)});
    instructions.push_back({.opcode = Opcode::Alu,
                            .use_imm = true,
                            .alu_opcode = AluOpcode::Shr,
                            .imm = static_cast<std::int16_t>(1 << machine.log_inp_width),
                            .uop_end = 1,
                            .iter_out = 1,
                            .iter_in = count,
                            .dst_factor_in = 1,
                            .src_factor_in = 1});
  }
  return instructions;
}

// Micro-ops with small indices lie in the first 16 words of DRAM's data; those of the first are zero.
Section random_data(Rng& rng, const Machine& machine) {
  Section data{.kind = SectionKind::Data, .tag = 5, .address = kDramBegin, .size = 1 << 16, .bytes = {}};
  for (std::uint64_t i = 0; i < data.size; ++i) data.bytes.push_back(static_cast<std::uint8_t>(rng.below(256)));
  const Encoding encoding(machine);
  for (std::size_t u = 0; u < 16; ++u) {
    MicroOp uop;
    for (std::uint16_t* index : {&uop.dst, &uop.src, &uop.wgt})
      *index = static_cast<std::uint16_t>(u > 0 ? rng.below(4) : 0);
    const std::uint32_t word = encoding.encode(uop);
    for (std::size_t b = 0; b < 4; ++b) data.bytes[4 * u + b] = static_cast<std::uint8_t>(word >> (8 * b));
  }
  return data;
}

TEST(Execute, RandomProgramsOnMachinesOfAnyWidthAgreeWithANaiveSimulator) {
  Rng rng(11, "programs");
  int instructions = 0;
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const Machine machine = random_machine(rng);
    const Section data = random_data(rng, machine);
    const DramRange range{.begin = kDramBegin, .end = kDramBegin + data.size};
    std::vector<Instruction> drawn{{.buffer = Buffer::Uop, .y_size = 1, .x_size = 16, .dram_base = kDramBegin / 4}};
    for (int k = 0; k < 60; ++k) {
      const Instruction instruction = random_instruction(rng, machine, range.end);
      // The micro-ops stay what they are, so that they stay in range.
      if (instruction.opcode == Opcode::Load && instruction.buffer == Buffer::Uop) continue;
      if (!check_instruction(instruction, machine, range)) drawn.push_back(instruction);
    }
    for (const Instruction& instruction : show_accumulators(machine)) drawn.push_back(instruction);
    const std::vector<Instruction> stream = chained(drawn);
    instructions += static_cast<int>(stream.size());

    Section dump = data;
    dump.kind = SectionKind::Dump;
    dump.bytes.clear();
    const Execution execution = execute({{data, stream_section(stream, machine), dump}}, machine);
    ASSERT_FALSE(execution.fault) << to_text(*execution.fault);

    Bytes dram(range.end);
    std::ranges::copy(data.bytes, dram.begin() + kDramBegin);
    NaiveChip naive(machine);
    naive.run(stream, dram);
    ASSERT_TRUE(std::ranges::equal(execution.dumps.at(0).bytes, std::span(dram).subspan(kDramBegin)));
  }
  EXPECT_GT(instructions, 4000);
}

Fault fault_of(std::vector<Section> sections, const ExecutionOptions& options = {}) {
  const Execution execution = execute({std::move(sections)}, Machine{}, options);
  return execution.fault.value_or(
      Fault{.kind = FaultKind::BadMagic, .stream = -7, .instruction = -7, .tokens = {}, .sentence = {}});
}

TEST(Execute, LyingSectionsAreRefusedWithoutTheirMemory) {
  const Section stream = stream_section({{.opcode = Opcode::Finish}}, Machine{});
  const auto section = [](SectionKind kind, std::uint64_t address, std::uint64_t size) {
    return Section{.kind = kind, .tag = 0, .address = address, .size = size, .bytes = {}};
  };
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(fault_of({stream, section(SectionKind::Zeros, 0x30000, huge)}).kind, FaultKind::DramRange);
  EXPECT_EQ(fault_of({stream, section(SectionKind::Zeros, huge, 16)}).kind, FaultKind::DramRange);
  EXPECT_EQ(fault_of({stream, section(SectionKind::Zeros, 0, 16)}).kind, FaultKind::DramRange);
  EXPECT_EQ(fault_of({stream, section(SectionKind::Dump, 0x30000, 0x80000000)}).kind, FaultKind::BadSection);
  EXPECT_EQ(fault_of({stream, section(SectionKind::Zeros, kStreamAddress + 15, 2)}).kind, FaultKind::BadSection);
  EXPECT_EQ(fault_of({stream, section(SectionKind::Data, 0x30000, 2)}).kind, FaultKind::Truncated);
  EXPECT_EQ(fault_of({section(SectionKind::Zeros, 0x30000, 16)}).kind, FaultKind::BadSection);
  EXPECT_FALSE(execute({{stream, section(SectionKind::Zeros, 0x30000, 0xF0000000)}}, Machine{}).fault);  // sparse
}

TEST(Execute, IndicesMayReachTheLastElementAndNoFurther) {
  Section uops{.kind = SectionKind::MicroOps, .tag = 0, .address = 0x10000, .size = 4, .bytes = Bytes(4)};
  const auto verdict = [&](const Instruction& loops) {
    const Instruction load{.buffer = Buffer::Uop, .y_size = 1, .x_size = 1, .dram_base = 0x10000 / 4};
    const auto fault =
        execute({{uops, stream_section({load, loops, {.opcode = Opcode::Finish}}, Machine{})}}, Machine{}).fault;
    EXPECT_TRUE(!fault || fault->instruction == 1);
    return fault ? std::string(name_of(fault->kind)) : "ok";
  };
  const Instruction gemm{.opcode = Opcode::Gemm, .uop_end = 1, .iter_out = 2, .iter_in = 24};
  const Instruction alu{.opcode = Opcode::Alu, .use_imm = true, .uop_end = 1, .iter_out = 2, .iter_in = 24};
  // 1 * factor_out + 23 * 89 is the last of 2048 elements at factor_out 0; of 1024 weights with 23 * 44 at 11.
  for (std::uint16_t more = 0; more < 2; ++more) {
    const std::string expected = more > 0 ? "sram_range" : "ok";
    for (Instruction i : {gemm, alu}) {
      i.dst_factor_in = 89;
      i.dst_factor_out = more;
      EXPECT_EQ(verdict(i), expected);
      i.reset = i.opcode == Opcode::Gemm;
      EXPECT_EQ(verdict(i), expected);
    }
    for (Instruction i : {gemm, alu}) {
      i.src_factor_in = 89;
      i.src_factor_out = more;
      EXPECT_EQ(verdict(i), expected);
    }
    Instruction weights = gemm;
    weights.wgt_factor_in = 44;
    weights.wgt_factor_out = 11 + more;
    EXPECT_EQ(verdict(weights), expected);
    weights.reset = true;  // which multiplies nothing
    EXPECT_EQ(verdict(weights), "ok");
  }
}

TEST(Execute, LoopsWithoutEndAreCutShort) {
  const Instruction reset{.opcode = Opcode::Gemm, .reset = true, .uop_end = 8191, .iter_out = 16383, .iter_in = 16383};
  const Section stream = stream_section({reset, {.opcode = Opcode::Finish}}, Machine{});
  const Fault fault = fault_of({stream});
  EXPECT_EQ(fault.kind, FaultKind::TooLong);
  EXPECT_EQ(fault.instruction, 0);
}

TEST(Execute, AStreamMayRewriteTheNextOne) {
  // The accumulators hold the word of FINISH, 8 bits in each; stored over a stream of an unknown opcode they make it legal.
  Section acc{.kind = SectionKind::Data, .tag = 0, .address = 0x10000, .size = 64, .bytes = Bytes(64)};
  acc.bytes[0] = 3;
  const Instruction load{.buffer = Buffer::Acc, .y_size = 1, .x_size = 1, .dram_base = 0x10000 / 64};
  const Instruction store{
      .opcode = Opcode::Store, .buffer = Buffer::Out, .y_size = 1, .x_size = 1, .dram_base = 0x30000 / 16};
  Section second = stream_section({{.opcode = Opcode::Finish}}, Machine{}, 0x30000);
  second.bytes[0] = 7;
  EXPECT_EQ(fault_of({acc, stream_section(chained(std::vector{load}), Machine{}), second}).kind, FaultKind::BadOpcode);
  EXPECT_FALSE(execute({{acc, stream_section(chained(std::vector{load, store}), Machine{}), second}}, Machine{}).fault);
}

TEST(Execute, ShiftsSeeFiveBitsOfTheAmount) {
  EXPECT_EQ(shifted_right(-5, 1), -3);
  EXPECT_EQ(shifted_right(-5, 33), -3);
  EXPECT_EQ(shifted_right(3, -2), 12);
  EXPECT_EQ(shifted_right(3, -32), 3);
  EXPECT_EQ(shifted_right(1, -31), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(shifted_right(7, std::numeric_limits<std::int32_t>::min()), 7);
}

}  // namespace
}  // namespace tilewright::vta
