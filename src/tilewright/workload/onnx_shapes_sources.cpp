// Shape rules of operators that make data or look it up.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tilewright/workload/onnx_shapes.hpp"
#include "tilewright/workload/onnx_tensor.hpp"

namespace tilewright::onnx_file {
namespace {

Shapes gather(const NodeView& view) {
  const Dims* input = view.shape(0);
  const Dims* indices = view.shape(1);
  if (input == nullptr || indices == nullptr) return {};
  const auto axis = axis_in(view.integer("axis", 0), input->size());
  if (!axis) return {};
  const auto at = input->begin() + static_cast<std::ptrdiff_t>(*axis);
  Dims result(input->begin(), at);
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), at + 1, input->end());
  return {result};
}

// Word numbers [batch, sequence] and the table [words, hidden] they are looked up in.
Shapes embed(const NodeView& view) {
  const Dims* words = view.shape(0);
  const Dims* table = view.shape(2);
  if (words == nullptr || table == nullptr || words->size() != 2 || table->size() != 2) return {};
  return {Dims{(*words)[0], (*words)[1], (*table)[1]}};
}

Shapes gather_elements(const NodeView& view) {
  const Dims* indices = view.shape(1);
  if (indices == nullptr) return {};
  return {*indices};
}

Shapes gather_nd(const NodeView& view) {
  const Dims* input = view.shape(0);
  const Dims* indices = view.shape(1);
  const std::int64_t batch_dims = view.integer("batch_dims", 0);
  if (input == nullptr || indices == nullptr || indices->empty() || indices->back() < 0) return {};
  const std::int64_t used = plus(batch_dims, indices->back());
  if (batch_dims < 0 || used < 0 || used > static_cast<std::int64_t>(input->size())) return {};
  Dims result(indices->begin(), indices->end() - 1);
  result.insert(result.end(), input->begin() + used, input->end());
  return {result};
}

Shapes one_hot(const NodeView& view) {
  const Dims* indices = view.shape(0);
  if (indices == nullptr) return {};
  const auto axis = axis_in(view.integer("axis", -1), indices->size() + 1);
  if (!axis) return {};
  const auto depth = to_integers(view.elements(1));
  Dims result = *indices;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(*axis), depth && depth->size() == 1 ? (*depth)[0] : kUnknown);
  return {result};
}

Shapes shape(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {Dims{kUnknown}};
  const auto rank = static_cast<std::int64_t>(input->size());
  return {Dims{slice_size(rank, view.integer("start", 0), view.integer("end", rank), 1)}};
}

Shapes scalar(const NodeView&) { return {Dims{}}; }

Shapes shape_from_first(const NodeView& view) { return {list_of(view, 0)}; }

Shapes shape_attribute(const NodeView& view) { return {integers(view.node, "shape")}; }

Shapes range(const NodeView& view) {
  const auto* start = view.elements(0);
  const auto* limit = view.elements(1);
  const auto* delta = view.elements(2);
  if (start == nullptr || limit == nullptr || delta == nullptr) return {Dims{kUnknown}};
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1) return {Dims{kUnknown}};
  const double steps = (limit->front() - start->front()) / delta->front();
  const auto count = to_integer(steps > 0 ? std::ceil(steps) : steps);
  return {Dims{!count ? kUnknown : std::max<std::int64_t>(*count, 0)}};
}

Shapes constant(const NodeView& view) {
  if (const auto* attribute = find_attribute(view.node, "value"); attribute != nullptr && attribute->has_t()) {
    const Result<Tensor> tensor = tensor_of(attribute->t(), view.graph.data_folder);
    return {tensor ? tensor->shape : std::nullopt};
  }
  if (const auto* attribute = find_attribute(view.node, "sparse_value");
      attribute != nullptr && attribute->has_sparse_tensor()) {
    const Result<Tensor> tensor = tensor_of(attribute->sparse_tensor());
    return {tensor ? tensor->shape : std::nullopt};
  }
  if (const auto list = integers(view.node, "value_ints")) return {Dims{static_cast<std::int64_t>(list->size())}};
  if (const auto list = numbers(view.node, "value_floats")) return {Dims{static_cast<std::int64_t>(list->size())}};
  return {Dims{}};
}

Shapes non_zero(const NodeView& view) {
  const Dims* input = view.shape(0);
  return {Dims{input == nullptr ? kUnknown : static_cast<std::int64_t>(input->size()), kUnknown}};
}

}  // namespace

ShapeRule source_rule(std::string_view kind) {
  static const std::unordered_map<std::string_view, ShapeRule> table{
      {"Gather", gather},
      {"EmbedLayerNormalization", embed},
      {"GatherElements", gather_elements},
      {"GatherND", gather_nd},
      {"OneHot", one_hot},
      {"Shape", shape},
      {"Size", scalar},
      {"ConstantOfShape", shape_from_first},
      {"RandomNormal", shape_attribute},
      {"RandomUniform", shape_attribute},
      {"Range", range},
      {"Constant", constant},
      {"NonZero", non_zero},
  };
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tilewright::onnx_file
