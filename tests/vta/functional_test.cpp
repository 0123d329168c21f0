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
