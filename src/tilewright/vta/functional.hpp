// Executes a program on its data, instruction by instruction, exactly as the real machine would, and counts what it does.
// How long it takes is the timing simulator's business (timing.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tilewright/vta/fault.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/program.hpp"
#include "tilewright/vta/stream_check.hpp"

namespace tilewright::vta {

// Of all streams together. Bytes without pads; loads of 8-bit accumulators count the 32-bit bytes they become.
struct Profile {
  std::int64_t inp_bytes = 0, wgt_bytes = 0, acc_bytes = 0, uop_bytes = 0, out_bytes = 0;
  std::int64_t gemm_steps = 0;  // without resets
  std::int64_t alu_steps = 0;
  std::int64_t instructions = 0;
};

struct Execution {
  std::optional<Fault> fault;  // then there are no dumps
  std::vector<Section> dumps;  // one Data section per Dump section, in its order
  Profile profile;
};

struct ExecutionOptions {
  ModuleOrder order = ModuleOrder::Oldest;          // a correct program gives the same dumps for all of them
  std::uint8_t fill = 0;                            // every byte of a memory that the program has not written
  std::int64_t most_steps = std::int64_t{1} << 36;  // of GEMM and ALU together; more is a Fault
  // Told between instructions, a few times a second: steps made, and steps of the streams up to the one that runs.
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
};

// Checks the whole program before and while it runs: any sequence of bytes ends in dumps or in a Fault. Streams run one
// after the other; each starts without tokens and finds the memories as the one before it left them.
Execution execute(const Program& program, const Machine& machine, const ExecutionOptions& options = {});

}  // namespace tilewright::vta
