// A second functional simulator, as plain as can be: memories are bytes, numbers are read and written bit by bit, nothing is
// checked. It runs a stream in program order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"

namespace tilewright::vta {

class NaiveChip {
 public:
  explicit NaiveChip(const Machine& machine);

  // `dram` begins at address 0.
  void run(std::span<const Instruction> stream, std::vector<std::uint8_t>& dram);

 private:
  using Memory = std::vector<std::uint8_t>;
  Memory& memory(Buffer buffer);
  void load(const Instruction& instruction, const Memory& dram);
  void store(const Instruction& instruction, Memory& dram);
  void step(const Instruction& instruction, std::int64_t dst, std::int64_t src, std::int64_t wgt);

  Machine machine_;
  std::array<Memory, 4> memories_;  // uop, wgt, inp, acc
};

}  // namespace tilewright::vta
