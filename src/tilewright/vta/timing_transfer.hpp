// How long one instruction keeps its module, and how a transfer falls into bursts. Internal to the timing simulator.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright::vta::timing {

using Cycle = std::int64_t;
constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

// What one core adds to the work itself; docs/vta_timing.md says where each number comes from.
struct CoreConstants {
  Cycle noop = 2;
  Cycle gemm_step, gemm_rest, reset_rest;
  Cycle alu_step_immediate, alu_step_tensor, alu_rest;
  Cycle store_rest, store_per_burst;
  Cycle command_after;   // from the start of a load to its first command
  Cycle dispatch_after;  // from the end of reading a group of instructions to the first one handed out
  Cycle refetch_after;   // from handing out the last one to the command of the next group
  Cycle finish_after;    // from the start of FINISH to its signal
};
constexpr CoreConstants kSequential{.gemm_step = 4,
                                    .gemm_rest = 4,
                                    .reset_rest = 1,
                                    .alu_step_immediate = 5,
                                    .alu_step_tensor = 6,
                                    .alu_rest = 1,
                                    .store_rest = 1,
                                    .store_per_burst = 2,
                                    .command_after = 1,
                                    .dispatch_after = 0,
                                    .refetch_after = 2,
                                    .finish_after = 0};
constexpr CoreConstants kPipelined{.gemm_step = 1,
                                   .gemm_rest = 7,
                                   .reset_rest = 7,
                                   .alu_step_immediate = 1,
                                   .alu_step_tensor = 2,
                                   .alu_rest = 7,
                                   .store_rest = 1,
                                   .store_per_burst = 3,
                                   .command_after = 2,
                                   .dispatch_after = 2,
                                   .refetch_after = 3,
                                   .finish_after = 1};

struct BurstLimits {
  int bus_shift = 3, burst_shift = 11;  // log2 of bytes
  Cycle beats_of(std::int64_t bytes) const { return (bytes + (std::int64_t{1} << bus_shift) - 1) >> bus_shift; }
};

struct ReadTimes {
  Cycle latency = 0;
  Cycle output_register = 0;  // cycles that data rests in it
};

// The machine and its memory in the units of the simulator.
struct Costs {
  CoreConstants core;
  bool sequential = false;
  ReadTimes reads;
  Cycle write_latency = 0;
  BurstLimits limits;
  std::int64_t group = 128;              // instructions per fetch
  std::array<int, 6> element_shift{};    // log2 of bytes of one element in DRAM, by Buffer
  std::array<Cycle, 6> element_beats{};  // on chip, at least one
  std::array<bool, 6> is_wide{};         // a beat holds whole elements, which the pipelined core moves by other units

  // From a beat on the bus to its writing on chip; also from the start of a load to its first zeros.
  Cycle write_after(Buffer buffer) const { return is_wide[static_cast<std::size_t>(buffer)] ? 1 : 2; }
};
Costs costs_of(const Machine& machine, const TimingOptions& options);

// Cycles of an instruction that does not read memory.
inline Cycle compute_cycles(const Instruction& instruction, const Costs& costs) {
  const Cycle steps = std::max<Cycle>(steps_of(instruction), 0);
  const CoreConstants& core = costs.core;
  if (instruction.opcode == Opcode::Gemm)
    return core.gemm_step * steps + (instruction.reset ? core.reset_rest : core.gemm_rest);
  return (instruction.use_imm ? core.alu_step_immediate : core.alu_step_tensor) * steps + core.alu_rest;
}

struct Written {
  Cycle cycles = 0, underway = 0;
  std::int64_t bursts = 0, beats = 0;
};
Written write_of(const Instruction& store, const Costs& costs);
// Cycles that as many elements take at least, besides what every STORE and every burst adds.
Cycle least_store_cycles(std::int64_t elements, const Costs& costs);

struct Burst {
  Cycle beats = 0;
  bool ends_row = false;
};

// A transfer at work: where its next burst begins. Rows are read one after the other, each cut at multiples of the burst
// limit.
struct Transfer {
  std::uint64_t row_address = 0, address = 0;
  std::int64_t stride_bytes = 0, row_bytes = 0;
  std::int64_t row_left = 0, rows_left = 0;                  // bytes of this row, rows with this one
  Cycle pad_before = 0, left = 0, right = 0, pad_after = 0;  // cycles without a command: rows before, per row, rows after
  Buffer buffer = Buffer::Uop;

  bool done() const { return rows_left == 0; }
  Burst next(const BurstLimits& limits) {
    const std::uint64_t burst_mask = (std::uint64_t{1} << limits.burst_shift) - 1;
    const std::uint64_t bus_mask = (std::uint64_t{1} << limits.bus_shift) - 1;
    const auto to_limit = static_cast<std::int64_t>(burst_mask + 1 - (address & burst_mask));
    const auto before = static_cast<std::int64_t>(address & bus_mask);
    if (row_left > to_limit) {
      address += static_cast<std::uint64_t>(to_limit);
      row_left -= to_limit;
      return {limits.beats_of(before + to_limit), false};
    }
    const Burst burst{limits.beats_of(before + row_left), true};
    --rows_left;
    row_address += static_cast<std::uint64_t>(stride_bytes);
    address = row_address;
    row_left = row_bytes;
    return burst;
  }
};
Transfer transfer_of(const Instruction& load, const Costs& costs);

// The pipelined core's filler writes one element of zeros per cycle into the buffer that the load fills; in a cycle in which
// the load writes a beat, it waits.
struct Zeros {
  Cycle next = 0;                          // the cycle of its next action, then the one after its last
  Cycle before = 0, steps = 0, after = 0;  // zeros, rows it steps over without writing, zeros

  void write(Cycle& zeros, Cycle until) {
    const Cycle written = std::clamp<Cycle>(until - next, 0, zeros);
    next += written;
    zeros -= written;
  }
  // Everything up to the cycles [begin, end), in which beats are written.
  void make_way(Cycle begin, Cycle end) {
    write(before, begin);
    if (before == 0) {
      next += steps;
      steps = 0;
      write(after, begin);
    }
    if (before + after > 0 && next >= begin) next = std::max(next, end);
  }
  Cycle end() const { return next + before + steps + after; }
  bool any() const { return before + after > 0; }
};
Zeros zeros_of(const Instruction& load, const Costs& costs, Cycle begin);

}  // namespace tilewright::vta::timing
