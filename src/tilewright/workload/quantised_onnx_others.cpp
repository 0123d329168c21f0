// Activations, pools, changes of shape, quantisation, and functions of one number.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <unordered_map>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/quantised_onnx.hpp"

namespace tilewright::onnx_file {
namespace {

using Function = std::function<double(double)>;

// Kernel, stride and pads along one axis. The last pad is what the last window needs, which is less or more than the
// attribute says when sizes are rounded.
std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> axis_of(const Windows& windows, std::size_t axis) {
  const std::int64_t covered = (windows.out[axis] - 1) * windows.stride[axis] + windows.kernel[axis];
  return {windows.kernel[axis], windows.stride[axis], windows.pad_begin[axis],
          std::max<std::int64_t>(covered - windows.in[axis] - windows.pad_begin[axis], 0)};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hard_sigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }

const std::unordered_map<std::string_view, double (*)(double)>& plain_functions() {
  static const std::unordered_map<std::string_view, double (*)(double)> table{
      {"Sigmoid", sigmoid},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }},
      {"HardSwish", [](double x) { return x * hard_sigmoid(x); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"Abs", [](double x) { return std::abs(x); }},
      {"Neg", [](double x) { return -x; }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Sqrt", [](double x) { return std::sqrt(std::max(x, 0.0)); }},
  };
  return table;
}

}  // namespace

bool has_function(std::string_view kind) {
  return plain_functions().contains(kind) || kind == "LeakyRelu" || kind == "Elu" || kind == "HardSigmoid";
}

std::optional<Function> function_of(const Node& node) {
  const std::string_view op = kind(node);
  if (const auto found = plain_functions().find(op); found != plain_functions().end()) return Function(found->second);
  if (op == "LeakyRelu") {
    return [alpha = real_attribute(node, "alpha").value_or(0.01)](double x) { return x < 0 ? alpha * x : x; };
  }
  if (op == "Elu") {
    return [alpha = real_attribute(node, "alpha").value_or(1)](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
  }
  if (op == "HardSigmoid") {
    return [alpha = real_attribute(node, "alpha").value_or(0.2),
            beta = real_attribute(node, "beta").value_or(0.5)](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); };
  }
  return std::nullopt;
}

Result<Done> DraftConverter::convert_function(const Node& node) {
  const std::size_t input = *step_of(node, 0);
  const std::size_t step = add(node, StepKind::Table, {input}, shape_of(input));
  draft_.steps[step].function = *function_of(node);
  set(node, step);
  return Done{};
}

Result<Done> DraftConverter::convert_clip(const Node& node) {
  const std::size_t input = *step_of(node, 0);
  const std::size_t step = add(node, StepKind::Clip, {input}, shape_of(input));
  set(node, step);
  if (kind(node) == "Relu") {
    draft_.steps[step].low = 0;
    return Done{};
  }
  TW_TRY(const std::optional<Constant> low, constant(node, 1));
  TW_TRY(const std::optional<Constant> high, constant(node, 2));
  std::optional<double> bounds[2] = {real_attribute(node, "min"), real_attribute(node, "max")};
  if (low && low->values.size() == 1) bounds[0] = low->values[0];
  if (high && high->values.size() == 1) bounds[1] = high->values[0];
  if (bounds[0]) draft_.steps[step].low = *bounds[0];
  if (bounds[1]) draft_.steps[step].high = *bounds[1];
  if (draft_.steps[step].low <= draft_.steps[step].high) return Done{};
  return complain(node, "its least is above its most, expected a range");
}

Result<Done> DraftConverter::convert_pool(const Node& node) {
  const NodeView view{graph_, node};
  const std::size_t input = *step_of(node, 0);
  const TensorShape in = shape_of(input);
  Window window{.kernel_height = in.height, .kernel_width = in.width};
  TensorShape out{in.batch, in.channels, 1, 1};
  if (kind(node) != "GlobalMaxPool") {
    const std::optional<Windows> windows = pool_windows(view);
    const std::size_t axes = windows ? windows->in.size() : 0;
    if (axes < 1 || axes > 2 || !is_known(windows->out) || windows->dilation != Dims(axes, 1)) {
      return complain(node, "is no pool over one or two axes with neighbouring taps, expected one");
    }
    window = {};
    const std::size_t x = axes - 1;
    std::tie(window.kernel_width, window.stride_width, window.pad_left, window.pad_right) = axis_of(*windows, x);
    out.width = windows->out[x];
    if (axes == 2) {
      std::tie(window.kernel_height, window.stride_height, window.pad_top, window.pad_bottom) = axis_of(*windows, 0);
      out.height = windows->out[0];
    }
  }
  if (kind(node) != "AveragePool") {
    const std::size_t step = add(node, StepKind::MaxPool, {input}, out);
    draft_.steps[step].step.window = window;
    set(node, step);
    return Done{};
  }
  const bool is_padded = window.pad_top + window.pad_bottom + window.pad_left + window.pad_right > 0;
  if (is_padded && (view.integer("count_include_pad", 0) == 0 || view.integer("ceil_mode", 0) != 0)) {
    return complain(node, "averages fewer numbers at the border, expected count_include_pad = 1 or no padding");
  }
  shapes_.push_back(out);
  set(node, add_average(draft_, node.name, input, in, window));
  return Done{};
}

Result<Done> DraftConverter::convert_mean(const Node& node) {
  const NodeView view{graph_, node};
  const std::size_t input = *step_of(node, 0);
  const TensorShape in = shape_of(input);
  if (kind(node) == "ReduceMean") {
    const std::optional<Dims> axes = view.integers("axes", 1);
    Dims sorted = axes.value_or(Dims{});
    for (std::int64_t& axis : sorted) axis += axis < 0 ? 4 : 0;
    std::ranges::sort(sorted);
    const Dims* shape = view.shape(0);
    if (sorted != Dims{2, 3} || shape == nullptr || shape->size() != 4) {
      return complain(node, "averages over other axes than rows and columns, expected axes 2 and 3");
    }
  }
  if (kind(node) == "QLinearGlobalAveragePool" && view.integer("channels_last", 0) != 0) {
    return complain(node, "has the channels last, expected them before rows and columns");
  }
  shapes_.push_back({in.batch, in.channels, 1, 1});
  const Window window{.kernel_height = in.height, .kernel_width = in.width};
  const std::size_t step = add_average(draft_, node.name, input, in, window);
  set(node, step);
  return kind(node) == "QLinearGlobalAveragePool" ? clip_to_integers(node, step, 3, 4) : Result<Done>(Done{});
}

Result<Done> DraftConverter::convert_shape_change(const Node& node) {
  const std::optional<std::size_t> input = step_of(node, 0);
  if (!input) return complain(node, "takes its shape from data of the network, expected a constant one");
  if (const auto unit = units_.find(node.inputs[0]); unit != units_.end()) units_[node.outputs[0]] = unit->second;
  const TensorShape in = shape_of(*input);
  const std::string_view op = kind(node);
  std::optional<TensorShape> out = in;
  if (op != "Identity" && op != "Dropout" && op != "Cast") {
    const Tensor& result = graph_.tensors[node.outputs[0]];
    out = four_dims(result.shape ? &*result.shape : nullptr);
  }
  if (out == in) {
    set(node, *input);
    return Done{};
  }
  if (out == TensorShape{in.batch, in.channels * in.height * in.width, 1, 1}) {
    set(node, add(node, StepKind::Flatten, {*input}, *out));
    return Done{};
  }
  return complain(node, "makes " + (out ? to_text(*out) : std::string("an unknown shape")) + " of " + to_text(in) +
                            ", expected one vector per image");
}

Result<Done> DraftConverter::convert_concat(const Node& node) {
  const std::int64_t axis = integer(node, "axis").value_or(1);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::optional<std::size_t> input = step_of(node, i);
    if (!input) return complain(node, "joins a constant, expected tensors of the network");
    inputs.push_back(*input);
  }
  const Dims* shape = NodeView{graph_, node}.shape(0);
  const std::int64_t rank = shape == nullptr ? 0 : static_cast<std::int64_t>(shape->size());
  if (axis != 1 && axis + rank != 1) return complain(node, "joins along another axis than the channels, expected axis 1");
  TensorShape out = shape_of(inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i) out.channels += shape_of(inputs[i]).channels;
  set(node, add(node, StepKind::Concat, std::move(inputs), out));
  return Done{};
}

// Zeros around an image are what a 1x1 convolution with the weight one reads beyond its border.
Result<Done> DraftConverter::convert_pad(const Node& node) {
  const NodeView view{graph_, node};
  const std::size_t input = *step_of(node, 0);
  const TensorShape in = shape_of(input);
  const std::optional<Dims> pads = view.integers("pads", 1);
  TW_TRY(const std::optional<Constant> value, constant(node, 2));
  const std::string mode = text(node, "mode");
  const bool is_zero = (mode.empty() || mode == "constant") && (!value || value->values.empty() || value->values[0] == 0) &&
                       real_attribute(node, "value").value_or(0) == 0;
  if (!is_zero || !pads || pads->size() != 8 || (*pads)[0] != 0 || (*pads)[1] != 0 || (*pads)[4] != 0 || (*pads)[5] != 0 ||
      std::ranges::min(*pads) < 0) {
    return complain(node, "pads otherwise than with zeros around rows and columns, expected that");
  }
  Layer layer = convolution(node.name, {.batch = in.batch,
                                        .out_channels = in.channels,
                                        .in_channels = in.channels,
                                        .in_height = in.height,
                                        .in_width = in.width,
                                        .groups = in.channels});
  layer.pad_top = (*pads)[2];
  layer.pad_left = (*pads)[3];
  layer.pad_bottom = (*pads)[6];
  layer.pad_right = (*pads)[7];
  TW_TRY(layer, check(layer));
  shapes_.push_back({in.batch, in.channels, tilewright::out_height(layer), tilewright::out_width(layer)});
  const std::size_t step = add_product(draft_, std::move(layer), {input});
  draft_.steps[step].weight.assign(static_cast<std::size_t>(in.channels), 1);
  set(node, step);
  return Done{};
}

Result<Done> DraftConverter::convert_quantise(const Node& node) {
  const std::optional<std::size_t> input = step_of(node, 0);
  if (!input) return complain(node, "its scale comes from the network, expected a constant");
  const std::string_view op = kind(node);
  if (op == "QuantizeLinear") return clip_to_integers(node, *input, 1, 2);
  if (op == "DynamicQuantizeLinear") {
    // Real values stay what they are; the scale it computes is divided out again by whoever uses it.
    set(node, *input);
    if (node.outputs.size() > 1 && node.outputs[1] != kNone) constants_[node.outputs[1]] = {{}, {1}};
    if (node.outputs.size() > 2 && node.outputs[2] != kNone) constants_[node.outputs[2]] = {{}, {0}};
    return Done{};
  }
  TW_TRY([[maybe_unused]] const Done read, read_integers(node, 1, 2));
  TW_TRY(const Scale scale, scale_of(node, 1, 2));
  const auto unit = units_.find(node.inputs[0]);
  const bool is_same =
      *input == 0 || (unit != units_.end() && scale.scale.size() == 1 && std::abs(scale.scale[0] / unit->second - 1) < 1e-4);
  if (!is_same) return complain(node, "has another scale than what it reads was quantised with, expected the same");
  set(node, *input);
  return Done{};
}

Result<Done> DraftConverter::convert_filled(const Node& node) {
  constexpr std::int64_t kMostFilled = std::int64_t{1} << 27;  // a few bytes of file must not become gigabytes of weights
  const Tensor& result = graph_.tensors[node.outputs[0]];
  if (!result.shape || !is_known(*result.shape)) return Done{};  // nobody may need it; whoever does will say so
  const std::int64_t count = product(*result.shape);
  if (count < 0 || count > kMostFilled) return complain(node, "makes more than 2^27 weights, expected at most that");
  TW_TRY(const float value, fill_value(node));
  constants_[node.outputs[0]] = {*result.shape, std::vector<float>(static_cast<std::size_t>(count), value)};
  return Done{};
}

Result<Done> DraftConverter::convert_constant(const Node& node) {
  const std::string_view op = kind(node);
  if (node.outputs.empty() || node.outputs[0] == kNone || op == "Constant") return Done{};
  if (op == "ConstantOfShape") return convert_filled(node);
  TW_TRY(std::optional<Constant> value, constant(node, 0));
  if (!value) return Done{};  // nobody may need it; whoever does will say so
  const NodeView view{graph_, node};
  if (op == "DequantizeLinear") {
    TW_TRY(const Scale scale, scale_of(node, 1, 2));
    const bool is_one = scale.scale.size() == 1 && scale.zero.size() == 1;
    const std::optional<std::size_t> axis =
        is_one ? std::optional<std::size_t>(0)
               : axis_in(view.integer("axis", 1), std::max<std::size_t>(value->shape.size(), 1));
    if (!axis) return complain(node, "its axis is outside the tensor, expected one inside");
    std::size_t inner = 1;
    for (std::size_t i = *axis + 1; i < value->shape.size(); ++i) inner *= static_cast<std::size_t>(value->shape[i]);
    const std::size_t size = value->shape.empty() ? 1 : static_cast<std::size_t>(value->shape[*axis]);
    for (std::size_t i = 0; i < value->values.size(); ++i) {
      const std::size_t at = i / inner % std::max<std::size_t>(size, 1);
      const auto of = [&](const std::vector<float>& list) {
        return list[list.size() == 1 ? 0 : std::min(at, list.size() - 1)];
      };
      value->values[i] = (value->values[i] - of(scale.zero)) * of(scale.scale);
    }
  } else if (op == "Transpose" && value->shape.size() == 2) {
    const auto rows = static_cast<std::size_t>(value->shape[0]), columns = static_cast<std::size_t>(value->shape[1]);
    std::vector<float> turned(value->values.size());
    for (std::size_t i = 0; i < turned.size(); ++i) turned[i % columns * rows + i / columns] = value->values[i];
    *value = {{value->shape[1], value->shape[0]}, std::move(turned)};
  } else if (op == "Mul") {
    TW_TRY(const std::optional<Constant> other, constant(node, 1));
    if (!other || (other->values.size() != 1 && value->values.size() != 1)) return Done{};
    const bool is_scalar = other->values.size() == 1;
    const float factor = is_scalar ? other->values[0] : value->values[0];
    if (!is_scalar) *value = *other;
    for (float& element : value->values) element *= factor;
  } else if (op == "Reshape" || op == "Unsqueeze" || op == "Squeeze" || op == "Identity" || op == "Cast" || op == "Expand") {
    const Tensor& result = graph_.tensors[node.outputs[0]];
    const bool is_known_here = result.shape && is_known(*result.shape);
    if (is_known_here && op == "Expand" && product(*result.shape) != static_cast<std::int64_t>(value->values.size()))
      return Done{};
    if (is_known_here) value->shape = *result.shape;
  } else {
    return Done{};
  }
  constants_[node.outputs[0]] = std::move(*value);
  return Done{};
}

}  // namespace tilewright::onnx_file
