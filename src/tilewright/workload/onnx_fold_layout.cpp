// Folding of constants, shapes and operators that move elements.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "tilewright/workload/onnx_fold.hpp"
#include "tilewright/workload/onnx_tensor.hpp"

namespace tilewright::onnx_file {
namespace {

Values fold_same_data(const NodeView& view, const Dims& out) {
  const auto x = array_of(view, 0);
  if (!x || product(out) != static_cast<std::int64_t>(x->data->size())) return std::nullopt;
  std::vector<double> result = *x->data;
  if (kind(view.node) != "Cast") return result;
  const std::int64_t to = view.integer("to", onnx::TensorProto::INT64);
  for (double& element : result) {
    if (std::isnan(element)) continue;
    if (to == onnx::TensorProto::BOOL) element = element != 0;
    if (is_integer_type(static_cast<std::int32_t>(std::clamp<std::int64_t>(to, 0, 1000)))) element = std::trunc(element);
  }
  return result;
}

Values fold_constant(const NodeView& view, const Dims&) {
  if (const auto* attribute = find_attribute(view.node, "value"); attribute != nullptr && attribute->has_t()) {
    const Result<Tensor> tensor = tensor_of(attribute->t(), view.graph.data_folder);
    return tensor ? tensor->elements : std::nullopt;
  }
  if (const auto list = integers(view.node, "value_ints")) return std::vector<double>(list->begin(), list->end());
  if (const auto list = numbers(view.node, "value_floats")) return list;
  if (const auto one = integer(view.node, "value_int")) return std::vector<double>{static_cast<double>(*one)};
  if (const auto* one = find_attribute(view.node, "value_float")) return std::vector<double>{one->f()};
  return std::nullopt;
}

Values fold_constant_of_shape(const NodeView& view, const Dims& out) {
  double value = 0;
  if (const auto* attribute = find_attribute(view.node, "value"); attribute != nullptr && attribute->has_t()) {
    const Result<Tensor> tensor = tensor_of(attribute->t(), view.graph.data_folder);
    if (!tensor || !tensor->elements || tensor->elements->size() != 1) return std::nullopt;
    value = tensor->elements->front();
  }
  return std::vector<double>(static_cast<std::size_t>(product(out)), value);
}

double known_or_nan(std::int64_t dim) { return dim == kUnknown ? kNan : static_cast<double>(dim); }

Values fold_shape(const NodeView& view, const Dims& out) {
  const Dims* input = view.shape(0);
  if (input == nullptr || out.size() != 1) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(input->size());
  const std::int64_t start = std::clamp<std::int64_t>(view.integer("start", 0), -rank, rank);
  const auto first = static_cast<std::size_t>(start < 0 ? start + rank : start);
  return fill(out, [&](const Dims& at) {
    const std::size_t axis = first + static_cast<std::size_t>(at[0]);
    return axis < input->size() ? known_or_nan((*input)[axis]) : kNan;
  });
}

Values fold_size(const NodeView& view, const Dims&) {
  const Dims* input = view.shape(0);
  return input == nullptr ? Values{} : Values{std::vector<double>{known_or_nan(product(*input))}};
}

Values fold_gather(const NodeView& view, const Dims& out) {
  const auto data = array_of(view, 0), indices = array_of(view, 1);
  if (!data || !indices) return std::nullopt;
  const auto axis = axis_in(view.integer("axis", 0), data->shape->size());
  const std::size_t index_rank = indices->shape->size();
  if (!axis || out.size() + 1 != data->shape->size() + index_rank) return std::nullopt;
  return fill(out, [&](const Dims& at) {
    const auto begin = at.begin() + static_cast<std::ptrdiff_t>(*axis);
    const auto end = begin + static_cast<std::ptrdiff_t>(index_rank);
    const auto index = to_integer(indices->at(Dims(begin, end)));
    const auto position = index ? axis_in(*index, static_cast<std::size_t>((*data->shape)[*axis])) : std::nullopt;
    if (!position) return kNan;
    Dims source(at.begin(), begin);
    source.push_back(static_cast<std::int64_t>(*position));
    source.insert(source.end(), end, at.end());
    return data->at(source);
  });
}

Values fold_slice(const NodeView& view, const Dims& out) {
  const auto data = array_of(view, 0);
  const auto starts = view.integers("starts", 1), steps = view.integers("steps", 4);
  auto axes = view.integers("axes", 3);
  if (!data || !starts || out.size() != data->shape->size()) return std::nullopt;
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  const Dims& shape = *data->shape;
  Dims first(shape.size(), 0), step(shape.size(), 1);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_in((*axes)[i], shape.size());
    if (!axis || i >= starts->size()) return std::nullopt;
    if (steps && i < steps->size()) step[*axis] = std::clamp<std::int64_t>((*steps)[i], -kMostDim, kMostDim);
    const std::int64_t size = shape[*axis];
    const std::int64_t start = std::clamp<std::int64_t>((*starts)[i], -kMostDim, kMostDim);
    first[*axis] = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, std::max<std::int64_t>(size - 1, 0));
  }
  return fill(out, [&](const Dims& at) {
    Dims source(at.size());
    for (std::size_t axis = 0; axis < at.size(); ++axis) source[axis] = first[axis] + at[axis] * step[axis];
    return data->at(source);
  });
}

Values fold_transpose(const NodeView& view, const Dims& out) {
  const auto data = array_of(view, 0);
  auto order = integers(view.node, "perm");
  if (!order) {
    order.emplace(out.size());
    std::iota(order->rbegin(), order->rend(), 0);
  }
  if (!data || data->shape->size() != out.size() || order->size() != out.size()) return std::nullopt;
  return fill(out, [&](const Dims& at) {
    Dims source(at.size(), 0);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto axis = axis_in((*order)[i], at.size());
      if (!axis) return kNan;
      source[*axis] = at[i];
    }
    return data->at(source);
  });
}

Values fold_concat(const NodeView& view, const Dims& out) {
  const auto axis = axis_in(view.integer("axis", 1), out.size());
  if (!axis) return std::nullopt;
  std::vector<std::optional<Array>> parts;
  for (std::size_t i = 0; i < view.node.inputs.size(); ++i) {
    const Dims* shape = view.shape(i);
    if (shape == nullptr || shape->size() != out.size() || !is_known(*shape)) return std::nullopt;
    parts.push_back(array_of(view, i));
  }
  return fill(out, [&](const Dims& at) {
    Dims source = at;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t size = (*view.shape(i))[*axis];
      // A part of which only the shape is known leaves its places unknown.
      if (source[*axis] < size) return parts[i] ? parts[i]->at(source) : kNan;
      source[*axis] -= size;
    }
    return kNan;
  });
}

Values fold_expand(const NodeView& view, const Dims& out) {
  const auto data = array_of(view, 0);
  if (!data) return std::nullopt;
  return fill(out, [&](const Dims& at) { return data->at(at); });
}

Values fold_range(const NodeView& view, const Dims& out) {
  const auto start = array_of(view, 0), delta = array_of(view, 2);
  if (!start || !delta || start->data->size() != 1 || delta->data->size() != 1 || out.size() != 1) return std::nullopt;
  return fill(out, [&](const Dims& at) { return start->data->front() + static_cast<double>(at[0]) * delta->data->front(); });
}

}  // namespace

Fold layout_fold(std::string_view kind) {
  static const std::unordered_map<std::string_view, Fold> table{
      {"Constant", fold_constant},   {"ConstantOfShape", fold_constant_of_shape},
      {"Shape", fold_shape},         {"Size", fold_size},
      {"Identity", fold_same_data},  {"Cast", fold_same_data},
      {"Reshape", fold_same_data},   {"Squeeze", fold_same_data},
      {"Unsqueeze", fold_same_data}, {"Flatten", fold_same_data},
      {"Gather", fold_gather},       {"Slice", fold_slice},
      {"Transpose", fold_transpose}, {"Concat", fold_concat},
      {"Expand", fold_expand},       {"Range", fold_range},
  };
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tilewright::onnx_file
