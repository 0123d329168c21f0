#include <gtest/gtest.h>

#include "golden.hpp"

namespace tilewright::vta {
namespace {

void expect_equal(const Profile& is, const Profile& expected) {
  EXPECT_EQ(is.inp_bytes, expected.inp_bytes);
  EXPECT_EQ(is.wgt_bytes, expected.wgt_bytes);
  EXPECT_EQ(is.acc_bytes, expected.acc_bytes);
  EXPECT_EQ(is.uop_bytes, expected.uop_bytes);
  EXPECT_EQ(is.out_bytes, expected.out_bytes);
  EXPECT_EQ(is.gemm_steps, expected.gemm_steps);
  EXPECT_EQ(is.alu_steps, expected.alu_steps);
}

TEST(Execute, GoldenProgramsGiveTheDumpsAndCountersOfTheRealSimulatorInEveryOrder) {
  ASSERT_EQ(golden_cases().size(), 55u);
  for (const GoldenCase& golden : golden_cases()) {
    SCOPED_TRACE(golden.name);
    const Program program = program_from_bytes(golden.program, golden.name).value();
    const Program expected = program_from_bytes(golden.expected, golden.name).value();
    for (const auto order :
         {ModuleOrder::Oldest, ModuleOrder::LoadFirst, ModuleOrder::ComputeFirst, ModuleOrder::StoreFirst}) {
      const Execution execution =
          execute(program, golden.machine,
                  {.order = order, .fill = static_cast<std::uint8_t>(order == ModuleOrder::LoadFirst ? 0xA5 : 0)});
      ASSERT_FALSE(execution.fault) << to_text(*execution.fault);
      expect_equal(execution.profile, golden.profile);
      EXPECT_EQ(execution.profile.instructions, golden.instruction_count);
      ASSERT_EQ(execution.dumps.size(), expected.sections.size());
      for (std::size_t i = 0; i < expected.sections.size(); ++i) {
        EXPECT_EQ(execution.dumps[i].tag, expected.sections[i].tag);
        EXPECT_EQ(execution.dumps[i].address, expected.sections[i].address);
        EXPECT_TRUE(execution.dumps[i].bytes == expected.sections[i].bytes) << "dump " << i;
      }
    }
  }
}

struct Enough {};

// 2^27 steps in one instruction: it is heard of before it ends, and can be stopped.
TEST(Execute, ALongInstructionTellsHowFarItIsAndCanBeStopped) {
  Instruction gemm, end;
  gemm.opcode = Opcode::Gemm;
  gemm.iter_out = gemm.iter_in = 1 << 13;
  gemm.uop_end = 2;
  end.opcode = Opcode::Finish;
  Program program;
  Section& stream = program.sections.emplace_back();
  stream.kind = SectionKind::Stream;
  stream.address = 0x1000;
  for (const Instruction& instruction : {gemm, end})
    for (const std::uint8_t byte : Encoding(Machine{}).encode(instruction)) stream.bytes.push_back(byte);
  stream.size = stream.bytes.size();

  std::vector<std::int64_t> told;
  ExecutionOptions options;
  options.progress = [&](std::int64_t done, std::int64_t all) {
    told.push_back(done);
    EXPECT_EQ(all, 1 << 27);
    if (told.size() == 3) throw Enough{};
  };
  EXPECT_THROW(execute(program, Machine{}, options), Enough);
  EXPECT_EQ(told, (std::vector<std::int64_t>{1 << 22, 2 << 22, 3 << 22}));
}

TEST(Execute, IllegalProgramsGetTheirVerdict) {
  ASSERT_EQ(golden_negatives().size(), 16u);
  for (const GoldenNegative& golden : golden_negatives()) {
    SCOPED_TRACE(golden.name);
    const auto program = program_from_bytes(golden.program, golden.name);
    if (!program) {
      EXPECT_EQ(program.error().message.substr(0, program.error().message.find(':')), golden.verdict);
      EXPECT_EQ(golden.code, 2);
      continue;
    }
    const Execution execution = execute(*program, Machine{});
    if (golden.verdict == "ok") {
      EXPECT_FALSE(execution.fault);
      continue;
    }
    ASSERT_TRUE(execution.fault);
    EXPECT_TRUE(execution.dumps.empty());
    EXPECT_EQ(name_of(execution.fault->kind), golden.verdict);
    EXPECT_EQ(exit_code(execution.fault->kind), golden.code);
    EXPECT_EQ(execution.fault->stream, golden.stream);
    EXPECT_EQ(execution.fault->instruction, golden.instruction);
    EXPECT_EQ(execution.fault->tokens, golden.tokens.value_or(execution.fault->tokens));
    EXPECT_NE(execution.fault->sentence.find("expected"), std::string::npos) << to_text(*execution.fault);
  }
}

}  // namespace
}  // namespace tilewright::vta
