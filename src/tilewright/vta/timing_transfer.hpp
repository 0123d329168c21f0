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
  Cycle command_after, data_rest;  // from the start of a load to its first command; from its last data to its end
  Cycle dispatch_after;            // from the last data of a group of instructions to the first one handed out
  int reads_in_flight;
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
                                    .data_rest = 0,
                                    .dispatch_after = 0,
                                    .reads_in_flight = 1};
constexpr CoreConstants kPipelined{.gemm_step = 1,
                                   .gemm_rest = 8,
                                   .reset_rest = 8,
                                   .alu_step_immediate = 1,
                                   .alu_step_tensor = 2,
                                   .alu_rest = 7,
                                   .store_rest = 1,
                                   .store_per_burst = 4,
                                   .command_after = 2,
                                   .data_rest = 4,
                                   .dispatch_after = 2,
                                   .reads_in_flight = 16};

struct BurstLimits {
  int bus_shift = 3, burst_shift = 11;  // log2 of bytes
  Cycle beats_of(std::int64_t bytes) const { return (bytes + (std::int64_t{1} << bus_shift) - 1) >> bus_shift; }
};

// The machine and its memory in the units of the simulator.
struct Costs {
  CoreConstants core;
  bool sequential = false;
  Cycle read_latency = 0, write_latency = 0;
  BurstLimits limits;
  std::int64_t group = 128;              // instructions per fetch
  std::array<int, 6> element_shift{};    // log2 of bytes of one element in DRAM, by Buffer
  std::array<Cycle, 6> element_beats{};  // on chip, at least one
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

struct Burst {
  Cycle beats = 0;
  bool ends_row = false;
};

// A load at work: where its next burst begins. Rows are read one after the other, each cut at multiples of the burst limit.
struct Transfer {
  std::uint64_t row_address = 0, address = 0;
  std::int64_t stride_bytes = 0, row_bytes = 0;
  std::int64_t row_left = 0, rows_left = 0;                  // bytes of this row, rows with this one
  Cycle pad_before = 0, left = 0, right = 0, pad_after = 0;  // cycles of zeros: rows before, per row, rows after
  Cycle zero_elements = 0;
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

}  // namespace tilewright::vta::timing
