// Arithmetic of one step: everything wraps round at 32 bits, as in the real machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/vta/number_format.hpp"

namespace tilewright::vta {

inline std::int32_t wrapping_add(std::int32_t x, std::int32_t y) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(y));
}
inline std::int32_t wrapping_product(std::int32_t x, std::int32_t y) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y));
}
// To the left when y is negative. The shifter sees the lowest five bits of the amount only.
inline std::int32_t shifted_right(std::int32_t x, std::int32_t y) {
  const auto amount = static_cast<std::uint32_t>(y);
  if (y >= 0) return x >> (amount & 31);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << ((0 - amount) & 31));
}

struct StepShape {
  std::size_t batch = 1, block_in = 16, block_out = 16;
  int log_acc_width = 5;
};

// acc(batch, block_out) += inp(batch, block_in) wgt(block_out, block_in)^T, for accumulators of 32 bits and operands of at
// most 8, whose sum over a block cannot overflow. A block known to the compiler becomes a few vector instructions.
template <int BlockIn>
void multiply_narrow(std::int32_t* acc, const std::int16_t* inp, const std::int16_t* wgt, const StepShape& shape) {
  for (std::size_t b = 0; b < shape.batch; ++b, inp += BlockIn, acc += shape.block_out) {
    const std::int16_t* row = wgt;
    for (std::size_t j = 0; j < shape.block_out; ++j, row += BlockIn) {
      int sum = 0;
      for (int k = 0; k < BlockIn; ++k) sum += inp[k] * row[k];
      acc[j] = wrapping_add(acc[j], sum);
    }
  }
}

// The same for any widths and blocks.
template <typename Number>
void multiply_wrapping(std::int32_t* acc, const Number* inp, const Number* wgt, const StepShape& shape) {
  for (std::size_t b = 0; b < shape.batch; ++b, inp += shape.block_in, acc += shape.block_out) {
    const Number* row = wgt;
    for (std::size_t j = 0; j < shape.block_out; ++j, row += shape.block_in) {
      std::int32_t sum = acc[j];
      for (std::size_t k = 0; k < shape.block_in; ++k) sum = wrapping_add(sum, wrapping_product(inp[k], row[k]));
      acc[j] = sign_extended(static_cast<std::uint32_t>(sum), shape.log_acc_width);
    }
  }
}

}  // namespace tilewright::vta
