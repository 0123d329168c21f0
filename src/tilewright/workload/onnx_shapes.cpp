#include "tilewright/workload/onnx_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/onnx_fold.hpp"
#include "tilewright/workload/onnx_products.hpp"

namespace tilewright::onnx_file {
namespace {

Shapes shapes_of(const NodeView& view) {
  const std::string_view op = kind(view.node);
  if (is_convolution(op)) {
    const auto convolution = convolution_of(view);
    return {convolution ? std::optional(convolution->out) : std::nullopt};
  }
  if (is_product(op)) {
    const auto products = products_of(view);
    return {products ? products->out : std::nullopt};
  }
  for (const ShapeRule rule : {elementwise_rule(op), layout_rule(op), source_rule(op), window_rule(op)}) {
    if (rule != nullptr) return rule(view);
  }
  return {};
}

// What was inferred, its gaps filled with what the file declares.
void settle(Tensor& tensor, std::optional<Dims> inferred) {
  if (inferred && inferred->size() > kMostRank) inferred.reset();
  if (!inferred) return;
  for (std::int64_t& dim : *inferred) {
    if (dim < 0 || dim > kMostDim) dim = kUnknown;
  }
  if (tensor.shape && tensor.shape->size() == inferred->size()) {
    for (std::size_t i = 0; i < inferred->size(); ++i) {
      if ((*inferred)[i] == kUnknown) (*inferred)[i] = (*tensor.shape)[i];
    }
  }
  tensor.shape = std::move(inferred);
}

bool is_complete(const Tensor& tensor) {
  if (!tensor.shape || !is_known(*tensor.shape)) return false;
  if (!tensor.elements) return true;
  for (const double element : *tensor.elements) {
    if (std::isnan(element)) return false;
  }
  return true;
}

bool is_random(std::string_view op) { return op.starts_with("Random") || op == "Bernoulli" || op == "Multinomial"; }

// An If whose condition is known takes one branch, and that one is part of the graph like any other node.
void take_branch(Graph& graph, const Node& node) {
  const NodeView view{graph, node};
  const auto condition = to_integers(view.elements(0));
  const Body* taken = nullptr;
  for (const Body& body : node.bodies) {
    const bool is_then = body.attribute == "then_branch";
    if (condition && condition->size() == 1 && ((*condition)[0] != 0) == is_then) taken = &body;
  }
  if (taken != nullptr) graph.regions[taken->region].runs_once = true;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    const Tensor* result = nullptr;
    for (const Body& body : node.bodies) {
      if (i >= body.outputs.size() || (taken != nullptr && taken != &body)) continue;
      const Tensor& candidate = graph.tensors[body.outputs[i]];
      if (result != nullptr && candidate.shape != result->shape) {
        result = nullptr;
        break;
      }
      result = &candidate;
    }
    if (result == nullptr) continue;
    Tensor copy = *result;
    Tensor& output = graph.tensors[node.outputs[i]];
    if (taken != nullptr) output.elements = copy.elements, output.type = copy.type;
    settle(output, std::move(copy.shape));
  }
}

void infer_node(Graph& graph, const Node& node) {
  const NodeView view{graph, node};
  if (kind(node) == "If") {
    take_branch(graph, node);
  } else {
    Shapes shapes = shapes_of(view);
    for (std::size_t i = 0; i < std::min(shapes.size(), node.outputs.size()); ++i) {
      if (node.outputs[i] != kNone) settle(graph.tensors[node.outputs[i]], std::move(shapes[i]));
    }
    fold_constants(graph, node);
  }

  bool is_fixed = !is_random(kind(node)) && node.bodies.empty();
  std::size_t open = kNone;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor* input = view.input(i);
    if (input == nullptr) continue;
    is_fixed = is_fixed && input->fixed;
    open = std::min(open, input->open);
  }
  for (const Body& body : node.bodies) {
    for (const std::size_t output : body.outputs) open = std::min(open, graph.tensors[output].open);
  }
  for (const std::size_t output : node.outputs) {
    if (output == kNone) continue;
    Tensor& tensor = graph.tensors[output];
    tensor.fixed = is_fixed;
    tensor.open = is_complete(tensor) ? kNone : open;
  }
}

}  // namespace

std::optional<Dims> list_of(const NodeView& view, std::size_t input) {
  if (const auto* elements = view.elements(input)) {
    Dims list;
    for (const double element : *elements) list.push_back(to_integer(element).value_or(kUnknown));
    return list;
  }
  const Dims* shape = view.shape(input);
  constexpr auto kMost = static_cast<std::int64_t>(kMostRank);
  if (shape == nullptr || shape->size() != 1 || (*shape)[0] < 0 || (*shape)[0] > kMost) return std::nullopt;
  return Dims(static_cast<std::size_t>((*shape)[0]), kUnknown);
}

std::int64_t slice_size(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (size == kUnknown || step == 0) return kUnknown;
  constexpr std::int64_t kFar = std::int64_t{1} << 50;
  const auto inside = [&](std::int64_t at) {
    at = std::clamp(at, -kFar, kFar);
    if (at < 0) at += size;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, size) : std::clamp<std::int64_t>(at, -1, size - 1);
  };
  const std::int64_t distance = step > 0 ? inside(end) - inside(start) : inside(start) - inside(end);
  const std::int64_t stride = std::min(kFar, step > 0 ? step : -std::max(step, -kFar));
  return distance <= 0 ? 0 : (distance + stride - 1) / stride;
}

void infer_shapes(Graph& graph) {
  for (const Node& node : graph.nodes) infer_node(graph, node);
}

}  // namespace tilewright::onnx_file
