// Both cores stepped cycle by cycle, register by register: independent and slow ways to what the timing simulator finds by
// events.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright::vta {

struct Stepped {
  bool finished = false;  // within the given cycles
  std::int64_t cycles = 0;
  // read_busy: of the sequential core only.
  std::int64_t read_bursts = 0, read_beats = 0, read_busy = 0, write_bursts = 0, write_beats = 0;
};
// The sequential core. Machines with the default widths, 64-bit bus, bursts of 256 beats.
Stepped step_stream(std::span<const Instruction> stream, std::int64_t read_latency, std::int64_t write_latency,
                    std::int64_t most_cycles);

// The pipelined core of any machine, by the rules of docs/vta_timing.md; the memory as a queue and a counter.
Stepped step_pipelined(std::span<const Instruction> stream, const Machine& machine, const TimingOptions& options,
                       std::int64_t most_cycles);

}  // namespace tilewright::vta
