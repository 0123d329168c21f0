// The sequential core stepped cycle by cycle, register by register: an independent and slow way to what the timing simulator
// finds by events. Machines with the default widths, 64-bit bus, bursts of 256 beats.
#pragma once

#include <cstdint>
#include <span>

#include "tilewright/vta/instruction.hpp"

namespace tilewright::vta {

struct Stepped {
  bool finished = false;  // within the given cycles
  std::int64_t cycles = 0;
  std::int64_t read_bursts = 0, read_beats = 0, read_busy = 0, write_bursts = 0, write_beats = 0;
};
Stepped step_stream(std::span<const Instruction> stream, std::int64_t read_latency, std::int64_t write_latency,
                    std::int64_t most_cycles);

}  // namespace tilewright::vta
