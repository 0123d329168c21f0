// Random streams for the timing simulator.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/vta/instruction.hpp"

namespace tilewright::vta {

// `count` instructions and what it takes to wait for all of them, FINISH last; every token is given by an instruction before
// the one that takes it, so they end. Transfers are of up to some thousand bytes,
// with rows, strides and pads; dram_base is anywhere in 1 MiB.
std::vector<Instruction> random_stream(Rng& rng, std::int64_t count);

// As random_stream, made of what is hard to time on the pipelined core: small bursts of all readers close to each other,
// rows and pads of micro-ops, long rows of zeros, full queues.
std::vector<Instruction> hostile_stream(Rng& rng, std::int64_t count);

// The same without care for tokens: most of them never end.
std::vector<Instruction> careless_stream(Rng& rng, std::int64_t count);

}  // namespace tilewright::vta
