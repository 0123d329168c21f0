#include "tilewright/workload/onnx_fold.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>

namespace tilewright::onnx_file {
namespace {

bool gives_truth(std::string_view op) {
  return op == "Not" || op == "And" || op == "Or" || op == "Xor" || op == "Equal" || op.starts_with("Less") ||
         op.starts_with("Greater");
}

// Needed only to tell integers, whose division rounds, from others.
std::int32_t type_of(const NodeView& view) {
  const std::string_view op = kind(view.node);
  if (gives_truth(op)) return onnx::TensorProto::BOOL;
  if (op == "Shape" || op == "Size") return onnx::TensorProto::INT64;
  if (op == "Cast") return static_cast<std::int32_t>(std::clamp<std::int64_t>(view.integer("to", 0), 0, 1000));
  if (op == "Constant" || op == "ConstantOfShape") {
    const auto* attribute = find_attribute(view.node, "value");
    if (attribute != nullptr && attribute->has_t()) return attribute->t().data_type();
    const bool is_integer = integer(view.node, "value_int") || integers(view.node, "value_ints");
    return is_integer ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT;
  }
  const Tensor* input = view.input(op == "Where" ? 1 : 0);
  return input == nullptr ? 0 : input->type;
}

}  // namespace

double Array::at(const Dims& position) const {
  if (position.size() < shape->size()) return kNan;
  const std::size_t offset = position.size() - shape->size();
  std::int64_t index = 0;
  for (std::size_t axis = 0; axis < shape->size(); ++axis) {
    const std::int64_t size = (*shape)[axis], along = size == 1 ? 0 : position[offset + axis];
    if (along < 0 || along >= size) return kNan;
    index = index * size + along;
  }
  return (*data)[static_cast<std::size_t>(index)];
}

std::optional<Array> array_of(const NodeView& view, std::size_t input) {
  const Tensor* tensor = view.input(input);
  if (tensor == nullptr || !tensor->elements || !tensor->shape) return std::nullopt;
  if (product(*tensor->shape) != static_cast<std::int64_t>(tensor->elements->size())) return std::nullopt;
  return Array{&*tensor->shape, &*tensor->elements, tensor->type};
}

bool is_integer_type(std::int32_t type) {
  return type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::DOUBLE && type != onnx::TensorProto::FLOAT16 &&
         type != onnx::TensorProto::BFLOAT16;
}

void fold_constants(Graph& graph, const Node& node) {
  const NodeView view{graph, node};
  const Fold arithmetic = arithmetic_fold(kind(node));
  const Fold fold = arithmetic != nullptr ? arithmetic : layout_fold(kind(node));
  if (fold == nullptr || node.outputs.empty() || node.outputs[0] == kNone) return;
  Tensor& output = graph.tensors[node.outputs[0]];
  if (!output.shape) return;
  const std::int64_t count = product(*output.shape);
  if (count < 0 || count > static_cast<std::int64_t>(kMostElements)) return;
  Values values = fold(view, *output.shape);
  if (!values || static_cast<std::int64_t>(values->size()) != count) return;
  output.type = type_of(view);
  // Rounded as the network itself rounds, because a floor may follow.
  if (output.type == onnx::TensorProto::FLOAT) {
    for (double& value : *values) value = static_cast<float>(value);
  }
  output.elements = std::move(values);
}

}  // namespace tilewright::onnx_file
