// The tools a generator writes with: transfers of rectangles, loops over elements, and micro-ops that are on chip when they
// are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tilewright/vta/folding.hpp"
#include "tilewright/vta/generator.hpp"

namespace tilewright::vta {

class Emitter {
 public:
  // `code` is cleared. Its first instruction loads the first micro-ops.
  Emitter(const Machine& machine, const Addresses& addresses, Code& code);

  std::size_t size() const { return code_.instructions.size(); }
  // Whether there are as many instructions as a program may have; the code is then not whole.
  bool is_full() {
    if (size() >= kMostInstructions) code_.is_whole = false;
    return !code_.is_whole;
  }
  Instruction& at(std::size_t index) { return code_.instructions[index]; }
  Instruction& last() { return code_.instructions.back(); }

  // `dram` in elements of the buffer.
  void transfer(Opcode opcode, Buffer buffer, std::int64_t sram, std::int64_t dram, const FoldedRectangle& rectangle);

  // GEMM or tensor ALU instructions over the nest from `first` on. `key` names the micro-ops: equal key, equal micro-ops.
  void steps(Opcode opcode, AluOpcode alu_opcode, std::uint64_t key, const StepNest& nest, MicroOp first);

  // One step per element of [first, first + count) of the accumulators.
  void reset(std::int64_t first, std::int64_t count);
  void immediate(AluOpcode opcode, int imm, std::int64_t first, std::int64_t count);
  // >> shift, in steps an immediate can hold.
  void shift(int amount, std::int64_t first, std::int64_t count);

  // Waits for the last store, then FINISH. `last_store` is its index.
  void finish(std::size_t last_store);

 private:
  struct Kernel {
    std::uint64_t key = 0;
    std::uint32_t dram = 0;  // index in code_.uops
    std::uint32_t generation = 0;
    std::uint16_t count = 0, sram = 0;
  };
  struct Place {
    std::uint16_t sram = 0;
    std::uint32_t dram = 0;
    bool fresh = false;  // to be written at code_.uops[dram]
  };
  Place place(std::uint64_t key, std::int64_t count);
  void load_uops(std::int64_t sram, std::int64_t dram, std::int64_t count);
  void write_out(const StepNest& nest, MicroOp first, std::size_t at);
  std::uint16_t one_uop(std::uint64_t key, MicroOp uop);
  Instruction& flat(Opcode opcode, std::uint16_t uop, std::int64_t count);

  static constexpr std::size_t kKernels = 1024;  // remembered at a time

  Code& code_;
  std::int64_t uop_address_;
  std::int64_t capacity_;
  std::int64_t next_ = 0;         // free place on chip
  std::int64_t first_load_ = 0;   // micro-ops of generation 0
  std::uint32_t generation_ = 0;  // all kernels on chip have this one
  std::size_t remembered_ = 0;
  std::array<Kernel, kKernels> kernels_{};
};

// Keys: what the micro-ops are for, and up to 40 bits that tell them apart.
enum class KernelUse : std::uint8_t { Gemm = 1, Reset, Immediate, Bias, Pool };
inline std::uint64_t kernel_key(KernelUse use, std::uint64_t rest) { return static_cast<std::uint64_t>(use) << 56 | rest; }

}  // namespace tilewright::vta
