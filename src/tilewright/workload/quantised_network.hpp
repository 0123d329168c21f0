// A network in integers: what a machine with 8-bit multipliers and 32-bit accumulators computes, step by step.
//
// Every tensor is int8 with a meaning of its own: real value = integer * 2^-exponent, or, where data chose it, scale *
// (integer
// - zero) with a scale and a zero per channel. A step sums products or values in int32 (wrapping around), adds a bias,
// shifts right and clips:
//
//   result = clip((sum + bias) >> shift, low, high)
//
// Nothing but shifts is needed between layers: other scales are folded into weights and biases, and so is the half that
// rounds (sums of two tensors and averages have no bias and round down). docs/quantisation.md has the whole scheme.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/host_graph.hpp"
#include "tilewright/workload/layer.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {

// Values lie in the order batch, channel, row, column. Matrices have one channel.
struct TensorShape {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;

  std::int64_t elements() const { return batch * channels * height * width; }
  bool operator==(const TensorShape&) const = default;
};
std::string to_text(const TensorShape& shape);  // "1x64x56x56"

enum class StepKind : std::uint8_t {
  Input,
  Product,  // a Layer: convolution of any kind, fully connected, matrix multiply
  Add,      // of two tensors of one shape
  Clip,
  MaxPool,
  Flatten,  // channels, rows and columns become channels
  Concat,   // along the channels
  Table,    // each value is looked up: any function of one number
  Host,     // a piece of the network in real numbers
};
std::string_view name_of(StepKind kind);  // "product"

// Of a pool. Padding never wins a maximum.
struct Window {
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;

  bool operator==(const Window&) const = default;
};

inline constexpr std::size_t kTableSize = 256;

// What the integers of a tensor mean: scale * (integer - zero), one pair for all channels or one per channel.
struct Grid {
  std::vector<double> scale, zero;  // equally long; empty: 2^-exponent and 0

  bool operator==(const Grid&) const = default;
};

struct QuantisedStep {
  std::string name;
  StepKind kind = StepKind::Input;
  std::vector<std::size_t> inputs;  // earlier steps. Product: the data; the right side of a matrix multiply; a residual
  TensorShape shape;                // of the result
  int exponent = 0;                 // of the result
  Grid grid;                        // of the result, where data chose it

  Layer layer;              // Product
  bool is_average = false;  // Product that stands for an average pool: equal weights, no bias, no layer of the network
  bool is_extra = false;  // Product that stands for a sum of two tensors or a clip: weights of one, no layer of the network
  bool has_residual = false;        // Product whose last input is added to the sums
  std::vector<std::int8_t> weight;  // Product: [out][in / groups][row][column]; none for a matrix multiply
  int weight_exponent = 0;
  std::vector<std::int32_t> bias;  // Product: one per output channel, or none

  std::vector<std::int8_t> padding;           // Product: what stands around the input, by channel; empty = zeros
  std::vector<std::int32_t> residual_factor;  // Product: of the residual, by channel; empty = its alignment

  Window window;  // MaxPool

  // Left shifts of the inputs before they are summed (right shifts when negative): both of Add, the residual's of Product.
  // Of Concat: right shifts, rounded and clipped.
  std::vector<int> alignment;
  std::shared_ptr<const HostGraph> host;  // Host
  int shift = 0;                          // to the right; to the left when negative
  int low = -128, high = 127;
  std::vector<std::int8_t> table;  // Table: 256 results, that of -128 first; of all channels, or for each
};

// A Product that is a layer of the network.
inline bool is_layer(const QuantisedStep& step) {
  return step.kind == StepKind::Product && !step.is_average && !step.is_extra;
}

double scale_at(const QuantisedStep& step, std::size_t channel);
double zero_at(const QuantisedStep& step, std::size_t channel);
// The numbers a step's integers stand for, and the integers nearest to numbers, within the step's bounds.
std::vector<float> real_values(const QuantisedStep& step, const std::vector<std::int8_t>& integers);
std::vector<std::int8_t> integers_of(const QuantisedStep& step, const std::vector<float>& numbers);

struct QuantisedNetwork {
  std::string name;
  std::vector<QuantisedStep> steps;  // each after its inputs; the first is the Input, the last the result
  std::vector<std::string> notes;    // what was left out or changed, one sentence each
};

// The input's shape, or what a step makes of its inputs' shapes (its own shape must be right: `check` compares).
Result<TensorShape> result_shape(const QuantisedNetwork& network, const QuantisedStep& step);

// An Error for sizes below 1 and for tensors of more than 2^31 elements.
Result<Done> check_size(const TensorShape& shape);

// The network itself, or a sentence about its first step that cannot be: inputs, shapes, sizes of weights, shifts.
Result<QuantisedNetwork> check(QuantisedNetwork network, const std::string& where);

// Multiply-accumulates of the layers, average pools not counted.
Macs macs(const QuantisedNetwork& network);

// Nothing missing, nothing extra: the layers are those of `network`, in its order, by name and shape. For networks built at
// their own resolution.
Result<Done> check_layers(const QuantisedNetwork& quantised, const Network& network);

}  // namespace tilewright
