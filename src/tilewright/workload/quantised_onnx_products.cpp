// Convolutions and matrix products with constant weights, and the arithmetic with constants that becomes part of them.
#include <algorithm>
#include <cmath>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/onnx_layers.hpp"
#include "tilewright/workload/quantised_onnx.hpp"

namespace tilewright::onnx_file {
namespace {

double at(const std::vector<float>& list, std::size_t index) {
  return list.empty() ? 0 : list[list.size() == 1 ? 0 : std::min(index, list.size() - 1)];
}

// (q - zero) * scale, with a scale and zero point per output channel or one for all. `first` is the axis of the channels'
// place in the weight: they are the first axis, or the last of a matrix.
void make_real(Constant& weight, const DraftConverter::Scale& scale, bool channels_last) {
  const auto channels = static_cast<std::size_t>(channels_last ? weight.shape.back() : weight.shape.front());
  const std::size_t inner = channels == 0 ? 1 : weight.values.size() / channels;
  for (std::size_t i = 0; i < weight.values.size(); ++i) {
    const std::size_t channel = channels_last ? i % channels : i / inner;
    weight.values[i] = static_cast<float>((weight.values[i] - at(scale.zero, channel)) * at(scale.scale, channel));
  }
}

bool is_foldable(const DraftStep& draft) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return draft.step.kind == StepKind::Product && !draft.step.is_average && !draft.step.has_residual &&
         !draft.weight.empty() && draft.low == -kInfinity && draft.high == kInfinity;
}

}  // namespace

Result<std::size_t> DraftConverter::add_layer(const Node& node, Layer layer, Constant weight, std::vector<double> bias) {
  const std::optional<std::size_t> input = step_of(node, 0);
  if (!input) return complain(node, "its first input is a constant, expected the second to be one");
  if (static_cast<std::int64_t>(weight.values.size()) != tensor_sizes(layer).weight.value) {
    return complain(node, "its weight has " + std::to_string(weight.values.size()) + " elements, expected " +
                              std::to_string(tensor_sizes(layer).weight.value));
  }
  shapes_.push_back({layer.batch, layer.out_channels, tilewright::out_height(layer), tilewright::out_width(layer)});
  const std::size_t step = add_product(draft_, std::move(layer), {*input});
  draft_.steps[step].weight = std::move(weight.values);
  draft_.steps[step].bias = std::move(bias);
  return step;
}

Result<Done> DraftConverter::convert_convolution(const Node& node) {
  const NodeView view{graph_, node};
  TW_TRY(NodeLayers layers, layers_of(view));
  const Dims* data = view.shape(0);
  if (layers.layers.size() != 1 || data == nullptr || data->size() > 4 || view.integer("channels_last", 0) != 0) {
    return complain(
        node, "is no convolution over one or two axes of known size, expected a batch of channels of rows and columns");
  }
  const std::string_view op = kind(node);
  TW_TRY(Constant weight, needed_constant(node, weight_input(op), "weight"));
  Scale scale{{1}, {0}};
  double unit = 1;  // of the accumulators
  if (op == "QLinearConv") {
    TW_TRY([[maybe_unused]] const Done read, read_integers(node, 1, 2));
    TW_TRY(const Scale input, scale_of(node, 1, 2));
    TW_TRY(scale, scale_of(node, 4, 5));
    unit = at(input.scale, 0);
  } else if (op == "ConvInteger") {
    TW_TRY(const std::optional<Constant> zero, constant(node, 3));
    if (zero && !zero->values.empty()) scale.zero = zero->values;
    const auto integers_of = units_.find(node.inputs[0]);
    if (integers_of != units_.end()) scale.scale = {static_cast<float>(1 / integers_of->second)};
  }
  make_real(weight, scale, false);
  std::vector<double> bias;
  const std::size_t bias_input = op == "QLinearConv" ? 8 : 2;
  if (op != "ConvInteger") {
    TW_TRY(const std::optional<Constant> found, constant(node, bias_input));
    if (!found && bias_input < node.inputs.size() && node.inputs[bias_input] != kNone) {
      return complain(node, "its bias is no constant of the model, expected one");
    }
    for (std::size_t k = 0; found && k < found->values.size(); ++k) {
      bias.push_back(found->values[k] * (op == "QLinearConv" ? unit * at(scale.scale, k) : 1));
    }
  }
  TW_TRY(const std::size_t step, add_layer(node, std::move(layers.layers[0].layer), std::move(weight), std::move(bias)));
  set(node, step);
  if (op == "QLinearConv") return clip_to_integers(node, step, 6, 7);
  if (op != "FusedConv") return Done{};
  const std::string activation = text(node, "activation");
  if (activation.empty()) return Done{};
  const std::vector<double> bounds = numbers(node, "activation_params").value_or(std::vector<double>{});
  if (activation != "Relu" && !(activation == "Clip" && bounds.size() == 2)) {
    return complain(node, "its activation is " + onnx_file::quoted_name(activation) + ", expected Relu or Clip");
  }
  const std::size_t clip = add(node, StepKind::Clip, {step}, shape_of(step));
  draft_.steps[clip].low = activation == "Relu" ? 0 : bounds[0];
  if (activation == "Clip") draft_.steps[clip].high = bounds[1];
  set(node, clip);
  return Done{};
}

Result<Done> DraftConverter::convert_matrix(const Node& node) {
  const std::string_view op = kind(node);
  const bool is_gemm = op == "Gemm" || op == "QGemm", is_linear = op == "QLinearMatMul" || op == "QGemm";
  if (!is_gemm && op != "MatMul" && op != "QLinearMatMul" && op != "MatMulInteger") {
    return complain(node, "has no integer form here, expected MatMul or Gemm");
  }
  const NodeView view{graph_, node};
  const std::size_t right = is_linear ? 3 : 1;
  TW_TRY(Constant weight, needed_constant(node, right, "right side"));
  const std::optional<std::size_t> input = step_of(node, 0);
  if (!input || weight.shape.size() != 2 || view.integer("transA", 0) != 0 || shape_of(*input).height != 1 ||
      shape_of(*input).width != 1) {
    return complain(node, "is no product of rows with a constant matrix, expected vectors on the left side");
  }
  Scale scale{{1}, {0}};
  double unit = 1;
  if (is_linear) {
    TW_TRY([[maybe_unused]] const Done read, read_integers(node, 1, 2));
    TW_TRY(const Scale left, scale_of(node, 1, 2));
    TW_TRY(scale, scale_of(node, 4, 5));
    unit = at(left.scale, 0);
  } else if (op == "MatMulInteger") {
    TW_TRY(const std::optional<Constant> zero, constant(node, 3));
    if (zero && !zero->values.empty()) scale.zero = zero->values;
    const auto integers_of = units_.find(node.inputs[0]);
    if (integers_of != units_.end()) scale.scale = {static_cast<float>(1 / integers_of->second)};
  }
  const bool is_transposed = view.integer("transB", 0) != 0;
  make_real(weight, scale, !is_transposed);
  const auto inner = static_cast<std::size_t>(weight.shape[is_transposed ? 1 : 0]);
  const auto columns = static_cast<std::size_t>(weight.shape[is_transposed ? 0 : 1]);
  const double alpha = real_attribute(node, "alpha").value_or(1), beta = real_attribute(node, "beta").value_or(1);
  Constant turned{{static_cast<std::int64_t>(columns), static_cast<std::int64_t>(inner)},
                  std::vector<float>(inner * columns)};
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t c = 0; c < inner; ++c) {
      const float value = weight.values[is_transposed ? k * inner + c : c * columns + k];
      turned.values[k * inner + c] = static_cast<float>(alpha * value);
    }
  }
  std::vector<double> bias;
  if (is_gemm) {
    TW_TRY(const std::optional<Constant> found, constant(node, is_linear ? 6 : 2));
    for (std::size_t k = 0; found && !found->values.empty() && k < columns; ++k) {
      bias.push_back(at(found->values, k) * (is_linear ? alpha * unit * at(scale.scale, k) : beta));
    }
  }
  Layer layer = fully_connected(node.name, shape_of(*input).batch, static_cast<std::int64_t>(inner),
                                static_cast<std::int64_t>(columns));
  TW_TRY(const std::size_t step, add_layer(node, std::move(layer), std::move(turned), std::move(bias)));
  set(node, step);
  return is_linear ? clip_to_integers(node, step, op == "QGemm" ? 7 : 6, op == "QGemm" ? 8 : 7) : Result<Done>(Done{});
}

Result<Done> DraftConverter::clip_to_integers(const Node& node, std::size_t step, std::size_t scale_input,
                                              std::size_t zero_input) {
  TW_TRY(const Scale scale, scale_of(node, scale_input, zero_input));
  const Tensor* zero = NodeView{graph_, node}.input(zero_input);
  const bool is_signed = zero != nullptr && is_int8(*zero);
  const double least = is_signed ? -128 : 0, most = is_signed ? 127 : 255;
  if (scale.scale.size() != 1 || scale.zero.size() != 1 || !(scale.scale[0] > 0)) {
    return complain(node, "quantises a tensor with several scales or one that is not positive, expected one scale");
  }
  const double unit = at(scale.scale, 0), low = (least - at(scale.zero, 0)) * unit, high = (most - at(scale.zero, 0)) * unit;
  units_[node.outputs[0]] = unit;
  set(node, step);
  if (is_within(step, low - unit / 2, high + unit / 2)) return Done{};
  const std::size_t clip = add(node, StepKind::Clip, {step}, shape_of(step));
  draft_.steps[clip].low = low;
  draft_.steps[clip].high = high;
  draft_.steps[clip].range_is_known = true;
  set(node, clip);
  return Done{};
}

// Whether bounds that an integer model has given before already say so.
bool DraftConverter::is_within(std::size_t step, double low, double high) const {
  const DraftStep& entry = draft_.steps[step];
  if (entry.range_is_known) return entry.low >= low && entry.high <= high;
  const StepKind kind = entry.step.kind;
  const bool passes =
      kind == StepKind::MaxPool || kind == StepKind::Flatten || kind == StepKind::Concat || kind == StepKind::Clip;
  return (passes || entry.step.is_average) &&
         std::ranges::all_of(entry.step.inputs, [&](std::size_t input) { return is_within(input, low, high); });
}

Result<Done> DraftConverter::read_integers(const Node& node, std::size_t scale_input, std::size_t zero_input) {
  if (step_of(node, 0) != 0 || units_.contains(node.inputs[0]) || draft_.steps[0].range_is_known) return Done{};
  const Tensor& tensor = graph_.tensors[node.inputs[0]];
  if (!is_int8(tensor) && !is_uint8(tensor)) return Done{};
  TW_TRY(const Scale scale, scale_of(node, scale_input, zero_input));
  DraftStep& input = draft_.steps[0];
  draft_.input_scale = at(scale.scale, 0);
  draft_.input_zero = at(scale.zero, 0);
  input.low = ((is_int8(tensor) ? -128 : 0) - draft_.input_zero) * draft_.input_scale;
  input.high = ((is_int8(tensor) ? 127 : 255) - draft_.input_zero) * draft_.input_scale;
  input.range_is_known = true;
  units_[node.inputs[0]] = draft_.input_scale;
  return Done{};
}

Result<std::vector<double>> DraftConverter::per_channel(const Node& node, const Constant& constant, std::size_t input) {
  const std::int64_t channels = shape_of(*step_of(node, input)).channels;
  const auto count = static_cast<std::size_t>(channels);
  if (constant.values.size() == 1) return std::vector<double>(count, constant.values[0]);
  const Dims &dims = constant.shape, *data = NodeView{graph_, node}.shape(input);
  // Axes behind the channels, which are the last one where a tensor lies as vectors.
  const std::size_t behind = data == nullptr || data->size() < 2 || is_rows(node, input) ? 0 : data->size() - 2;
  bool fits = constant.values.size() == count && dims.size() > behind;
  for (std::size_t axis = 0; fits && axis < dims.size(); ++axis) {
    fits = dims[axis] == (axis + behind + 1 == dims.size() ? channels : 1);
  }
  if (!fits) return complain(node, "its constant is neither one number nor one per channel, expected one of them");
  return std::vector<double>(constant.values.begin(), constant.values.end());
}

Result<Done> DraftConverter::scale_channels(const Node& node, std::size_t input, const std::vector<double>& factor,
                                            const std::vector<double>& addend) {
  const std::size_t before = *step_of(node, input);
  if (is_foldable(draft_.steps[before]) && readers_of(node.inputs[input]) == 1) {
    DraftStep& product = draft_.steps[before];
    const std::size_t taps = product.weight.size() / factor.size();
    for (std::size_t i = 0; i < product.weight.size(); ++i) {
      product.weight[i] = static_cast<float>(product.weight[i] * factor[i / taps]);
    }
    product.bias.resize(factor.size(), 0);
    for (std::size_t k = 0; k < factor.size(); ++k) product.bias[k] = product.bias[k] * factor[k] + addend[k];
    set(node, before);
    return Done{};
  }
  const TensorShape shape = shape_of(before);
  shapes_.push_back(shape);
  const std::size_t step = add_product(draft_,
                                       convolution(node.name, {.batch = shape.batch,
                                                               .out_channels = shape.channels,
                                                               .in_channels = shape.channels,
                                                               .in_height = shape.height,
                                                               .in_width = shape.width,
                                                               .groups = shape.channels}),
                                       {before});
  draft_.steps[step].weight.assign(factor.begin(), factor.end());
  draft_.steps[step].bias = addend;
  set(node, step);
  return Done{};
}

Result<Done> DraftConverter::convert_normalisation(const Node& node) {
  const std::optional<std::size_t> input = step_of(node, 0);
  if (!input) return complain(node, "its first input is a constant, expected a tensor of the network");
  TW_TRY(const Constant scale, needed_constant(node, 1, "scale"));
  TW_TRY(const Constant shift, needed_constant(node, 2, "bias"));
  TW_TRY(const Constant mean, needed_constant(node, 3, "mean"));
  TW_TRY(const Constant variance, needed_constant(node, 4, "variance"));
  const auto channels = static_cast<std::size_t>(shape_of(*input).channels);
  for (const Constant* constant : {&scale, &shift, &mean, &variance}) {
    if (constant->values.size() == channels) continue;
    return complain(node, "has " + std::to_string(constant->values.size()) + " numbers for " + std::to_string(channels) +
                              " channels, expected one each");
  }
  const double epsilon = real_attribute(node, "epsilon").value_or(1e-5);
  std::vector<double> factor, addend;
  for (std::size_t k = 0; k < channels; ++k) {
    factor.push_back(scale.values[k] / std::sqrt(variance.values[k] + epsilon));
    addend.push_back(shift.values[k] - mean.values[k] * factor[k]);
  }
  return scale_channels(node, 0, factor, addend);
}

Result<Done> DraftConverter::convert_arithmetic(const Node& node) {
  const std::string_view op = kind(node);
  const bool is_linear = op == "QLinearAdd", is_sum = op == "Add" || op == "Sum" || is_linear;
  const std::size_t second = is_linear ? 3 : 1;
  const std::optional<std::size_t> a = step_of(node, 0), b = step_of(node, second);
  if (a && b) {
    const DraftStep &left = draft_.steps[*a], &right = draft_.steps[*b];
    const bool left_of = left.step.kind == StepKind::Table && left.step.inputs[0] == *b;
    const bool right_of = right.step.kind == StepKind::Table && right.step.inputs[0] == *a;
    if (op == "Mul" && (left_of || right_of)) {  // x * f(x), as in SiLU, is a function of one number too
      const auto function = left_of ? left.function : right.function;
      const std::size_t source = left_of ? *b : *a;
      const std::size_t step = add(node, StepKind::Table, {source}, shape_of(source));
      draft_.steps[step].function = [function](double x) { return x * function(x); };
      set(node, step);
      return Done{};
    }
    if (!is_sum) return complain(node, "combines two tensors of the network, expected a constant or Add");
    if (shape_of(*a) != shape_of(*b)) {
      return complain(node, "adds " + to_text(shape_of(*a)) + " and " + to_text(shape_of(*b)) + ", expected equal shapes");
    }
    std::size_t sum = add(node, StepKind::Add, {*a, *b}, shape_of(*a));
    for (std::size_t i = 2; op == "Sum" && i < node.inputs.size(); ++i) {
      const std::optional<std::size_t> next = step_of(node, i);
      if (!next || shape_of(*next) != shape_of(*a)) return complain(node, "adds unequal shapes, expected equal ones");
      sum = add(node, StepKind::Add, {sum, *next}, shape_of(*a));
    }
    set(node, sum);
    return is_linear ? clip_to_integers(node, sum, 6, 7) : Result<Done>(Done{});
  }
  if (is_linear || (!a && !b) || (op == "Sum" && node.inputs.size() != 2)) {
    return complain(node, "adds a constant, expected two tensors of the network");
  }
  const std::size_t input = a ? 0 : 1;
  if (op == "Div" && input == 1) return complain(node, "divides by a tensor of the network, expected a constant");
  TW_TRY(const Constant other, needed_constant(node, 1 - input, "other side"));
  const std::size_t before = *step_of(node, input);
  const bool is_folded = is_foldable(draft_.steps[before]) && readers_of(node.inputs[input]) == 1;
  if (!is_folded && readers_of(node.inputs[input]) > 1 && other.values.size() == 1 && before != 0) return convert_host(node);
  TW_TRY(std::vector<double> values, per_channel(node, other, input));
  std::vector<double> factor(values.size(), 1), addend(values.size(), 0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (is_sum) addend[k] = values[k];
    if (op == "Sub") addend[k] = input == 0 ? -values[k] : values[k];
    if (op == "Sub" && input == 1) factor[k] = -1;
    if (op == "Mul") factor[k] = values[k];
    if (op == "Div") factor[k] = 1 / values[k];
  }
  return scale_channels(node, input, factor, addend);
}

}  // namespace tilewright::onnx_file
