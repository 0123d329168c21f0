#include "tilewright/workload/onnx_convolution.hpp"

#include <algorithm>
#include <array>

namespace tilewright::onnx_file {
namespace {

struct Operands {
  std::string_view kind;
  std::size_t weight;  // which input; the tensor convolved is always the first
};
constexpr std::array kOperands{Operands{"Conv", 1}, Operands{"FusedConv", 1}, Operands{"ConvInteger", 1},
                               Operands{"QLinearConv", 3}, Operands{"ConvTranspose", 1}};

const Operands* operands_of(std::string_view kind) {
  const auto* found = std::ranges::find(kOperands, kind, &Operands::kind);
  return found == kOperands.end() ? nullptr : found;
}

constexpr std::int64_t kAbsurd = std::int64_t{1} << 31;  // larger than any size or pad a layer may have

// The attribute with one entry per axis; nothing when it has another length. Numbers are brought near enough to compute
// with.
std::optional<Dims> per_axis(const NodeView& view, std::string_view name, std::size_t size, std::int64_t otherwise) {
  auto list = integers(view.node, name);
  if (!list) return Dims(size, otherwise);
  if (list->size() != size) return std::nullopt;
  for (std::int64_t& entry : *list) entry = std::clamp(entry, -kAbsurd, kAbsurd);
  return list;
}

std::int64_t extent(const Windows& windows, std::size_t axis) {
  return (windows.kernel[axis] - 1) * windows.dilation[axis] + 1;
}

// True when the arithmetic of an axis makes sense and fits.
bool is_computable(const Windows& windows, std::size_t axis) {
  constexpr std::int64_t kMost = 1 << 30;
  const auto is_size = [](std::int64_t size) { return size > 0 && size <= kMost; };
  return is_size(windows.in[axis] + 1) && is_size(windows.kernel[axis]) && is_size(windows.stride[axis]) &&
         is_size(windows.dilation[axis]);
}

// Everything but the result's size.
std::optional<Windows> windows_over(const NodeView& view, Dims in, Dims kernel) {
  const std::size_t axes = in.size();
  const auto stride = per_axis(view, "strides", axes, 1);
  const auto dilation = per_axis(view, "dilations", axes, 1);
  const auto pads = per_axis(view, "pads", 2 * axes, 0);
  const auto output_pad = per_axis(view, "output_padding", axes, 0);
  if (!stride || !dilation || !pads || !output_pad || kernel.size() != axes) return std::nullopt;
  const auto middle = pads->begin() + static_cast<std::ptrdiff_t>(axes);
  return Windows{.in = std::move(in),
                 .kernel = std::move(kernel),
                 .stride = *stride,
                 .dilation = *dilation,
                 .pad_begin = Dims(pads->begin(), middle),
                 .pad_end = Dims(middle, pads->end()),
                 .output_pad = *output_pad,
                 .out = Dims(axes, kUnknown)};
}

// Splits `total` in halves; the odd one goes to the end (SAME_UPPER) or to the beginning.
void set_pads(Windows& windows, std::size_t axis, std::int64_t total, bool odd_at_end) {
  const std::int64_t half = total / 2;
  windows.pad_begin[axis] = odd_at_end ? half : total - half;
  windows.pad_end[axis] = total - windows.pad_begin[axis];
}

void slide(const NodeView& view, Windows& windows) {
  const std::string auto_pad = text(view.node, "auto_pad");
  const bool ceil = view.integer("ceil_mode", 0) != 0;
  for (std::size_t axis = 0; axis < windows.in.size(); ++axis) {
    if (auto_pad == "VALID") windows.pad_begin[axis] = windows.pad_end[axis] = 0;
    if (!is_computable(windows, axis)) continue;
    const std::int64_t in = windows.in[axis], stride = windows.stride[axis];
    if (auto_pad.starts_with("SAME")) {
      windows.out[axis] = (in + stride - 1) / stride;
      const std::int64_t needed = (windows.out[axis] - 1) * stride + extent(windows, axis) - in;
      set_pads(windows, axis, std::max<std::int64_t>(needed, 0), auto_pad == "SAME_UPPER");
      continue;
    }
    const std::int64_t room = in + windows.pad_begin[axis] + windows.pad_end[axis] - extent(windows, axis);
    if (room < 0) continue;
    std::int64_t out = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    if (ceil && (out - 1) * stride >= in + windows.pad_begin[axis]) --out;  // the last window would see only padding
    windows.out[axis] = out;
  }
}

void slide_transposed(const NodeView& view, Windows& windows) {
  const std::string auto_pad = text(view.node, "auto_pad");
  const auto output_shape = integers(view.node, "output_shape");
  const std::size_t axes = windows.in.size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (auto_pad == "VALID") windows.pad_begin[axis] = windows.pad_end[axis] = 0;
    if (!is_computable(windows, axis) || windows.in[axis] == 0) continue;
    const std::int64_t whole = (windows.in[axis] - 1) * windows.stride[axis] + extent(windows, axis);
    std::int64_t out = whole + windows.output_pad[axis] - windows.pad_begin[axis] - windows.pad_end[axis];
    const bool given = output_shape && output_shape->size() >= axes;
    if (given || auto_pad.starts_with("SAME")) {
      out = given ? (*output_shape)[output_shape->size() - axes + axis] : windows.in[axis] * windows.stride[axis];
      if (out < 0 || out > kMostDim) continue;
      const std::int64_t surplus = whole + windows.output_pad[axis] - out;
      if (surplus < 0) windows.output_pad[axis] -= surplus;  // a result larger than the windows cover
      set_pads(windows, axis, std::max<std::int64_t>(surplus, 0), auto_pad == "SAME_UPPER");
    }
    windows.out[axis] = out >= 0 && out <= kMostDim ? out : kUnknown;
  }
}

}  // namespace

bool is_convolution(std::string_view kind) { return operands_of(kind) != nullptr; }

std::size_t weight_input(std::string_view kind) { return is_convolution(kind) ? operands_of(kind)->weight : kNone; }

std::optional<Convolution> convolution_of(const NodeView& view) {
  const Operands* operands = operands_of(kind(view.node));
  if (operands == nullptr) return std::nullopt;
  const Dims* given_input = view.shape(0);
  const Dims* given_weight = view.shape(operands->weight);
  if (given_input == nullptr && given_weight == nullptr) return std::nullopt;
  const std::size_t rank = given_input != nullptr ? given_input->size() : given_weight->size();
  if (rank < 3) return std::nullopt;
  Dims input = given_input != nullptr ? *given_input : Dims(rank, kUnknown);
  Dims weight = given_weight != nullptr ? *given_weight : Dims(rank, kUnknown);
  if (weight.size() != rank) return std::nullopt;
  const bool channels_last = view.integer("channels_last", 0) != 0;
  if (channels_last) std::rotate(input.begin() + 1, input.end() - 1, input.end());

  Convolution convolution;
  convolution.transposed = operands->kind == "ConvTranspose";
  convolution.batch = input[0];
  convolution.in_channels = input[1];
  convolution.groups = view.integer("group", 1);
  const std::int64_t outer = weight[0], inner = times(weight[1], convolution.groups);
  convolution.out_channels = convolution.transposed ? inner : outer;
  convolution.weight_in_channels = convolution.transposed ? outer : inner;
  Dims kernel(weight.begin() + 2, weight.end());
  if (!is_known(kernel)) kernel = per_axis(view, "kernel_shape", rank - 2, kUnknown).value_or(kernel);
  auto windows = windows_over(view, Dims(input.begin() + 2, input.end()), std::move(kernel));
  if (!windows) return std::nullopt;
  convolution.transposed ? slide_transposed(view, *windows) : slide(view, *windows);
  convolution.out = {convolution.batch, convolution.out_channels};
  convolution.out.insert(convolution.out.end(), windows->out.begin(), windows->out.end());
  if (channels_last) std::rotate(convolution.out.begin() + 1, convolution.out.begin() + 2, convolution.out.end());
  convolution.windows = std::move(*windows);
  return convolution;
}

std::optional<Windows> pool_windows(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr || input->size() < 3) return std::nullopt;
  const auto kernel = per_axis(view, "kernel_shape", input->size() - 2, kUnknown);
  if (!kernel) return std::nullopt;
  auto windows = windows_over(view, Dims(input->begin() + 2, input->end()), *kernel);
  if (windows) slide(view, *windows);
  return windows;
}

}  // namespace tilewright::onnx_file
