// The on-chip memories of a machine and what one instruction does to them. Numbers are kept unpacked: every load widens
// them once, so that the multiplications, which use each many times, read them as they are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/vta/dram.hpp"
#include "tilewright/vta/fault.hpp"
#include "tilewright/vta/functional.hpp"
#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"

namespace tilewright::vta {

class Chip {
 public:
  // Every byte of the memories is `fill` at first.
  Chip(const Machine& machine, const Encoding& encoding, std::uint8_t fill);

  // An instruction that passed `check_instruction` for this machine and the DRAM's range. A Fault when micro-ops reach
  // outside the buffers; then nothing was done.
  std::optional<Fault> run(const Instruction& instruction, Dram& dram, Profile& profile);

  // Calls `told` with the number of GEMM and ALU steps since the last call, every few million of them, also inside one
  // instruction. It may throw.
  void tell_steps(std::function<void(std::int64_t)> told) { told_ = std::move(told); }

 private:
  template <typename Number>
  struct Operands {
    std::vector<Number> inp, wgt;  // element after element
  };

  void load(const Instruction& instruction, const Dram& dram, Profile& profile);
  std::optional<Fault> store(const Instruction& instruction, Dram& dram, Profile& profile);
  std::optional<Fault> check_indices(const Instruction& instruction) const;
  void gemm(const Instruction& instruction);
  void reset(const Instruction& instruction);
  void alu(const Instruction& instruction);
  template <typename Step>
  void for_each_step(const Instruction& instruction, const Step& step);

  Machine machine_;
  Encoding encoding_;
  // Products of two 8-bit numbers and their sums over a block fit an int, which is what the fast multiplication relies on.
  bool is_narrow_;
  std::vector<MicroOp> uops_;
  Operands<std::int16_t> narrow_;  // when both widths are at most 8 bits
  Operands<std::int32_t> wide_;    // else
  std::vector<std::int32_t> acc_;
  std::vector<std::uint8_t> row_;  // on its way to or from DRAM
  std::function<void(std::int64_t)> told_;
  std::int64_t untold_ = 0;  // steps
};

}  // namespace tilewright::vta
