// A VTA-class machine: a GEMM core that multiplies one BATCH x BLOCK_IN input element by the transpose of one
// BLOCK_OUT x BLOCK_IN weight element per step, a vector ALU on the accumulators, and five on-chip buffers of elements.
//
// The JSON form is that of the real VTA (LOG_* keys). LOG_BLOCK sets both blocks; LOG_BLOCK_IN and LOG_BLOCK_OUT override
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"

namespace tilewright::vta {

// The numbers are those of the instruction set's memory_type.
enum class Buffer : std::uint8_t {
  Uop = 0,
  Wgt = 1,
  Inp = 2,
  Acc = 3,
  Out = 4,
  Acc8 = 5,  // accumulators, loaded from 8-bit numbers in DRAM
};
std::string_view name_of(Buffer buffer);  // "uop", "wgt", "inp", "acc", "out", "acc8"

struct Machine {
  int log_inp_width = 3;  // log2 of bits
  int log_wgt_width = 3;
  int log_acc_width = 5;
  int log_batch = 0;
  int log_block_in = 4;
  int log_block_out = 4;
  int log_uop_buffer = 15;  // log2 of bytes
  int log_inp_buffer = 15;
  int log_wgt_buffer = 18;
  int log_acc_buffer = 17;

  std::int64_t batch() const { return std::int64_t{1} << log_batch; }
  std::int64_t block_in() const { return std::int64_t{1} << log_block_in; }
  std::int64_t block_out() const { return std::int64_t{1} << log_block_out; }
  std::int64_t macs_per_step() const { return batch() * block_in() * block_out(); }

  bool operator==(const Machine&) const = default;
};

// log2 of the number of elements. Out and Acc8 are as deep as Acc.
int log_depth(const Machine& machine, Buffer buffer);
inline std::int64_t depth(const Machine& machine, Buffer buffer) { return std::int64_t{1} << log_depth(machine, buffer); }

// Bytes of one element in DRAM. On chip it is the same, but for Acc8, which becomes an Acc element.
std::int64_t element_bytes(const Machine& machine, Buffer buffer);

// The machine itself, or a sentence that says why no program for it can be encoded: `where: the ALU instruction needs 136
// bits, expected at most 128: make LOG_ACC_BUFF_SIZE at most 17`.
Result<Machine> check(Machine machine, const std::string& where);

// Keys that are absent have the default's value; TARGET and HW_VER are read over; any other key is an error.
Result<Machine> machine_from_json(const std::string& text, const std::string& where);
std::string to_json(const Machine& machine);

// "zoo:vta" (the default machine) or a file.
Result<Machine> read_machine(const std::string& source);

}  // namespace tilewright::vta
