// Turns a layer and a schedule into instructions and micro-ops, in the portable subset of the instruction set only, so that
// the same program runs on functional simulators and on both generations of hardware.
//
// Tiles follow each other; every load goes to the least recently used of its buffer's slots (one per context) and is left
// out when the tile is still there, and the accumulators change slots from tile to tile. So loading, computing and storing
// overlap as far as the contexts allow, and the tokens between the modules say only what is needed: a load waits for the
// multiplication that last read its slot, a multiplication for its loads, the first touch of an accumulator slot for the
// store that emptied it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/schedule.hpp"

namespace tilewright::vta {

// What happens to the accumulators before they are stored: + bias, + residual, >> shift, max(low), min(high).
struct Finishing {
  bool bias = false;
  bool residual = false;       // an int32 tensor of the result's shape is added: it is what the accumulators start with
  int shift = 0;               // negative shifts left
  int low = -128, high = 127;  // ReLU: low = 0
};

// Byte addresses of tensors in DRAM, in the layouts of docs/isa.md. Multiples of their element's size; `uops` of 8.
struct Addresses {
  std::uint64_t input = 0, weight = 0, bias = 0, residual = 0, output = 0, uops = 0;
  std::uint64_t second_input = 0;  // of an element-wise add
};

// What nobody would run, and what would fill the memory. A misfit where it can be told without generating the program.
inline constexpr std::size_t kMostInstructions = std::size_t{1} << 22;

struct Code {
  std::vector<Instruction> instructions;  // one stream, FINISH last
  std::vector<MicroOp> uops;              // as they lie in DRAM from Addresses::uops
  bool is_whole = true;                   // false: more than kMostInstructions, so the rest was left out
};

// The schedule must have no misfit. `code` is cleared and filled, so that searches reuse its memory.
void generate(const Layer& layer, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
              const Addresses& addresses, Code& code);

// A schedule without misfit: large tiles, two contexts where they fit. Nothing when no tile at all fits.
std::optional<Schedule> default_schedule(const Layer& layer, const Machine& machine);

// multiplier * input, or multiplier * input + second_multiplier * second_input, then Finishing (no bias, no residual): adds,
// ReLU and clips of int8 tensors. Runs on the GEMM core with a multiple of the identity as its weight, so nothing has to be
// widened on the host. Multipliers are int8.
struct ElementwiseTask {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;
  bool two_inputs = false;
  int multiplier = 1, second_multiplier = 1;

  bool operator==(const ElementwiseTask&) const = default;
};

// Max: the largest number under the window, positions outside the tensor left out. Average: multiplier * (sum under the
// window, zeros outside) and then Finishing: a division by a number that is no power of two is multiplier / 2^shift, exactly
// as written here.
enum class PoolKind : std::uint8_t { Max, Average };
struct PoolTask {
  PoolKind kind = PoolKind::Max;
  std::int64_t batch = 1, channels = 1, in_height = 1, in_width = 1;
  std::int64_t kernel_height = 1, kernel_width = 1, stride_height = 1, stride_width = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  int multiplier = 1;  // int8; of an average only

  std::int64_t out_height() const { return (in_height + pad_top + pad_bottom - kernel_height) / stride_height + 1; }
  std::int64_t out_width() const { return (in_width + pad_left + pad_right - kernel_width) / stride_width + 1; }
  bool operator==(const PoolTask&) const = default;
};

// tile_b counts pieces of max(BLOCK_IN, BLOCK_OUT) channels of a block of images; tile_ci and tile_co are those of one
// piece.
std::optional<Misfit> misfit(const ElementwiseTask& task, const Machine& machine, const Schedule& schedule);
std::optional<Misfit> misfit(const PoolTask& task, const Machine& machine, const Schedule& schedule);
std::optional<Schedule> default_schedule(const ElementwiseTask& task, const Machine& machine);
std::optional<Schedule> default_schedule(const PoolTask& task, const Machine& machine);
void generate(const ElementwiseTask& task, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
              const Addresses& addresses, Code& code);
// Max: only Finishing's clip is applied.
void generate(const PoolTask& task, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
              const Addresses& addresses, Code& code);

}  // namespace tilewright::vta
