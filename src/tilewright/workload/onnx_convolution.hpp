// Convolutions and pools: windows that slide over the last axes of a tensor.
#pragma once

#include <optional>

#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

// One entry per axis the window slides along; automatic padding is already in numbers.
struct Windows {
  Dims in, kernel, stride, dilation, pad_begin, pad_end, output_pad, out;
};

struct Convolution {
  std::int64_t batch = kUnknown;
  std::int64_t in_channels = kUnknown;
  std::int64_t out_channels = kUnknown;
  std::int64_t groups = 1;
  std::int64_t weight_in_channels = kUnknown;  // in_channels as the weight's shape has it
  bool transposed = false;
  Windows windows;
  Dims out;  // the shape of the result
};

// Conv, ConvTranspose and their quantised and fused relatives.
bool is_convolution(std::string_view kind);
std::size_t weight_input(std::string_view kind);  // which input is the weight

// Nothing when the ranks are unknown or do not fit each other.
std::optional<Convolution> convolution_of(const NodeView& view);

// The windows of MaxPool, AveragePool and their relatives; nothing when rank or kernel are unknown.
std::optional<Windows> pool_windows(const NodeView& view);

}  // namespace tilewright::onnx_file
