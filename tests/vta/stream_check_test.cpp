#include "tilewright/vta/stream_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tilewright/base/rng.hpp"

namespace tilewright::vta {
namespace {

// What the tokens of a stream allow, by walking through every order the three modules could run in. A state is the number of
// instructions each has done: it fixes how many tokens are where.
class EveryOrder {
 public:
  explicit EveryOrder(const std::vector<Instruction>& stream) {
    for (const Instruction& instruction : stream)
      queues_[static_cast<std::size_t>(module_of(instruction))].push_back(instruction);
    walk({});
  }

  bool deadlocks = false;       // some order ends before all have run
  bool finishes_early = false;  // in some order an instruction runs after the first FINISH
  bool leaves_tokens = false;

 private:
  using State = std::array<std::size_t, 3>;

  // Tokens given to or taken from load-to-compute, compute-to-load, compute-to-store, store-to-compute.
  static std::array<int, 4> taken(const Instruction& i) {
    if (module_of(i) == Module::Load) return {0, i.pop_next, 0, 0};
    if (module_of(i) == Module::Store) return {0, 0, i.pop_prev, 0};
    return {i.pop_prev, 0, 0, i.pop_next};
  }
  static std::array<int, 4> given(const Instruction& i) {
    if (module_of(i) == Module::Load) return {i.push_next, 0, 0, 0};
    if (module_of(i) == Module::Store) return {0, 0, 0, i.push_prev};
    return {0, i.push_prev, i.push_next, 0};
  }

  std::array<int, 4> tokens(const State& state) const {
    std::array<int, 4> left{};
    for (std::size_t module = 0; module < 3; ++module) {
      for (std::size_t i = 0; i < state[module]; ++i) {
        for (std::size_t q = 0; q < 4; ++q) left[q] += given(queues_[module][i])[q] - taken(queues_[module][i])[q];
      }
    }
    return left;
  }

  void walk(const State& state) {
    if (!seen_.insert(state).second) return;
    const std::array<int, 4> left = tokens(state);
    bool has_finished = false;
    for (std::size_t i = 0; i < state[1]; ++i) has_finished = has_finished || queues_[1][i].opcode == Opcode::Finish;
    bool moved = false;
    bool is_end = true;
    for (std::size_t module = 0; module < 3; ++module) {
      if (state[module] == queues_[module].size()) continue;
      is_end = false;
      const std::array<int, 4> need = taken(queues_[module][state[module]]);
      if (!std::ranges::equal(need, left, [](int n, int l) { return n <= l; })) continue;
      finishes_early = finishes_early || has_finished;
      moved = true;
      State next = state;
      ++next[module];
      walk(next);
    }
    if (!moved && !is_end) deadlocks = true;
    if (is_end) leaves_tokens = std::ranges::any_of(left, [](int count) { return count > 0; });
  }

  std::array<std::vector<Instruction>, 3> queues_;
  std::set<State> seen_;
};

Instruction random_noop(Rng& rng) {
  Instruction instruction;
  const std::int64_t module = rng.below(3);
  instruction.opcode = module == 2 ? Opcode::Store : Opcode::Load;
  instruction.buffer = module == 0 ? Buffer::Inp : Buffer::Uop;
  instruction.pop_prev = module > 0 && rng.below(4) == 0;
  instruction.pop_next = module < 2 && rng.below(4) == 0;
  instruction.push_prev = module > 0 && rng.below(3) == 0;
  instruction.push_next = module < 2 && rng.below(3) == 0;
  return instruction;
}

// Streams that could run, mostly: at each place tokens are popped only if program order has given them.
std::vector<Instruction> random_tokens(Rng& rng) {
  std::vector<Instruction> stream;
  std::array<int, 4> left{};
  const auto limit = [&](bool& pop, std::size_t queue) {
    if (left[queue] == 0 && rng.below(20) > 0) pop = false;
    if (pop) --left[queue];
  };
  const std::int64_t count = rng.between(1, 9);
  for (std::int64_t i = 0; i <= count; ++i) {
    Instruction instruction = i < count ? random_noop(rng) : Instruction{.opcode = Opcode::Finish};
    if (i == count && rng.below(2) == 0) instruction.pop_prev = instruction.pop_next = true;
    const Module module = module_of(instruction);
    if (module == Module::Compute) {
      limit(instruction.pop_prev, 0);
      limit(instruction.pop_next, 3);
      left[1] += instruction.push_prev;
      left[2] += instruction.push_next;
    } else if (module == Module::Load) {
      limit(instruction.pop_next, 1);
      left[0] += instruction.push_next;
    } else {
      limit(instruction.pop_prev, 2);
      left[3] += instruction.push_prev;
    }
    stream.push_back(instruction);
  }
  return stream;
}

TEST(FollowTokens, VerdictIsThatOfWalkingThroughEveryOrder) {
  Rng rng(3, "streams");
  std::map<std::string, int> verdicts;
  for (int i = 0; i < 20000; ++i) {
    const std::vector<Instruction> stream = random_tokens(rng);
    const EveryOrder truth(stream);
    std::string expected = "ok";
    if (truth.finishes_early) expected = "finish_not_last";
    if (truth.leaves_tokens) expected = "leftover_token";
    if (truth.deadlocks) expected = "deadlock";
    ++verdicts[expected];
    for (const auto order :
         {ModuleOrder::Oldest, ModuleOrder::LoadFirst, ModuleOrder::ComputeFirst, ModuleOrder::StoreFirst}) {
      const TokenTrace trace = follow_tokens(stream, order);
      ASSERT_EQ(trace.fault ? std::string(name_of(trace.fault->kind)) : "ok", expected) << "stream " << i;
      ASSERT_EQ(trace.order.size() == stream.size(), expected != "deadlock");
    }
  }
  for (const char* verdict : {"ok", "deadlock", "leftover_token", "finish_not_last"})
    EXPECT_GT(verdicts[verdict], 300) << verdict;
}

TEST(FollowTokens, StreamsWithoutOrBeyondFinishAreRefused) {
  const Instruction finish{.opcode = Opcode::Finish};
  const Instruction noop;
  const auto verdict = [](std::vector<Instruction> stream) {
    const TokenTrace trace = follow_tokens(stream);
    return trace.fault ? std::string(name_of(trace.fault->kind)) : "ok";
  };
  EXPECT_EQ(verdict({finish}), "ok");
  EXPECT_EQ(verdict({noop, finish}), "ok");
  EXPECT_EQ(verdict({}), "finish_not_last");
  EXPECT_EQ(verdict({noop}), "finish_not_last");
  EXPECT_EQ(verdict({finish, noop}), "finish_not_last");
  EXPECT_EQ(verdict({finish, finish}), "finish_not_last");
}

TEST(FollowTokens, DeadlockNamesTheOldestThatWaits) {
  std::vector<Instruction> stream(3);
  stream[0] = {.opcode = Opcode::Store, .pop_prev = true, .buffer = Buffer::Out};
  stream[1] = {.opcode = Opcode::Load, .pop_next = true, .buffer = Buffer::Inp};
  stream[2] = {.opcode = Opcode::Finish, .pop_prev = true};
  const TokenTrace trace = follow_tokens(stream);
  ASSERT_TRUE(trace.fault);
  EXPECT_EQ(trace.fault->instruction, 0);
  EXPECT_EQ(to_text(*trace.fault),
            "deadlock: instruction 0: store waits for ever for a token from compute to store, expected one more instruction "
            "that gives it");
}

TEST(CheckInstruction, TransfersMayReachTheEndsAndNoFurther) {
  const DramRange dram{.begin = 0x1000, .end = 0x3000};
  const auto verdict = [&](const Instruction& instruction) {
    const auto fault = check_instruction(instruction, Machine{}, dram);
    return fault ? std::string(name_of(fault->kind)) : "ok";
  };
  // 2 rows of 4 inputs, with pads 4 rows of 6, from element 2024 of 2048; the last byte is that before 0x3000.
  const Instruction load{.buffer = Buffer::Inp,
                         .y_pad_0 = 1,
                         .y_pad_1 = 1,
                         .x_pad_0 = 1,
                         .x_pad_1 = 1,
                         .sram_base = 2024,
                         .y_size = 2,
                         .x_size = 4,
                         .x_stride = 0x1fc,
                         .dram_base = 0x100};
  EXPECT_EQ(verdict(load), "ok");
  const auto changed = [&](auto change) {
    Instruction other = load;
    change(other);
    return verdict(other);
  };
  EXPECT_EQ(changed([](Instruction& i) { i.sram_base = 2025; }), "sram_range");
  EXPECT_EQ(changed([](Instruction& i) { i.x_stride = 0x1fd; }), "dram_range");
  EXPECT_EQ(changed([](Instruction& i) { i.dram_base = 0xff; }), "dram_range");
  EXPECT_EQ(changed([](Instruction& i) { i.dram_base = 0xffffffff; }), "dram_range");
  EXPECT_EQ(changed([](Instruction& i) { i.y_size = 0, i.dram_base = 0; }), "ok");  // pads only
  EXPECT_EQ(changed([](Instruction& i) { i.x_size = 0, i.sram_base = 65535; }), "ok");
  EXPECT_EQ(changed([](Instruction& i) { i.pop_prev = true; }), "bad_flag");
  EXPECT_EQ(changed([](Instruction& i) { i.push_prev = true; }), "bad_flag");
  EXPECT_EQ(changed([](Instruction& i) { i.buffer = Buffer::Out; }), "bad_memory_type");
  EXPECT_EQ(changed([](Instruction& i) { i.opcode = Opcode::Store, i.buffer = Buffer::Out; }), "store_pad");
  EXPECT_EQ(changed([](Instruction& i) { i.opcode = Opcode::Store; }), "bad_memory_type");
  EXPECT_EQ(changed([](Instruction& i) { i.opcode = Opcode::Store, i.x_size = 0; }), "ok");
  const Instruction acc8{.buffer = Buffer::Acc8, .y_size = 1, .x_size = 1, .dram_base = 0x100};
  EXPECT_EQ(verdict(acc8), "ok");
  EXPECT_EQ(check_instruction(acc8, Machine{.log_inp_width = 2}, dram).value().kind, FaultKind::BadMemoryType);
  Instruction gemm{.opcode = Opcode::Gemm, .uop_begin = 8191, .uop_end = 8192, .iter_out = 1, .iter_in = 1};
  EXPECT_EQ(verdict(gemm), "ok");
  gemm.uop_end = 8193;
  EXPECT_EQ(verdict(gemm), "uop_range");
  gemm.iter_in = 0;
  EXPECT_EQ(verdict(gemm), "ok");
}

}  // namespace
}  // namespace tilewright::vta
