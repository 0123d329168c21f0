// RNN, GRU and LSTM as the matrix products they consist of, for each direction:
//
//   input      all steps at once: rows of x_t times W^T                              once
//   recurrent  h_(t-1) times R^T: one product per step, because each needs the last  `steps` times
//   candidate  of a GRU that resets before it multiplies: (r_t . h_(t-1)) times R_h^T, after the gates   `steps` times
//
// Peepholes, biases and activations work element by element and multiply no matrices.
#pragma once

#include "tilewright/workload/onnx_products.hpp"

namespace tilewright::onnx_file {

struct Recurrent {
  std::int64_t steps = kUnknown;  // of the sequence; a shorter sequence inside the batch is padded to it
  std::int64_t batch = kUnknown;
  std::int64_t inputs = kUnknown;         // features of x_t
  std::int64_t weight_inputs = kUnknown;  // the same as W has it
  std::int64_t hidden = kUnknown;
  std::int64_t gates = 1;
  std::int64_t directions = kUnknown;
  bool is_batch_first = false;  // layout 1
};

bool is_recurrent(std::string_view kind);

// Nothing when the node is not of this family or ranks are missing.
std::optional<Recurrent> recurrent_of(const NodeView& view);
std::optional<Products> recurrent_products(const NodeView& view);

}  // namespace tilewright::onnx_file
