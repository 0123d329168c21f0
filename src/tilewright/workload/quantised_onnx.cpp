#include "tilewright/workload/quantised_onnx.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/onnx_products.hpp"
#include "tilewright/workload/onnx_shapes.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright::onnx_file {

std::optional<TensorShape> four_dims(const Dims* dims) {
  if (dims == nullptr || !is_known(*dims)) return std::nullopt;
  if (dims->size() == 4) return TensorShape{(*dims)[0], (*dims)[1], (*dims)[2], (*dims)[3]};
  if (dims->size() == 3) return TensorShape{(*dims)[0], (*dims)[1], 1, (*dims)[2]};
  if (dims->size() == 2) return TensorShape{(*dims)[0], (*dims)[1], 1, 1};
  return std::nullopt;
}

Error DraftConverter::complain(const Node& node, const std::string& what) const {
  return invalid("node " + onnx_file::quoted_name(node.name) + " (" + node.op + "): " + what);
}

std::optional<std::size_t> DraftConverter::step_of(const Node& node, std::size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input] == kNone) return std::nullopt;
  const auto found = steps_.find(node.inputs[input]);
  return found == steps_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<Constant>> DraftConverter::constant(const Node& node, std::size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == kNone) return std::optional<Constant>();
  if (const auto found = constants_.find(node.inputs[input]); found != constants_.end()) return std::optional(found->second);
  TW_TRY(std::optional<Constant> found, weights_.find(input_name(node, input)));
  const NodeView view{graph_, node};
  if (found || view.elements(input) == nullptr || view.shape(input) == nullptr) return found;
  const std::vector<double>& elements = *view.elements(input);  // small ones that follow from shapes
  if (std::ranges::any_of(elements, [](double element) { return std::isnan(element); })) return found;
  return std::optional(Constant{*view.shape(input), {elements.begin(), elements.end()}});
}

Result<Constant> DraftConverter::needed_constant(const Node& node, std::size_t input, std::string_view what) {
  TW_TRY(std::optional<Constant> found, constant(node, input));
  if (found && !found->values.empty()) return std::move(*found);
  return complain(node, "its " + std::string(what) + " is no constant of the model, expected one");
}

Result<DraftConverter::Scale> DraftConverter::scale_of(const Node& node, std::size_t scale_input, std::size_t zero_input) {
  TW_TRY(Constant scale, needed_constant(node, scale_input, "scale"));
  TW_TRY(std::optional<Constant> zero, constant(node, zero_input));
  Scale result{std::move(scale.values), zero ? std::move(zero->values) : std::vector<float>{}};
  if (result.zero.empty()) result.zero = {0};
  return result;
}

std::size_t DraftConverter::readers_of(std::size_t tensor) const {
  const auto found = readers_.find(tensor);
  return found == readers_.end() ? 0 : found->second;
}

std::string DraftConverter::name_of_part(const Node& node, std::string_view part) const {
  return node.name + "/" + std::string(part);
}

std::size_t DraftConverter::add(const Node& node, StepKind kind, std::vector<std::size_t> inputs, const TensorShape& shape) {
  shapes_.push_back(shape);
  return add_step(draft_, kind, node.name, std::move(inputs));
}

Result<Done> DraftConverter::add_input() {
  std::vector<bool> computed(graph_.tensors.size(), false);
  for (const Node& node : graph_.nodes) {
    for (const std::size_t output : node.outputs) {
      if (output != kNone) computed[output] = true;
    }
  }
  std::optional<std::size_t> input;
  for (const Node& node : graph_.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::size_t tensor = node.inputs[i];
      if (tensor == kNone || computed[tensor] || graph_.tensors[tensor].fixed || tensor == input) continue;
      if (input) return complain(node, "reads a second input of the network, expected a network with one");
      input = tensor;
      draft_.input_name = input_name(node, i);
    }
  }
  if (!input) return invalid("no node reads an input, expected a network with one");
  const Tensor& tensor = graph_.tensors[*input];
  const std::optional<TensorShape> shape = four_dims(tensor.shape ? &*tensor.shape : nullptr);
  if (!shape && tensor.open != kNone) {
    const auto& [what, remedy] = graph_.open[tensor.open];
    return invalid(what + (remedy.empty() ? "" : "; " + remedy));
  }
  if (!shape) return invalid("its input has no known shape of 2 to 4 dimensions, expected one like 1x3x224x224");
  draft_.input = *shape;
  shapes_.push_back(*shape);
  steps_[*input] = add_step(draft_, StepKind::Input, "input", {});
  return Done{};
}

// The form of a node that integers have, whose inputs are steps.
Result<Done> DraftConverter::convert_to_steps(const Node& node) {
  const std::string_view op = kind(node);
  if (op == "ConvTranspose")
    return complain(node, "is a transposed convolution, expected a convolution or a Resize before one");
  if (is_convolution(op)) return convert_convolution(node);
  if (is_product(op)) return convert_matrix(node);
  if (op == "BatchNormalization") return convert_normalisation(node);
  if (op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "QLinearAdd" || op == "Sum") {
    return convert_arithmetic(node);
  }
  if (op == "Concat") return convert_concat(node);
  if (!step_of(node, 0)) return complain(node, "its first input is a constant, expected a tensor of the network");
  if (op == "Relu" || op == "Clip") return convert_clip(node);
  if (op == "MaxPool" || op == "AveragePool" || op == "GlobalMaxPool") return convert_pool(node);
  if (op == "GlobalAveragePool" || op == "ReduceMean" || op == "QLinearGlobalAveragePool") return convert_mean(node);
  if (op == "Flatten" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" || op == "Identity" || op == "Dropout" ||
      op == "Cast") {
    return convert_shape_change(node);
  }
  if (op == "Pad") return convert_pad(node);
  if (op == "QuantizeLinear" || op == "DequantizeLinear" || op == "DynamicQuantizeLinear") return convert_quantise(node);
  if (has_function(op)) return convert_function(node);
  return complain(node,
                  "has no integer form here, expected convolutions, matrix products with constant weights, Add, "
                  "Concat, pools, or functions of one number");
}

Result<Done> DraftConverter::convert_node(const Node& node) {
  const std::string_view op = kind(node);
  if (node.outputs.empty() || node.outputs[0] == kNone) return Done{};  // nobody reads it
  if (op == "Shape" || op == "Size") return Done{};
  bool reads_steps = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) reads_steps = reads_steps || step_of(node, i).has_value();
  if (!reads_steps && !reads_expression(node)) return convert_constant(node);
  const bool is_last = node.outputs.size() == 1 && node.outputs[0] != kNone && readers_of(node.outputs[0]) <= 1;
  const bool is_answer = is_output(node.outputs[0]);
  if (is_last && (op == "LogSoftmax" || op == "ArgMax" || (op == "Softmax" && is_answer))) {
    draft_.notes.push_back(node.op + " " + onnx_file::quoted_name(node.name) +
                           " was left out: the network ends with what it reads");
    TW_TRY([[maybe_unused]] const Done settled, settle(node, 0, false));
    set(node, *step_of(node, 0));
    return Done{};
  }
  TW_TRY(const bool has_weights, reads_weights(node));
  const bool is_machines = is_convolution(op) || has_weights || op == "BatchNormalization" || op.ends_with("Pool");
  const Dims* left = NodeView{graph_, node}.shape(0);
  const bool as_rows = has_weights && left != nullptr && left->size() > 2;
  for (std::size_t i = 0; is_machines && i < node.inputs.size(); ++i) {
    TW_TRY([[maybe_unused]] const Done settled, settle(node, i, as_rows && i == 0));
  }
  TW_TRY([[maybe_unused]] const Done settled, settle_sum(node));
  const bool by_number = binary_operator(op) || op == "Relu" || op == "Clip" || has_function(op) || op == "Identity" ||
                         op == "Dropout" || op == "Cast" || op.find("Quantize") != std::string_view::npos || has_weights;
  bool has_rows = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) has_rows = has_rows || is_rows(node, i);
  if (reads_expression(node) || (has_rows && !by_number)) return convert_host(node);
  const Result<Done> converted = convert_to_steps(node);
  if (converted || !is_host_operator(op)) return converted;
  const Result<Done> on_host = convert_host(node);
  return on_host ? on_host : converted;
}

bool DraftConverter::is_output(std::size_t tensor) const {
  return std::ranges::any_of(weights_.outputs(), [&](const std::string& output) {
    const auto found = names_.find(output);
    return found != names_.end() && found->second == tensor;
  });
}

// A product whose right side is a constant matrix.
Result<bool> DraftConverter::reads_weights(const Node& node) {
  const std::string_view op = kind(node);
  if (!is_product(op)) return false;
  if (op != "MatMul") return true;
  TW_TRY(const std::optional<Constant> right, constant(node, 1));
  return right && right->shape.size() == 2;
}

Result<Done> DraftConverter::finish() {
  std::optional<std::size_t> result;
  for (const std::string& output : weights_.outputs()) {
    const auto tensor = names_.find(output);
    if (tensor == names_.end()) continue;
    if (expressions_.contains(tensor->second)) {
      Node reader;
      reader.op = "output";
      reader.name = output;
      reader.inputs = {tensor->second};
      TW_TRY([[maybe_unused]] const Done settled, settle(reader, 0, false));
    }
    if (!steps_.contains(tensor->second)) continue;
    if (result) {
      draft_.notes.push_back("output " + onnx_file::quoted_name(output) + " was left out: a network has one result");
      continue;
    }
    result = steps_[tensor->second];
  }
  if (!result || *result == 0) return invalid("its output does not depend on its input, expected a network");
  draft_.steps.resize(*result + 1);
  return Done{};
}

Result<Draft> DraftConverter::convert(std::string name) {
  draft_.name = std::move(name);
  TW_TRY(const Done input, add_input());
  for (const Node& node : graph_.nodes) {
    if (node.region != 0 || node.call != nullptr) {
      return complain(node, "stands inside a function or another node, expected a flat graph");
    }
    for (const std::size_t tensor : node.inputs) {
      if (tensor != kNone && kind(node) != "Shape" && kind(node) != "Size") ++readers_[tensor];
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNone) names_[output_name(node, i)] = node.outputs[i];
    }
  }
  for (const std::string& output : weights_.outputs()) {
    if (const auto tensor = names_.find(output); tensor != names_.end()) ++readers_[tensor->second];
  }
  for (const Node& node : graph_.nodes) {
    TW_TRY(const Done converted, convert_node(node));
  }
  TW_TRY(const Done finished, finish());
  return std::move(draft_);
}

}  // namespace tilewright::onnx_file

namespace tilewright {

Result<Draft> draft_from_onnx(const std::string& bytes, const std::string& where, const QuantiseOptions& options) {
  const auto named = [&](const Error& error) { return Error{error.code, where + ": " + error.message}; };
  if (options.batch < 1) return invalid(where + ": batch is " + std::to_string(options.batch) + ", expected at least 1");
  if (options.height != 0 || options.width != 0) {
    return invalid(where + ": another input size is asked for, expected none: an ONNX model has its own");
  }
  Result<onnx_file::Graph> graph = onnx_file::read_graph(bytes, {options.batch, options.dims, options.data_folder});
  if (!graph) return named(graph.error());
  onnx_file::infer_shapes(graph.value());
  const Result<onnx_file::Weights> weights = onnx_file::Weights::read(bytes, options.data_folder);
  if (!weights) return named(weights.error());
  Result<Draft> draft = onnx_file::DraftConverter(*graph, *weights).convert(std::filesystem::path(where).stem().string());
  if (!draft) return named(draft.error());
  draft.value().input_range = options.input;
  return draft;
}

Result<QuantisedNetwork> quantised_from_onnx(const std::string& bytes, const std::string& where,
                                             const QuantiseOptions& options, ThreadPool& pool) {
  TW_TRY(Draft draft, draft_from_onnx(bytes, where, options));
  return quantise(std::move(draft), {options.seed, options.saturated}, pool);
}

}  // namespace tilewright
