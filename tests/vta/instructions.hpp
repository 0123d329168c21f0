// Instructions of one kind each, for tests that count their cycles.
#pragma once

#include <cstdint>

#include "tilewright/vta/instruction.hpp"

namespace tilewright::vta {

inline Instruction load(Buffer buffer, std::int64_t x_size, std::int64_t y_size = 1, std::int64_t x_stride = 0) {
  Instruction instruction;
  instruction.buffer = buffer;
  instruction.x_size = static_cast<std::uint16_t>(x_size);
  instruction.y_size = static_cast<std::uint16_t>(y_size);
  instruction.x_stride = static_cast<std::uint16_t>(x_stride);
  return instruction;
}
inline Instruction noop(Buffer buffer) { return load(buffer, 0); }
inline Instruction store(std::int64_t x_size) {
  Instruction instruction = load(Buffer::Out, x_size);
  instruction.opcode = Opcode::Store;
  return instruction;
}
inline Instruction gemm(std::int64_t steps, bool reset = false) {
  Instruction instruction;
  instruction.opcode = Opcode::Gemm;
  instruction.iter_out = 1;
  instruction.iter_in = static_cast<std::uint16_t>(steps);
  instruction.uop_end = 1;
  instruction.reset = reset;
  return instruction;
}
inline Instruction alu(std::int64_t steps, bool use_imm) {
  Instruction instruction = gemm(steps);
  instruction.opcode = Opcode::Alu;
  instruction.use_imm = use_imm;
  return instruction;
}
inline Instruction finish() {
  Instruction instruction;
  instruction.opcode = Opcode::Finish;
  return instruction;
}

inline Instruction push_prev(Instruction instruction) { return instruction.push_prev = true, instruction; }
inline Instruction push_next(Instruction instruction) { return instruction.push_next = true, instruction; }
inline Instruction pop_prev(Instruction instruction) { return instruction.pop_prev = true, instruction; }
inline Instruction pop_next(Instruction instruction) { return instruction.pop_next = true, instruction; }

}  // namespace tilewright::vta
