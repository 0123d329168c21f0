// The pipelined core: against recorded cycles of an RTL of it, against cycles counted by hand, against a second simulator.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "instructions.hpp"
#include "random_stream.hpp"
#include "tilewright/vta/timing.hpp"
#include "timing_stepper.hpp"

namespace tilewright::vta {
namespace {

using Stream = std::vector<Instruction>;
using Counts = std::array<std::int64_t, 4>;

constexpr Machine kDefaultMachine;

Counts counts_of(const Timing& timing) {
  return {timing.read_bursts, timing.read_beats, timing.write_bursts, timing.write_beats};
}
Counts counts_of(const Stepped& stepped) {
  return {stepped.read_bursts, stepped.read_beats, stepped.write_bursts, stepped.write_beats};
}

void expect_equal(const Stream& stream, const Machine& machine, const TimingOptions& options, const std::string& name) {
  const Timing timing = time_stream(stream, machine, options);
  ASSERT_FALSE(timing.fault) << name << ": " << timing.fault->sentence;
  const Stepped stepped = step_pipelined(stream, machine, options, timing.cycles + 1000);
  ASSERT_TRUE(stepped.finished) << name;
  EXPECT_EQ(timing.cycles, stepped.cycles) << name;
  EXPECT_EQ(counts_of(timing), counts_of(stepped)) << name;
}

TEST(PipelinedTiming, EqualsTheRtlOnEveryGoldenRun) {
  int runs = 0;
  std::set<std::string> families;
  for (const GoldenPipelined& golden : golden_pipelined()) {
    families.insert(golden.family);
    for (const GoldenPipelined::Run& run : golden.runs) {
      ++runs;
      const TimingOptions options{.read_latency = run.read_latency, .write_latency = run.write_latency};
      const Timing timing = time_stream(golden.stream, golden_pipelined_machine(), options);
      ASSERT_FALSE(timing.fault) << golden.name << ": " << timing.fault->sentence;
      EXPECT_EQ(timing.cycles, run.cycles) << golden.name << " latency " << run.read_latency;
      EXPECT_EQ(counts_of(timing), run.counts) << golden.name << " latency " << run.read_latency;
    }
  }
  EXPECT_EQ(runs, 1215);
  EXPECT_EQ(families.size(), 33U);
}

TEST(PipelinedTiming, TheStepperEqualsTheRtlToo) {
  int runs = 0;
  for (const GoldenPipelined& golden : golden_pipelined()) {
    const GoldenPipelined::Run& run = golden.runs[golden.name.size() % golden.runs.size()];
    if (run.cycles > 50'000) continue;
    ++runs;
    const TimingOptions options{.read_latency = run.read_latency, .write_latency = run.write_latency};
    const Stepped stepped = step_pipelined(golden.stream, golden_pipelined_machine(), options, run.cycles + 100);
    EXPECT_EQ(stepped.cycles, run.cycles) << golden.name << " latency " << run.read_latency;
    EXPECT_EQ(counts_of(stepped), run.counts) << golden.name << " latency " << run.read_latency;
  }
  EXPECT_GT(runs, 350);
}

struct Example {
  const char* name;
  Stream stream;
  std::int64_t near, far;  // cycles with latencies of 16 and 0, and of 64 and 30
};

Stream repeated(std::size_t count, const Instruction& instruction, const Stream& rest) {
  Stream stream(count, instruction);
  stream.insert(stream.end(), rest.begin(), rest.end());
  return stream;
}
Instruction padded(Instruction load, int y_before, int y_after, int sides) {
  load.y_pad_0 = static_cast<std::uint8_t>(y_before);
  load.y_pad_1 = static_cast<std::uint8_t>(y_after);
  load.x_pad_0 = load.x_pad_1 = static_cast<std::uint8_t>(sides);
  return load;
}
Instruction at(Instruction transfer, std::uint32_t dram_base) { return transfer.dram_base = dram_base, transfer; }
Instruction rows(Instruction store, std::uint16_t y_size, std::uint16_t x_stride) {
  store.y_size = y_size;
  store.x_stride = x_stride;
  return store;
}

// Elements of 64 bytes, weights of 1024.
std::vector<Example> examples() {
  const Instruction end = finish(), pop = pop_prev(noop(Buffer::Uop)), nothing = noop(Buffer::Uop);
  const auto waited = [&](const Instruction& one) { return Stream{push_next(one), pop_prev(end)}; };
  const auto stored = [&](const Instruction& one) { return Stream{push_prev(one), pop_next(nothing), end}; };
  // An input and, some cycles later, accumulators, which find its data still to come, under way or just over.
  const auto late = [&](std::size_t noops) {
    Stream stream = repeated(noops, nothing, {load(Buffer::Acc, 1), pop, end});
    stream.insert(stream.begin(), push_next(load(Buffer::Inp, 1)));
    return stream;
  };
  const Instruction inp20 = load(Buffer::Inp, 20);
  return {{"FINISH", {end}, 25, 73},
          {"no-ops", repeated(127, nothing, {end}), 533, 581},
          {"two groups", repeated(128, nothing, {end}), 535, 583},
          {"an input", waited(load(Buffer::Inp, 1)), 58, 154},
          {"a weight", waited(load(Buffer::Wgt, 1)), 178, 274},
          {"a micro-op", {load(Buffer::Uop, 1), end}, 50, 146},
          {"two bursts", waited(load(Buffer::Inp, 33)), 314, 410},
          {"three rows", waited(load(Buffer::Inp, 1, 3, 40)), 74, 170},
          {"many rows", waited(load(Buffer::Inp, 1, 200, 1)), 1650, 1746},
          {"zeros before", waited(padded(load(Buffer::Inp, 1), 15, 0, 0)), 73, 169},
          {"zeros around", waited(padded(load(Buffer::Inp, 4, 4, 4), 4, 4, 4)), 286, 334},
          {"zeros after", waited(padded(load(Buffer::Inp, 4, 30, 4), 0, 1, 0)), 1014, 1106},
          {"two readers", {push_next(inp20), load(Buffer::Acc, 20), load(Buffer::Acc, 4), pop, end}, 433, 577},
          {"no latency", late(8), 88, -1},
          {"just too late", late(9), 101, -1},
          {"not in a last beat", late(12), 114, -1},
          {"sixteen commands", waited(load(Buffer::Inp, 1, 20, 33)), -1, 306},
          {"one module", {push_next(load(Buffer::Inp, 2)), push_next(load(Buffer::Wgt, 1)), pop, pop, end}, 225, 369},
          {"a result", stored(store(1)), 44, 122},
          {"two results", stored(store(2)), 53, 131},
          {"across a page", stored(at(store(2), 31)), 56, 164},
          {"three rows of results", stored(rows(store(2), 3, 40)), 95, 233},
          {"a GEMM step", {load(Buffer::Uop, 2), gemm(1), end}, 60, 156},
          {"GEMM twice", {load(Buffer::Uop, 2), gemm(30), gemm(30, true), end}, 128, 224},
          {"ALU twice", {load(Buffer::Uop, 2), alu(30, true), alu(30, false), end}, 158, 254}};
}

TEST(PipelinedTiming, CyclesOneCanCountByHand) {
  const Machine wide{.log_inp_width = 5, .log_wgt_width = 5, .log_inp_buffer = 17, .log_wgt_buffer = 20};
  const TimingOptions near{.read_latency = 16, .write_latency = 0}, far{.read_latency = 64, .write_latency = 30};
  for (const Example& example : examples()) {
    if (example.near >= 0) {
      EXPECT_EQ(time_stream(example.stream, wide, near).cycles, example.near) << example.name;
    }
    if (example.far >= 0) {
      EXPECT_EQ(time_stream(example.stream, wide, far).cycles, example.far) << example.name;
    }
    for (const TimingOptions& options : {near, far}) expect_equal(example.stream, wide, options, example.name);
  }
}

// Two programs that have nothing in common but the words of the specification; machines whose elements are longer and
// shorter than a beat, both memories, short and long latencies.
TEST(PipelinedTiming, EventsAndCyclesAgreeOnRandomStreams) {
  const Machine machines[] = {kDefaultMachine,
                              {.log_inp_width = 5, .log_wgt_width = 5, .log_inp_buffer = 17, .log_wgt_buffer = 20},
                              {.log_batch = 2, .log_block_in = 3, .log_block_out = 3},
                              {.log_block_in = 5, .log_block_out = 6},
                              {.log_block_in = 3, .log_block_out = 3, .log_acc_buffer = 16}};
  const TimingOptions buses[] = {{}, {.bus_bytes = 32}, {.bus_bytes = 128}, {.bus_bytes = 4, .burst_bytes = 64}};
  for (std::uint64_t i = 0; i < 400; ++i) {
    Rng rng = Rng(5, "timing").fork("stream", i);
    const std::int64_t count = i % 16 == 0 ? rng.between(300, 900) : rng.between(1, 80);
    const Stream stream = i % 3 == 0 ? random_stream(rng, count) : hostile_stream(rng, count);
    TimingOptions options = i % 2 == 0 ? TimingOptions{} : buses[rng.below(4)];
    options.read_latency = rng.below(i % 5 == 0 ? 4 : 200);
    options.write_latency = rng.below(100);
    options.memory = i % 4 < 2 ? Memory::Direct : Memory::Registered;
    expect_equal(stream, machines[rng.below(5)], options, "stream " + std::to_string(i));
  }
}

TEST(PipelinedTiming, EventsAndCyclesAgreeOnWhatNeverEnds) {
  int ended = 0, stuck = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    Rng rng = Rng(6, "timing").fork("stream", i);
    const Stream stream = careless_stream(rng, rng.between(1, 120));
    const TimingOptions options{.read_latency = 3, .write_latency = 3};
    const Timing timing = time_stream(stream, kDefaultMachine, options);
    const Stepped stepped = step_pipelined(stream, kDefaultMachine, options, timing.fault ? 40'000 : timing.cycles + 100);
    ASSERT_EQ(timing.fault.has_value(), !stepped.finished) << i << ": " << (timing.fault ? timing.fault->sentence : "");
    timing.fault ? ++stuck : ++ended;
    if (!timing.fault) {
      EXPECT_EQ(timing.cycles, stepped.cycles) << i;
    }
  }
  EXPECT_GT(ended, 50);
  EXPECT_GT(stuck, 50);
}

TEST(PipelinedTiming, FullQueuesHoldFetchBack) {
  for (const std::int64_t steps : {1, 2000})
    for (const int count : {511, 512, 513, 640, 1300}) {
      Stream stream = {push_prev(gemm(steps))};
      for (int i = 0; i < count; ++i)
        stream.push_back(
            at(i % 7 == 3 ? load(Buffer::Inp, 1 + i % 5, 2, 3) : noop(Buffer::Wgt), static_cast<std::uint32_t>(11 * i)));
      stream[1].pop_next = true;
      stream.back().push_next = true;
      stream.push_back(pop_prev(finish()));
      expect_equal(stream, kDefaultMachine, {}, std::to_string(count) + " loads");
    }
}

// The counters hold 255 tokens; one more is lost, and whoever waits for it waits for ever.
TEST(PipelinedTiming, LostTokensAreADeadlock) {
  int lost = 0, kept = 0;
  for (std::int64_t steps = 700; steps < 1600; steps += 9) {
    Stream stream = {gemm(steps)};
    for (int i = 0; i < 300; ++i) {
      stream.push_back(push_next(noop(Buffer::Inp)));
      stream.push_back(pop_prev(noop(Buffer::Uop)));
    }
    stream.push_back(finish());
    const TimingOptions options{.read_latency = 5, .write_latency = 5};
    const Timing timing = time_stream(stream, kDefaultMachine, options);
    const Stepped stepped = step_pipelined(stream, kDefaultMachine, options, 10'000);
    ASSERT_EQ(timing.fault.has_value(), !stepped.finished) << steps << " steps";
    timing.fault ? ++lost : ++kept;
    if (!timing.fault) {
      EXPECT_EQ(timing.cycles, stepped.cycles) << steps << " steps";
    }
  }
  EXPECT_GT(lost, 10);
  EXPECT_GT(kept, 10);
}

// TVM's 128 x 128 x 128 product. The simulation that was published acknowledges writes at once; its memory has a register.
TEST(PipelinedTiming, ThePublishedProductOf128) {
  const Instruction uop = load(Buffer::Uop, 1), uops = load(Buffer::Uop, 8), alu_all = alu(1024, true);
  const Stream whole = {uop,
                        push_prev(gemm(1024, true)),
                        pop_next(load(Buffer::Inp, 1024)),
                        push_next(load(Buffer::Wgt, 64)),
                        uops,
                        pop_prev(gemm(8192)),
                        uop,
                        alu_all,
                        uop,
                        alu_all,
                        uop,
                        push_next(alu_all),
                        push_prev(pop_prev(store(1024))),
                        pop_next(noop(Buffer::Uop)),
                        finish()};
  const Stream gemms = {uop, gemm(1024, true), uops, gemm(8192), noop(Buffer::Uop), finish()};
  const Stream alus = {uop, alu_all, uop, alu_all, uop, alu_all, noop(Buffer::Uop), finish()};
  TimingOptions options{.read_latency = 16, .write_latency = 0, .memory = Memory::Registered};
  const auto cycles = [&](const Stream& stream) { return time_stream(stream, kDefaultMachine, options).cycles; };
  EXPECT_EQ(cycles(whole), 19738 - 3);  // two of them: the core that was published may have taken n + 8 cycles for a GEMM
  EXPECT_EQ(cycles(gemms), 9321 - 2);
  EXPECT_EQ(cycles(alus), 3207);
  options.memory = Memory::Direct;
  EXPECT_EQ(cycles(whole), 19713);
  EXPECT_EQ(cycles(gemms), 9316);
  EXPECT_EQ(cycles(alus), 3203);
}

TEST(PipelinedTiming, ARegisterCostsACyclePerReadAndOnePerBurst) {
  TimingOptions direct, registered{.memory = Memory::Registered};
  const Stream stream = {push_next(load(Buffer::Inp, 200, 10, 300)), pop_prev(finish())};
  const Timing without = time_stream(stream, kDefaultMachine, direct),
               with = time_stream(stream, kDefaultMachine, registered);
  EXPECT_EQ(with.cycles - without.cycles, 1 + without.read_bursts - 1);  // fetch and the first burst pay the latency
  direct.core = registered.core = Core::Sequential;
  direct.read_latency = 17;  // one read at a time: the register is a longer latency
  EXPECT_EQ(time_stream(stream, kDefaultMachine, direct).cycles, time_stream(stream, kDefaultMachine, registered).cycles);
}

// Waiting for the bus is what others cost, nothing else.
TEST(PipelinedTiming, AloneOnTheBusNobodyWaits) {
  for (const Instruction& alone :
       {load(Buffer::Uop, 1, 60, 7), padded(load(Buffer::Inp, 5, 30, 29), 3, 4, 2), load(Buffer::Acc, 500)}) {
    const Stream stream = {push_next(alone), pop_prev(finish())};
    const Timing timing = time_stream(alone.buffer == Buffer::Inp ? stream : Stream{alone, finish()}, kDefaultMachine, {});
    EXPECT_EQ(timing.modules[0].bus_stall + timing.modules[1].bus_stall, 0);
  }
  // One burst each, asked for in consecutive cycles.
  const Stream both = {push_next(load(Buffer::Inp, 100)), load(Buffer::Acc, 20), pop_prev(finish())};
  const Timing timing = time_stream(both, kDefaultMachine, {});
  EXPECT_EQ(timing.modules[0].bus_stall, 0);
  EXPECT_EQ(timing.modules[1].bus_stall, 200 - 1);  // beats of the inputs
}

}  // namespace
}  // namespace tilewright::vta
