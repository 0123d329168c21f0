// Programs as text for people.
#pragma once

#include <string>

#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/program.hpp"

namespace tilewright::vta {

// One line per section and per instruction: index, module, what it does with DRAM addresses in bytes, tokens in words, and
// what the micro-ops of a GEMM or ALU touch, as far as streams load them from MicroOps or Data sections in program order.
// Instructions that do not exist are shown as their bytes.
std::string listing(const Program& program, const Machine& machine);

}  // namespace tilewright::vta
