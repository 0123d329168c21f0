// A layer's shape in a line.
#include <fmt/format.h>

#include "tilewright/workload/layer.hpp"

namespace tilewright {

std::string stride_text(const Layer& layer) {
  return layer.stride_height == layer.stride_width ? fmt::format("{}", layer.stride_height)
                                                   : fmt::format("{}x{}", layer.stride_height, layer.stride_width);
}

std::string shape_text(const Layer& layer) {
  std::string text = layer.batch > 1 ? fmt::format("{} x ", layer.batch) : "";
  if (layer.op == Operator::MatrixMultiply) {
    return text + fmt::format("{} x {} x {}", layer.in_height, layer.in_channels, layer.out_channels);
  }
  if (layer.op == Operator::FullyConnected) return text + fmt::format("{} -> {}", layer.in_channels, layer.out_channels);
  text += fmt::format("{}x{}x{} -> {}x{}x{}, {}x{}", layer.in_channels, layer.in_height, layer.in_width, layer.out_channels,
                      out_height(layer), out_width(layer), layer.kernel_height, layer.kernel_width);
  if (stride_text(layer) != "1") text += "/" + stride_text(layer);
  if (layer.dilation_height > 1 || layer.dilation_width > 1) {
    text += layer.dilation_height == layer.dilation_width
                ? fmt::format(" dilated {}", layer.dilation_height)
                : fmt::format(" dilated {}x{}", layer.dilation_height, layer.dilation_width);
  }
  if (layer.groups > 1) text += fmt::format(", {} groups", layer.groups);
  return text;
}

}  // namespace tilewright
