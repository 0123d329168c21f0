#include "tilewright/workload/nest.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::string_view kNames[kDimCount] = {"C", "G",  "K",  "M",      "N",      "R",      "S",     "X",
                                                "Y", "X'", "Y'", "other0", "other1", "other2", "other3"};

struct Window {
  std::int64_t input = 1;   // rows or columns of input that the taps reach
  std::int64_t kernel = 1;  // taps
  std::int64_t stride = 1;
};

// A kernel shorter than its stride never reads the rows between its positions, so the nest closes those gaps.
Window convolution_window(std::int64_t outputs, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t step = std::min(stride, kernel);
  return {(outputs - 1) * step + kernel, kernel, step};
}

// out[y*stride + r] += in[y] * w[r]. When the stride divides the kernel, each of the `stride` sub-pixels is a convolution
// with kernel/stride taps at the input's resolution; otherwise the nest visits every tap at every input position. Both do
// exactly the layer's multiplications.
Window transposed_window(std::int64_t inputs, std::int64_t kernel, std::int64_t stride, std::int64_t& sub_pixels) {
  if (kernel % stride != 0) return {inputs + kernel - 1, kernel, 1};
  sub_pixels *= stride;
  return {inputs + kernel / stride - 1, kernel / stride, 1};
}

}  // namespace

std::string_view name_of(Dim dim) { return kNames[static_cast<std::size_t>(dim)]; }

std::optional<Dim> dim_named(std::string_view name) {
  for (std::size_t index = 0; index < static_cast<std::size_t>(Dim::Other0); ++index) {
    if (kNames[index] == name) return static_cast<Dim>(index);
  }
  return std::nullopt;
}

Result<Nest> nest_of(const Layer& layer) {
  TW_TRY(const Layer checked, check(layer));
  Nest nest;
  bool fits = true;
  const auto set = [&](Dim dim, std::int64_t size) {
    fits = fits && size <= std::numeric_limits<std::int32_t>::max();
    nest[dim] = static_cast<std::int32_t>(size);
  };

  if (layer.op == Operator::MatrixMultiply) {
    nest.kind = NestKind::MatrixMultiply;
    nest.batched = layer.batch > 1;
    if (nest.batched) set(Dim::G, layer.batch);
    set(Dim::M, layer.in_height);
    set(Dim::K, layer.in_channels);
    set(Dim::N, layer.out_channels);
  } else {
    std::int64_t sub_pixels = 1;
    Window rows, columns;
    if (layer.op == Operator::TransposedConvolution) {
      rows = transposed_window(layer.in_height, layer.kernel_height, layer.stride_height, sub_pixels);
      columns = transposed_window(layer.in_width, layer.kernel_width, layer.stride_width, sub_pixels);
    } else {
      rows = convolution_window(out_height(layer), layer.kernel_height, layer.stride_height);
      columns = convolution_window(out_width(layer), layer.kernel_width, layer.stride_width);
    }
    // Sub-pixels are further results of a channel, which a depthwise nest has no loop for.
    const bool depthwise =
        layer.groups > 1 && layer.groups == layer.in_channels && layer.groups == layer.out_channels && sub_pixels == 1;
    nest.kind = depthwise ? NestKind::Depthwise : layer.groups > 1 ? NestKind::Grouped : NestKind::Convolution;
    nest.batched = layer.batch > 1;
    if (nest.batched) set(Dim::N, layer.batch);
    if (nest.kind == NestKind::Grouped) set(Dim::G, layer.groups);
    if (!depthwise) set(Dim::K, layer.out_channels / layer.groups * sub_pixels);
    set(Dim::C, depthwise ? layer.in_channels : layer.in_channels / layer.groups);
    set(Dim::R, rows.kernel);
    set(Dim::S, columns.kernel);
    set(Dim::Y, rows.input);
    set(Dim::X, columns.input);
    set(Dim::OutY, rows.input - rows.kernel + 1);
    set(Dim::OutX, columns.input - columns.kernel + 1);
    nest.stride[static_cast<std::size_t>(Dim::Y)] = static_cast<std::int32_t>(rows.stride);
    nest.stride[static_cast<std::size_t>(Dim::X)] = static_cast<std::int32_t>(columns.stride);
  }
  if (!fits)
    return invalid(fmt::format("layer '{}': a loop has more than 2147483647 steps, expected at most that", layer.name));
  return nest;
}

std::int64_t outputs_along(const Nest& nest, Dim dim) {
  const Dim taps = dim == Dim::Y ? Dim::R : Dim::S;
  if (nest[dim] < nest[taps]) return 0;
  const std::int64_t stride = std::max(1, nest.stride[static_cast<std::size_t>(dim)]);
  return (nest[dim] - nest[taps]) / stride + 1;
}

Macs macs(const Nest& nest) {
  std::int64_t product = 1;
  const auto multiply = [&](std::int64_t size) {
    if (__builtin_mul_overflow(product, size, &product)) product = std::numeric_limits<std::int64_t>::max();
  };
  const auto loop = [&](Dim dim) { multiply(std::max(1, nest[dim])); };
  if (nest.kind == NestKind::MatrixMultiply) {
    if (nest.batched) loop(Dim::G);
    for (const Dim dim : {Dim::M, Dim::K, Dim::N}) loop(dim);
    return {product};
  }
  if (nest.batched) loop(Dim::N);
  if (nest.kind == NestKind::Grouped) loop(Dim::G);
  if (nest.kind != NestKind::Depthwise) loop(Dim::K);
  for (const Dim dim : {Dim::C, Dim::R, Dim::S}) loop(dim);
  multiply(outputs_along(nest, Dim::Y));
  multiply(outputs_along(nest, Dim::X));
  return {product};
}

}  // namespace tilewright
