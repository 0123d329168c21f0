// Instructions and micro-ops as numbers in named fields, and how a machine packs them into bits.
//
// Positions of fields depend on the machine (packing.hpp): Encoding works them out once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/packing.hpp"

namespace tilewright::vta {

enum class Opcode : std::uint8_t { Load = 0, Store = 1, Gemm = 2, Finish = 3, Alu = 4 };
enum class AluOpcode : std::uint8_t { Min = 0, Max = 1, Add = 2, Shr = 3, Mul = 4 };

// Every field of every kind of instruction; those of other kinds are zero.
struct Instruction {
  Opcode opcode = Opcode::Load;
  bool pop_prev = false;
  bool pop_next = false;
  bool push_prev = false;
  bool push_next = false;

  // Load and Store. Sizes and strides in elements of the buffer; dram_base = byte address / element bytes.
  Buffer buffer = Buffer::Uop;
  std::uint8_t y_pad_0 = 0, y_pad_1 = 0, x_pad_0 = 0, x_pad_1 = 0;
  std::uint16_t sram_base = 0;
  std::uint16_t y_size = 0, x_size = 0, x_stride = 0;
  std::uint32_t dram_base = 0;

  // Gemm and Alu. Index of an operand = micro-op's index + outer * factor_out + inner * factor_in.
  bool reset = false;    // Gemm
  bool use_imm = false;  // Alu
  AluOpcode alu_opcode = AluOpcode::Min;
  std::int16_t imm = 0;
  std::uint16_t uop_begin = 0, uop_end = 0;
  std::uint16_t iter_out = 0, iter_in = 0;
  std::uint16_t dst_factor_out = 0, dst_factor_in = 0;
  std::uint16_t src_factor_out = 0, src_factor_in = 0;
  std::uint16_t wgt_factor_out = 0, wgt_factor_in = 0;

  bool operator==(const Instruction&) const = default;
};

struct MicroOp {
  std::uint16_t dst = 0, src = 0, wgt = 0;
  bool operator==(const MicroOp&) const = default;
};

// The queue (and so the module) an instruction goes to.
enum class Module : std::uint8_t { Load, Compute, Store };
Module module_of(const Instruction& instruction);

// A Load or Store of nothing, which only takes and gives tokens.
inline bool is_noop(const Instruction& instruction) {
  return (instruction.opcode == Opcode::Load || instruction.opcode == Opcode::Store) && instruction.x_size == 0;
}
// Times the GEMM core or the ALU steps for it; none when the range of micro-ops is empty.
inline std::int64_t steps_of(const Instruction& instruction) {
  const int uop_count = instruction.uop_end > instruction.uop_begin ? instruction.uop_end - instruction.uop_begin : 0;
  return std::int64_t{instruction.iter_out} * instruction.iter_in * uop_count;
}

using Word = std::array<std::uint8_t, 16>;  // one encoded instruction as it lies in memory

class Encoding {
 public:
  explicit Encoding(const Machine& machine);  // one that passed `check`

  // Every field must fit its width (TW_ASSERT).
  Word encode(const Instruction& instruction) const;
  std::uint32_t encode(const MicroOp& uop) const;

  // False when the opcode, memory_type or alu_opcode is none that exists; `instruction` then has what could be read.
  bool decode(const Word& word, Instruction& instruction) const;
  MicroOp decode(std::uint32_t word) const;

  // Where the fields of a format lie, in order: for documents and tests.
  const Packing& packing(Format format) const { return packings_[static_cast<std::size_t>(format)]; }

 private:
  std::array<Packing, kFormatCount> packings_;
};

// One line for people: `gemm  uops 1..9 iter 8x128 acc +0/+8 inp +1/+8 wgt +1/+0  pop load, push load`.
std::string to_text(const Instruction& instruction);

}  // namespace tilewright::vta
