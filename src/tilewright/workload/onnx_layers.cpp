#include "tilewright/workload/onnx_layers.hpp"

#include <algorithm>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/onnx_products.hpp"
#include "tilewright/workload/onnx_recurrent.hpp"

namespace tilewright::onnx_file {
namespace {

// What to say about a layer whose shape is unknown: names the network input to blame, or nothing when there is none because
// the shape depends on data or on an operator we have no rule for.
std::optional<Error> blame(const NodeView& view) {
  std::size_t open = kNone;
  for (std::size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (const Tensor* input = view.input(i)) open = std::min(open, input->open);
  }
  if (open == kNone) return std::nullopt;
  const auto& [what, remedy] = view.graph.open[open];
  return invalid(what + " because layer " + quoted_name(view.node.name) + " depends on it" +
                 (remedy.empty() ? "" : "; " + remedy));
}

Result<NodeLayers> unknown_shape(const NodeView& view) {
  if (auto error = blame(view)) return *error;
  return NodeLayers{};
}

bool differ(std::int64_t a, std::int64_t b) { return a != kUnknown && b != kUnknown && a != b; }

std::string shown(const Dims& shape) {
  std::string text;
  for (const std::int64_t dim : shape) text += (text.empty() ? "" : ", ") + (dim == kUnknown ? "?" : std::to_string(dim));
  return "[" + text + "]";
}

// A layer whose rule finds no shape: because something is unknown, or because what is known does not fit together.
Result<NodeLayers> no_shape(const NodeView& view, std::size_t right) {
  const Dims* left_shape = view.shape(0);
  const Dims* right_shape = view.shape(right);
  if (left_shape == nullptr || right_shape == nullptr) return unknown_shape(view);
  return invalid("layer " + quoted_name(view.node.name) + ": shapes " + shown(*left_shape) + " and " + shown(*right_shape) +
                 ", or the attributes, do not fit together");
}

// True when windows overlap less along axis `a` than along `b`.
bool overlaps_less(const Windows& windows, std::size_t a, std::size_t b) {
  const auto kernel = [&](std::size_t axis) { return std::max(windows.kernel[axis], windows.stride[axis]); };
  return kernel(a) * windows.stride[b] < kernel(b) * windows.stride[a];
}

// Too large a product stays too large a size, which `check` refuses.
std::int64_t grown(std::int64_t size, std::int64_t factor) {
  const std::int64_t product = times(size, factor);
  return product == kUnknown ? kMostDim : product;
}

Result<Done> fold_axes(const std::string& name, Convolution& convolution) {
  // Folded channels may be multiples of the groups that the channels themselves are not.
  TW_TRY(const Layer channels, check(Layer{.name = name,
                                           .groups = convolution.groups,
                                           .out_channels = convolution.out_channels,
                                           .in_channels = convolution.in_channels}));
  Windows& windows = convolution.windows;
  while (windows.in.size() > 2) {
    std::size_t folded = 0;
    for (std::size_t axis = 1; axis < windows.in.size(); ++axis) {
      if (overlaps_less(windows, axis, folded)) folded = axis;
    }
    if (windows.out[folded] < 1) {
      return invalid("layer " + quoted_name(name) + ": the kernel of " + std::to_string(windows.kernel[folded]) +
                     " does not fit an input of " + std::to_string(windows.in[folded]) + " with its padding");
    }
    const std::int64_t taps = windows.kernel[folded];
    convolution.batch = grown(convolution.batch, convolution.transposed ? windows.in[folded] : windows.out[folded]);
    std::int64_t& channels_of_taps = convolution.transposed ? convolution.out_channels : convolution.in_channels;
    channels_of_taps = grown(channels_of_taps, taps);
    for (Dims* list : {&windows.in, &windows.kernel, &windows.stride, &windows.dilation, &windows.pad_begin,
                       &windows.pad_end, &windows.output_pad, &windows.out}) {
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(folded));
    }
  }
  return Done{};
}

Result<NodeLayers> convolution_layers(const NodeView& view) {
  auto convolution = convolution_of(view);
  if (!convolution) return no_shape(view, weight_input(kind(view.node)));
  if (differ(convolution->in_channels, convolution->weight_in_channels)) {
    return invalid("layer " + quoted_name(view.node.name) + ": the input has " + std::to_string(convolution->in_channels) +
                   " channels, but the weight is for " + std::to_string(convolution->weight_in_channels));
  }
  const Dims sizes{convolution->batch, convolution->in_channels, convolution->out_channels};
  const Windows& windows = convolution->windows;
  if (!is_known(sizes) || !is_known(windows.in) || !is_known(windows.kernel)) return unknown_shape(view);
  if (windows.in.size() > 2) {
    TW_TRY(const Done folded, fold_axes(view.node.name, *convolution));
  }
  Layer layer;
  layer.name = view.node.name;
  layer.batch = convolution->batch;
  layer.groups = convolution->groups;
  layer.out_channels = convolution->out_channels;
  layer.in_channels = convolution->in_channels;
  const bool is_depthwise = convolution->groups > 1 && convolution->groups == convolution->in_channels;
  layer.op = convolution->transposed ? Operator::TransposedConvolution
             : is_depthwise          ? Operator::Depthwise
                                     : Operator::Convolution;
  // The last axis is the width; a convolution along one axis has height 1.
  const std::size_t x = windows.in.size() - 1;
  layer.in_width = windows.in[x];
  layer.kernel_width = windows.kernel[x];
  layer.stride_width = windows.stride[x];
  layer.dilation_width = windows.dilation[x];
  layer.pad_left = windows.pad_begin[x];
  layer.pad_right = windows.pad_end[x];
  layer.output_pad_width = windows.output_pad[x];
  if (windows.in.size() == 2) {
    layer.in_height = windows.in[0];
    layer.kernel_height = windows.kernel[0];
    layer.stride_height = windows.stride[0];
    layer.dilation_height = windows.dilation[0];
    layer.pad_top = windows.pad_begin[0];
    layer.pad_bottom = windows.pad_end[0];
    layer.output_pad_height = windows.output_pad[0];
  }
  TW_TRY(Layer checked, check(std::move(layer)));
  return NodeLayers{.layers = {{std::move(checked)}}};
}

Result<NodeLayers> product_layers(const NodeView& view, const std::optional<Products>& products) {
  const bool is_plain = kind(view.node) == "MatMul" || kind(view.node) == "Gemm";
  if (!products) return is_plain ? no_shape(view, 1) : unknown_shape(view);
  NodeLayers result{.layers = {}, .first_reads_alone = products->is_projected};
  for (const Product& product : products->products) {
    if (differ(product.inner, product.right_inner)) {
      return invalid("layer " + quoted_name(view.node.name) + ": the left side has " + std::to_string(product.inner) +
                     " columns, but the right side " + std::to_string(product.right_inner) + " rows");
    }
    const std::int64_t inner = product.inner == kUnknown ? product.right_inner : product.inner;
    if (!is_known({product.batch, product.rows, inner, product.columns, product.count})) return unknown_shape(view);
    if (product.count < 1 || product.count > kMostCount) {
      return invalid("layer " + quoted_name(view.node.name) + ": is computed " + std::to_string(product.count) +
                     " times, expected 1 to " + std::to_string(kMostCount));
    }
    const std::string name = view.node.name + (product.part.empty() ? "" : "/" + product.part);
    TW_TRY(
        Layer checked,
        check(product.is_linear
                  ? fully_connected(name, product.rows, inner, product.columns)
                  : matrix_multiply(
                        name, {.batch = product.batch, .rows = product.rows, .inner = inner, .columns = product.columns})));
    result.layers.push_back({std::move(checked), product.count});
  }
  return result;
}

}  // namespace

Result<NodeLayers> layers_of(const NodeView& view) {
  if (is_convolution(kind(view.node))) return convolution_layers(view);
  if (is_product(kind(view.node))) return product_layers(view, products_of(view));
  if (is_recurrent(kind(view.node))) return product_layers(view, recurrent_products(view));
  return NodeLayers{};
}

}  // namespace tilewright::onnx_file
