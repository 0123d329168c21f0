#include "tilewright/workload/layer.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::int64_t kMostSize = std::numeric_limits<std::int32_t>::max();

// How far the taps of a kernel reach.
std::int64_t span_of(std::int64_t kernel, std::int64_t dilation) { return (kernel - 1) * dilation + 1; }

std::int64_t convolved(std::int64_t padded, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  return (padded - span_of(kernel, dilation)) / stride + 1;
}

// The factors whose product is a quantity: multiplied plainly for a checked layer, with care while checking.
using Factors = std::initializer_list<std::int64_t>;

std::int64_t product(Factors factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) result *= factor;
  return result;
}

bool overflows(Factors factors) {
  std::int64_t result = 1;
  return std::any_of(factors.begin(), factors.end(), [&](std::int64_t factor) {
    return __builtin_mul_overflow(result, factor, &result);  // every factor is at least 1, so no zero hides a later overflow
  });
}

template <typename Function>
auto with_mac_factors(const Layer& l, Function function) {
  if (l.op == Operator::TransposedConvolution) {
    return function(Factors{l.batch, l.in_channels, l.out_channels / l.groups, l.in_height, l.in_width, l.kernel_height,
                            l.kernel_width});
  }
  return function(Factors{l.batch, l.out_channels, l.in_channels / l.groups, out_height(l), out_width(l), l.kernel_height,
                          l.kernel_width});
}

template <typename Function>
auto with_input_factors(const Layer& l, Function function) {
  return function(Factors{l.batch, l.in_channels, l.in_height, l.in_width});
}

template <typename Function>
auto with_weight_factors(const Layer& l, Function function) {
  const std::int64_t copies = l.op == Operator::MatrixMultiply ? l.batch : 1;
  return function(Factors{copies, l.out_channels, l.in_channels / l.groups, l.kernel_height, l.kernel_width});
}

template <typename Function>
auto with_output_factors(const Layer& l, Function function) {
  return function(Factors{l.batch, l.out_channels, out_height(l), out_width(l)});
}

struct Field {
  std::string_view name;
  std::int64_t Layer::*member;
};
constexpr Field kBatch{"batch", &Layer::batch};
constexpr Field kChannels[] = {{"input channels", &Layer::in_channels}, {"output channels", &Layer::out_channels}};
constexpr Field kMatrix[] = {{"rows", &Layer::in_height}, {"inner", &Layer::in_channels}, {"columns", &Layer::out_channels}};
constexpr Field kHeight{"input height", &Layer::in_height};
constexpr Field kWidth{"input width", &Layer::in_width};
constexpr Field kWindow[] = {
    {"kernel", &Layer::kernel_height}, {"kernel", &Layer::kernel_width},      {"stride", &Layer::stride_height},
    {"stride", &Layer::stride_width},  {"dilation", &Layer::dilation_height}, {"dilation", &Layer::dilation_width},
    {"groups", &Layer::groups}};
constexpr Field kPads[] = {
    {"pad", &Layer::pad_top}, {"pad", &Layer::pad_bottom}, {"pad", &Layer::pad_left}, {"pad", &Layer::pad_right}};
constexpr Field kOutputPads[] = {{"output pad", &Layer::output_pad_height}, {"output pad", &Layer::output_pad_width}};

// Collects the first sentence; later ones are consequences of it.
class Complaint {
 public:
  explicit Complaint(const Layer& layer) : layer_(layer) {}
  const std::optional<std::string>& sentence() const { return sentence_; }

  void say(std::string sentence) {
    if (!sentence_) sentence_ = fmt::format("layer '{}': {}", layer_.name, sentence);
  }
  void between(Field field, std::int64_t least, std::int64_t most) {
    const std::int64_t value = layer_.*field.member;
    if (value < least) say(fmt::format("{} is {}, expected at least {}", field.name, value, least));
    if (value > most) say(fmt::format("{} is {}, expected at most {}", field.name, value, most));
  }
  template <std::size_t Count>
  void between(const Field (&fields)[Count], std::int64_t least, std::int64_t most) {
    for (const Field& field : fields) between(field, least, most);
  }
  template <std::size_t Count>
  void only(const Field (&fields)[Count], std::int64_t value) {
    for (const Field& field : fields) only(field, value);
  }
  void only(Field field, std::int64_t value) {
    if (layer_.*field.member == value) return;
    say(fmt::format("{} is {}, expected {} for {}", field.name, layer_.*field.member, value, name_of(layer_.op)));
  }

 private:
  const Layer& layer_;
  std::optional<std::string> sentence_;
};

void check_sizes(const Layer& layer, Complaint& complaint) {
  complaint.between(kBatch, 1, kMostSize);
  if (layer.op == Operator::MatrixMultiply) {
    complaint.between(kMatrix, 1, kMostSize);
  } else {
    complaint.between(kChannels, 1, kMostSize);
  }
  if (layer.op == Operator::MatrixMultiply || layer.op == Operator::FullyConnected) {
    if (layer.op == Operator::FullyConnected) complaint.only(kHeight, 1);
    complaint.only(kWidth, 1);
    complaint.only(kWindow, 1);
    complaint.only(kPads, 0);
  } else {
    complaint.between(kHeight, 1, kMostSize);
    complaint.between(kWidth, 1, kMostSize);
    complaint.between(kWindow, 1, kMostSize);
    complaint.between(kPads, 0, kMostSize);
  }
  if (layer.op == Operator::TransposedConvolution) {
    complaint.between(kOutputPads, 0, kMostSize);
  } else {
    complaint.only(kOutputPads, 0);
  }
}

void check_groups(const Layer& layer, Complaint& complaint) {
  if (layer.op == Operator::Depthwise && layer.groups != layer.in_channels) {
    complaint.say(
        fmt::format("groups is {}, expected the {} input channels of a depthwise layer", layer.groups, layer.in_channels));
  }
  if (layer.in_channels % layer.groups != 0) {
    complaint.say(
        fmt::format("input channels is {}, expected a multiple of groups, which is {}", layer.in_channels, layer.groups));
  }
  if (layer.out_channels % layer.groups != 0) {
    complaint.say(fmt::format("output channels is {}, expected a multiple of {}, which is {}", layer.out_channels,
                              layer.op == Operator::Depthwise ? "input channels" : "groups", layer.groups));
  }
}

struct AxisSizes {
  std::string_view name;
  std::int64_t in, kernel, stride, dilation, pads, output_pad, out;
};

void check_axis(const Layer& layer, const AxisSizes& axis, Complaint& complaint) {
  if (layer.op == Operator::TransposedConvolution) {
    const std::int64_t most = std::max(axis.stride, axis.dilation) - 1;
    if (axis.output_pad > most) {
      complaint.say(
          fmt::format("output pad is {}, expected at most {}, less than stride or dilation", axis.output_pad, most));
    }
  } else if (span_of(axis.kernel, axis.dilation) > axis.in + axis.pads) {
    complaint.say(fmt::format("kernel reaches over {} {}, expected at most {}, which is input and padding",
                              span_of(axis.kernel, axis.dilation), axis.name, axis.in + axis.pads));
  }
  if (axis.out < 1 || axis.out > kMostSize) {
    complaint.say(fmt::format("output has {} {}, expected 1 to {}", axis.out, axis.name, kMostSize));
  }
}

void check_products(const Layer& layer, Complaint& complaint) {
  if (with_input_factors(layer, overflows)) complaint.say("input has more than 2^63 elements, expected fewer");
  if (with_weight_factors(layer, overflows)) complaint.say("weight has more than 2^63 elements, expected fewer");
  if (with_output_factors(layer, overflows)) complaint.say("output has more than 2^63 elements, expected fewer");
  if (with_mac_factors(layer, overflows)) complaint.say("has more than 2^63 multiply-accumulates, expected fewer");
}

}  // namespace

std::string_view name_of(Operator op) {
  switch (op) {
    case Operator::Convolution:
      return "conv";
    case Operator::Depthwise:
      return "depthwise";
    case Operator::TransposedConvolution:
      return "transposed-conv";
    case Operator::FullyConnected:
      return "fc";
    case Operator::MatrixMultiply:
      return "matmul";
  }
  return "unknown";
}

Layer convolution(std::string name, const ConvolutionShape& shape) {
  const bool depthwise = shape.groups > 1 && shape.groups == shape.in_channels;
  return {.name = std::move(name),
          .op = depthwise ? Operator::Depthwise : Operator::Convolution,
          .batch = shape.batch,
          .groups = shape.groups,
          .out_channels = shape.out_channels,
          .in_channels = shape.in_channels,
          .in_height = shape.in_height,
          .in_width = shape.in_width,
          .kernel_height = shape.kernel_height,
          .kernel_width = shape.kernel_width,
          .stride_height = shape.stride,
          .stride_width = shape.stride,
          .pad_top = shape.pad,
          .pad_bottom = shape.pad,
          .pad_left = shape.pad,
          .pad_right = shape.pad};
}

Layer matrix_multiply(std::string name, const MatrixShape& shape) {
  return {.name = std::move(name),
          .op = Operator::MatrixMultiply,
          .batch = shape.batch,
          .out_channels = shape.columns,
          .in_channels = shape.inner,
          .in_height = shape.rows};
}

Layer fully_connected(std::string name, std::int64_t batch, std::int64_t in_channels, std::int64_t out_channels) {
  return {.name = std::move(name),
          .op = Operator::FullyConnected,
          .batch = batch,
          .out_channels = out_channels,
          .in_channels = in_channels};
}

std::int64_t out_height(const Layer& l) {
  const std::int64_t pads = l.pad_top + l.pad_bottom;
  if (l.op == Operator::TransposedConvolution) {
    return (l.in_height - 1) * l.stride_height + span_of(l.kernel_height, l.dilation_height) - pads + l.output_pad_height;
  }
  return convolved(l.in_height + pads, l.kernel_height, l.stride_height, l.dilation_height);
}

std::int64_t out_width(const Layer& l) {
  const std::int64_t pads = l.pad_left + l.pad_right;
  if (l.op == Operator::TransposedConvolution) {
    return (l.in_width - 1) * l.stride_width + span_of(l.kernel_width, l.dilation_width) - pads + l.output_pad_width;
  }
  return convolved(l.in_width + pads, l.kernel_width, l.stride_width, l.dilation_width);
}

Macs macs(const Layer& layer) { return {with_mac_factors(layer, product)}; }

TensorSizes tensor_sizes(const Layer& layer) {
  return {.input = {with_input_factors(layer, product)},
          .weight = {with_weight_factors(layer, product)},
          .output = {with_output_factors(layer, product)}};
}

double tensor_total(const Layer& layer) {
  const TensorSizes sizes = tensor_sizes(layer);
  return static_cast<double>(sizes.input.value) + static_cast<double>(sizes.weight.value) +
         static_cast<double>(sizes.output.value);
}

Result<Layer> check(Layer layer) {
  Complaint complaint(layer);
  check_sizes(layer, complaint);
  if (complaint.sentence()) return invalid(*complaint.sentence());  // what follows divides by groups and stride
  check_groups(layer, complaint);
  check_axis(layer,
             {"rows", layer.in_height, layer.kernel_height, layer.stride_height, layer.dilation_height,
              layer.pad_top + layer.pad_bottom, layer.output_pad_height, out_height(layer)},
             complaint);
  check_axis(layer,
             {"columns", layer.in_width, layer.kernel_width, layer.stride_width, layer.dilation_width,
              layer.pad_left + layer.pad_right, layer.output_pad_width, out_width(layer)},
             complaint);
  if (complaint.sentence()) return invalid(*complaint.sentence());  // sizes below 1 would hide an overflow
  check_products(layer, complaint);
  if (complaint.sentence()) return invalid(*complaint.sentence());
  return layer;
}

bool same_shape(const Layer& a, const Layer& b) {
  Layer renamed = a;
  renamed.name = b.name;
  return renamed == b;
}

}  // namespace tilewright
