#include "tilewright/vta/timing.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "instructions.hpp"
#include "random_stream.hpp"
#include "tilewright/vta/stream_check.hpp"
#include "timing_stepper.hpp"

namespace tilewright::vta {
namespace {

constexpr auto kLoad = static_cast<std::size_t>(Module::Load);
constexpr auto kCompute = static_cast<std::size_t>(Module::Compute);
constexpr auto kStore = static_cast<std::size_t>(Module::Store);

using Stream = std::vector<Instruction>;

std::vector<Stream> streams_of(const Bytes& bytes, const Machine& machine) {
  const Program program = program_from_bytes(bytes, "golden").value();
  std::vector<Stream> streams;
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::Stream) continue;
    EXPECT_FALSE(decode_stream(section.bytes, Encoding(machine), streams.emplace_back()));
  }
  return streams;
}

TimingOptions with(Core core, std::int64_t read_latency, std::int64_t write_latency) {
  return {.core = core, .read_latency = read_latency, .write_latency = write_latency};
}
std::int64_t cycles_of(const Stream& stream, const TimingOptions& options) {
  const Timing timing = time_stream(stream, {}, options);
  EXPECT_FALSE(timing.fault) << timing.fault->sentence;
  return timing.cycles;
}

TEST(Timing, FactsOneCanCountByHand) {
  const TimingOptions options = with(Core::Sequential, 16, 16);
  // Fetch asks in cycle 2; 16 of latency, 2 beats and 2 more; the instruction is seen one cycle after it is handed out.
  EXPECT_EQ(cycles_of({finish()}, options), 23);
  // Every instruction before takes two beats more to fetch, and then its own time (the first is handed out one earlier).
  EXPECT_EQ(cycles_of({gemm(10), finish()}, options), 23 + 2 + 44);
  EXPECT_EQ(cycles_of({gemm(10, true), finish()}, options), 23 + 2 + 41);
  EXPECT_EQ(cycles_of({alu(10, true), finish()}, options), 23 + 2 + 51);
  EXPECT_EQ(cycles_of({alu(10, false), finish()}, options), 23 + 2 + 61);
  EXPECT_EQ(cycles_of({noop(Buffer::Uop), finish()}, options), 23 + 2 + 2);
  // 12 accumulators of 64 bytes: 96 beats in one burst.
  Instruction rows = load(Buffer::Acc, 12);
  EXPECT_EQ(cycles_of({rows, finish()}, options), 23 + 2 + 1 + (16 + 96 + 2));
  rows.dram_base = 31;  // the first of them ends at byte 2048
  EXPECT_EQ(cycles_of({rows, finish()}, options), 23 + 2 + 1 + (16 + 8 + 2) + (16 + 88 + 2));
  // 3 x 5 with zeros around: 8 cycles for each of 20 zeros.
  rows = load(Buffer::Acc, 3, 2, 100);
  rows.x_pad_0 = rows.x_pad_1 = rows.y_pad_0 = rows.y_pad_1 = 1;
  EXPECT_EQ(cycles_of({rows, finish()}, options), 23 + 2 + 1 + 2 * (16 + 24 + 2) + 8 * (5 + 5 + 4));
  // 513 micro-ops are 257 beats: the RTL reads 256 and forgets one.
  EXPECT_EQ(cycles_of({load(Buffer::Uop, 512), finish()}, options), cycles_of({load(Buffer::Uop, 513), finish()}, options));
  EXPECT_EQ(cycles_of({load(Buffer::Uop, 515), finish()}, options), 23 + 2 + 1 + (16 + 256 + 2) + (16 + 2 + 2));

  Instruction last = store(20);
  last.push_prev = true;
  Instruction end = finish();
  end.pop_next = true;
  EXPECT_EQ(cycles_of({last, end}, options), 23 + 2 + 1 + 3 * 20 + 2 + 16);
}

TEST(Timing, EqualsTheRtlOnEveryGoldenRun) {
  int runs = 0;
  for (const GoldenCase& golden : golden_cases()) {
    if (!golden.are_cycles_comparable) continue;
    const std::vector<Stream> streams = streams_of(golden.program, golden.machine);
    for (const GoldenRun& run : golden.runs) {
      ++runs;
      TimingSimulator simulator(golden.machine, with(Core::Sequential, run.read_latency, run.write_latency));
      ASSERT_EQ(streams.size(), run.stream_cycles.size());
      for (std::size_t s = 0; s < streams.size(); ++s) {
        const Timing timing = simulator.run(streams[s]);
        ASSERT_FALSE(timing.fault) << golden.name << ": " << timing.fault->sentence;
        EXPECT_EQ(timing.cycles, run.stream_cycles[s]) << golden.name << " stream " << s << " latency " << run.read_latency;
        const std::array<std::int64_t, 5> counts = {timing.read_bursts, timing.read_beats, timing.read_busy,
                                                    timing.write_bursts, timing.write_beats};
        EXPECT_EQ(counts, run.stream_counts[s]) << golden.name << " stream " << s << " latency " << run.read_latency;
        if (timing.cycles > 20000) continue;
        const Stepped stepped = step_stream(streams[s], run.read_latency, run.write_latency, timing.cycles + 100);
        EXPECT_EQ(stepped.cycles, run.stream_cycles[s]) << golden.name << " stepped";
      }
    }
  }
  EXPECT_EQ(runs, 132);
}

// Two programs for the same machine that have nothing in common but the words of the specification.
TEST(Timing, EventsAndCyclesAgreeOnRandomStreams) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    Rng rng = Rng(1, "timing").fork("stream", i);
    const Stream stream = random_stream(rng, i % 8 == 0 ? rng.between(500, 1200) : rng.between(1, 150));
    const std::int64_t read_latency = i % 5 == 0 ? rng.below(4) : rng.below(100), write_latency = rng.below(90);
    const Timing timing = time_stream(stream, {}, with(Core::Sequential, read_latency, write_latency));
    ASSERT_FALSE(timing.fault) << i << ": " << timing.fault->sentence;
    const Stepped stepped = step_stream(stream, read_latency, write_latency, timing.cycles + 1000);
    ASSERT_TRUE(stepped.finished) << i;
    EXPECT_EQ(timing.cycles, stepped.cycles) << i;
    EXPECT_EQ(timing.read_bursts, stepped.read_bursts) << i;
    EXPECT_EQ(timing.read_beats, stepped.read_beats) << i;
    EXPECT_EQ(timing.read_busy, stepped.read_busy) << i;
    EXPECT_EQ(timing.write_bursts, stepped.write_bursts) << i;
    EXPECT_EQ(timing.write_beats, stepped.write_beats) << i;
  }
}

TEST(Timing, EventsAndCyclesAgreeOnWhatNeverEnds) {
  int ended = 0, stuck = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    Rng rng = Rng(4, "timing").fork("stream", i);
    const Stream stream = careless_stream(rng, rng.between(1, 120));
    const Timing timing = time_stream(stream, {}, with(Core::Sequential, 3, 3));
    const Stepped stepped = step_stream(stream, 3, 3, timing.fault ? 60'000 : timing.cycles + 100);
    ASSERT_EQ(timing.fault.has_value(), !stepped.finished) << i << ": " << (timing.fault ? timing.fault->sentence : "");
    timing.fault ? ++stuck : ++ended;
    if (!timing.fault) {
      EXPECT_EQ(timing.cycles, stepped.cycles) << i;
    }
  }
  EXPECT_GT(ended, 50);
  EXPECT_GT(stuck, 50);
}

TEST(Timing, FullQueuesHoldFetchBack) {
  for (const std::int64_t steps : {1, 700})
    for (const int count : {511, 512, 513, 640, 1300}) {
      Stream stream = {gemm(steps)};
      stream[0].push_prev = true;
      for (int i = 0; i < count; ++i) {
        stream.push_back(i % 7 == 3 ? load(Buffer::Inp, 1 + i % 5, 2, 3) : noop(Buffer::Wgt));
        stream.back().dram_base = static_cast<std::uint32_t>(11 * i);
      }
      stream[1].pop_next = true;
      stream.back().push_next = true;
      stream.push_back(finish());
      stream.back().pop_prev = true;
      EXPECT_EQ(cycles_of(stream, with(Core::Sequential, 16, 16)), step_stream(stream, 16, 16, 1'000'000).cycles)
          << count << " loads";
    }
}

// The counters hold 255 tokens; one more is lost, and whoever waits for it waits for ever.
TEST(Timing, LostTokensAreADeadlock) {
  int lost = 0, kept = 0;
  for (const int count : {255, 300})
    for (std::int64_t steps = 250; steps < 550; steps += count == 300 ? 3 : 100) {
      Stream stream = {gemm(steps)};
      for (int i = 0; i < count; ++i) {
        stream.push_back(noop(Buffer::Inp));
        stream.back().push_next = true;
        stream.push_back(noop(Buffer::Uop));
        stream.back().pop_prev = true;
      }
      stream.push_back(finish());
      const Timing timing = time_stream(stream, {}, with(Core::Sequential, 5, 5));
      const Stepped stepped = step_stream(stream, 5, 5, 10'000);
      ASSERT_EQ(timing.fault.has_value(), !stepped.finished) << count << " tokens, " << steps << " steps";
      timing.fault ? ++lost : ++kept;
      if (timing.fault) {
        EXPECT_EQ(timing.fault->kind, FaultKind::Deadlock);
        EXPECT_GE(timing.fault->instruction, 256);
        EXPECT_NE(timing.fault->sentence.find("load-to-compute"), std::string::npos) << timing.fault->sentence;
      } else {
        EXPECT_EQ(timing.cycles, stepped.cycles);
      }
    }
  EXPECT_GT(lost, 10);
  EXPECT_GT(kept, 10);
}

void expect_conserved(const std::string& name, const Stream& stream, const Machine& machine, const TimingOptions& options) {
  std::vector<Span> spans;
  const Timing timing = time_stream(stream, machine, options, &spans);
  ASSERT_FALSE(timing.fault) << name << ": " << timing.fault->sentence;
  std::array<ModuleCycles, 3> seen;
  std::array<std::int64_t, 3> ends{};
  for (const Span& span : spans) {
    const auto m = static_cast<std::size_t>(span.module);
    EXPECT_GE(span.begin, ends[m]) << name << ": two instructions of one module at once";
    EXPECT_GT(span.end, span.begin);
    EXPECT_LE(span.end, timing.cycles);
    EXPECT_EQ(span.module, module_of(stream[static_cast<std::size_t>(span.instruction)]));
    ends[m] = span.end;
    seen[m].busy += span.end - span.begin;
    ++seen[m].instructions;
  }
  ++seen[kCompute].instructions;  // FINISH
  for (std::size_t m = 0; m < 3; ++m) {
    const ModuleCycles& module = timing.modules[m];
    EXPECT_EQ(module.busy, seen[m].busy) << name;
    EXPECT_EQ(module.instructions, seen[m].instructions) << name;
    EXPECT_LE(module.busy + module.token_stall, timing.cycles) << name;
    EXPECT_LE(module.bus_stall, module.busy) << name;
    EXPECT_GE(module.bus_stall, 0) << name;
    EXPECT_GE(module.token_stall, 0) << name;
  }
  EXPECT_EQ(spans.size() + 1, stream.size());
  EXPECT_EQ(timing.modules[kStore].bus_stall, 0);
  const std::int64_t read = std::accumulate(timing.bytes.begin(), timing.bytes.end(), timing.fetch_bytes) -
                            timing.bytes[static_cast<std::size_t>(Buffer::Out)];
  EXPECT_EQ(read, timing.read_beats * options.bus_bytes) << name;
  EXPECT_EQ(timing.bytes[static_cast<std::size_t>(Buffer::Out)], timing.write_beats * options.bus_bytes) << name;
  EXPECT_GE(timing.fetch_bytes, 16 * static_cast<std::int64_t>(stream.size()));
  EXPECT_LE(timing.read_beats, timing.read_busy) << name;
  EXPECT_LE(timing.read_busy, timing.cycles) << name;
  EXPECT_LE(timing.write_busy, timing.modules[kStore].busy) << name;
  EXPECT_LE(timing.gemm_cycles + timing.alu_cycles, timing.modules[kCompute].busy) << name;
}

TEST(Timing, NothingIsCountedTwiceOrLost) {
  const TimingOptions wide{.bus_bytes = 32, .burst_bytes = 256};
  for (const Core core : {Core::Sequential, Core::Pipelined}) {
    for (const GoldenCase& golden : golden_cases()) {
      TimingOptions options = with(core, 16, 16);
      Profile sum;
      for (const Stream& stream : streams_of(golden.program, golden.machine)) {
        expect_conserved(golden.name, stream, golden.machine, options);
        const Timing timing = time_stream(stream, golden.machine, options);
        sum.gemm_steps += timing.gemm_steps;
        sum.alu_steps += timing.alu_steps;
        sum.inp_bytes += timing.bytes[static_cast<std::size_t>(Buffer::Inp)];
        sum.wgt_bytes += timing.bytes[static_cast<std::size_t>(Buffer::Wgt)];
        sum.out_bytes += timing.bytes[static_cast<std::size_t>(Buffer::Out)];
        options.bus_bytes = wide.bus_bytes;
        options.burst_bytes = wide.burst_bytes;
        expect_conserved(golden.name + " wide", stream, golden.machine, options);
        options = with(core, 16, 16);
      }
      EXPECT_EQ(sum.gemm_steps, golden.profile.gemm_steps) << golden.name;
      EXPECT_EQ(sum.alu_steps, golden.profile.alu_steps) << golden.name;
      EXPECT_EQ(sum.inp_bytes, golden.profile.inp_bytes) << golden.name;
      EXPECT_EQ(sum.wgt_bytes, golden.profile.wgt_bytes) << golden.name;
      EXPECT_EQ(sum.out_bytes, golden.profile.out_bytes) << golden.name;
    }
    for (std::uint64_t i = 0; i < 40; ++i) {
      Rng rng = Rng(2, "timing").fork("stream", i);
      const Stream stream = random_stream(rng, rng.between(1, 400));
      expect_conserved("random", stream, {}, with(core, rng.below(60), rng.below(60)));
    }
  }
}

TEST(Timing, SlowerMemoryAndOlderCoreAreNeverFaster) {
  for (const GoldenCase& golden : golden_cases()) {
    for (const Stream& stream : streams_of(golden.program, golden.machine)) {
      std::array<std::int64_t, 2> before{};
      for (const std::int64_t latency : {0, 1, 16, 40, 100}) {
        for (const Core core : {Core::Sequential, Core::Pipelined}) {
          const std::int64_t cycles = time_stream(stream, golden.machine, with(core, latency, latency)).cycles;
          EXPECT_GE(cycles, before[static_cast<std::size_t>(core)]) << golden.name << " latency " << latency;
          before[static_cast<std::size_t>(core)] = cycles;
        }
        if (before[0] > 2000) {
          EXPECT_LT(before[1], before[0]) << golden.name;
        }
      }
    }
  }
}

TEST(Timing, FaultsNameTheInstruction) {
  for (const GoldenNegative& negative : golden_negatives()) {
    if (negative.verdict != "deadlock" && negative.verdict != "ok") continue;
    const Stream stream = streams_of(negative.program, {}).at(0);
    for (const Core core : {Core::Sequential, Core::Pipelined}) {
      const Timing timing = time_stream(stream, {}, with(core, 16, 16));
      ASSERT_EQ(timing.fault.has_value(), negative.verdict == "deadlock") << negative.name;
      if (!timing.fault) continue;
      EXPECT_EQ(timing.fault->kind, FaultKind::Deadlock);
      EXPECT_EQ(timing.fault->instruction, negative.instruction);
      EXPECT_EQ(timing.fault->tokens, negative.tokens.value());
      EXPECT_EQ(timing.fault->sentence, "compute waits at instruction 4 for a load-to-compute token that nobody gives");
    }
  }
  EXPECT_EQ(time_stream(Stream{}, {}, {}).fault->sentence,
            "the stream of 0 instructions has no FINISH, expected one at its end");
  EXPECT_EQ(time_stream(Stream{gemm(1)}, {}, {}).fault->kind, FaultKind::FinishNotLast);
  Stream stuck(514, noop(Buffer::Inp));
  stuck[0].pop_next = true;
  stuck.push_back(gemm(1));
  stuck.back().push_prev = true;
  stuck.push_back(finish());
  EXPECT_EQ(time_stream(stuck, {}, {}).fault->sentence,
            "load waits at instruction 0 for a compute-to-load token that nobody gives, and instruction 512 finds its queue "
            "of 512 full");

  EXPECT_TRUE(check(TimingOptions{}, "--bus"));
  EXPECT_EQ(check(TimingOptions{.bus_bytes = 24}, "memory").error().message,
            "memory: the bus is 24 bytes, expected a power of two from 4 to 128, for example 16");
  EXPECT_EQ(check(TimingOptions{.read_latency = -1}, "memory").error().message,
            "memory: the read latency is -1 cycles, expected 0 to 1000000");
  EXPECT_FALSE(check(TimingOptions{.burst_bytes = 4}, "memory"));
}

TEST(Timing, ASimulatorRemembersNothing) {
  TimingSimulator simulator({}, {});
  std::vector<Span> spans;
  for (const std::uint64_t i : {3u, 1u, 2u, 3u, 1u}) {
    Rng rng = Rng(3, "timing").fork("stream", i);
    const Stream stream = random_stream(rng, static_cast<std::int64_t>(300 * i));
    const Timing again = simulator.run(stream, &spans), once = time_stream(stream, {}, {});
    EXPECT_EQ(again.cycles, once.cycles);
    EXPECT_EQ(again.bytes, once.bytes);
    EXPECT_EQ(again.modules[kLoad].bus_stall, once.modules[kLoad].bus_stall);
    EXPECT_EQ(spans.size() + 1, stream.size());
    simulator.run(Stream{noop(Buffer::Inp)});  // a fault in between
  }
}

}  // namespace
}  // namespace tilewright::vta
