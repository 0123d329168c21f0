// Shape rules of operators that move data.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "tilewright/workload/onnx_shapes.hpp"

namespace tilewright::onnx_file {
namespace {

// 0 copies the dimension of the input, -1 takes what is left over. A single unknown entry of the target is also what is left
// over, so a target computed from an unknown batch still gives a shape.
Shapes reshape(const NodeView& view) {
  const auto attribute = integers(view.node, "shape");
  const auto target = attribute ? attribute : list_of(view, 1);
  if (!target) return {};
  const Dims* input = view.shape(0);
  const bool copies_zeros = view.integer("allowzero", 0) == 0;
  Dims result = *target, left_over = input != nullptr ? *input : Dims{kUnknown};
  std::size_t unknown_count = 0, unknown_at = 0;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0 && copies_zeros) {
      result[i] = input != nullptr && i < input->size() ? (*input)[i] : kUnknown;
      if (i < left_over.size()) left_over[i] = 1;
    } else if (result[i] < 0) {
      result[i] = kUnknown;
      ++unknown_count;
      unknown_at = i;
    } else {
      known = times(known, result[i]);
    }
  }
  const std::int64_t whole = product(left_over);
  if (unknown_count == 1 && whole >= 0 && known > 0 && whole % known == 0) result[unknown_at] = whole / known;
  return {result};
}

Shapes flatten(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {Dims{kUnknown, kUnknown}};
  const std::int64_t axis = view.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(input->size());
  if (axis < -rank || axis > rank) return {};
  const auto middle = input->begin() + (axis < 0 ? axis + rank : axis);
  return {Dims{product(Dims(input->begin(), middle)), product(Dims(middle, input->end()))}};
}

Shapes squeeze(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto axes = view.integers("axes", 1);
  Dims result;
  if (!axes) {
    if (view.input(1) != nullptr || !is_known(*input)) return {};
    std::ranges::copy_if(*input, std::back_inserter(result), [](std::int64_t dim) { return dim != 1; });
    return {result};
  }
  std::vector<bool> dropped(input->size(), false);
  for (const std::int64_t axis : *axes) {
    const auto index = axis_in(axis, input->size());
    if (!index) return {};
    dropped[*index] = true;
  }
  for (std::size_t i = 0; i < input->size(); ++i) {
    if (!dropped[i]) result.push_back((*input)[i]);
  }
  return {result};
}

Shapes unsqueeze(const NodeView& view) {
  const Dims* input = view.shape(0);
  const auto axes = view.integers("axes", 1);
  if (input == nullptr || !axes || input->size() + axes->size() > kMostRank) return {};
  std::vector<bool> added(input->size() + axes->size(), false);
  for (const std::int64_t axis : *axes) {
    const auto index = axis_in(axis, added.size());
    if (!index || added[*index]) return {};
    added[*index] = true;
  }
  Dims result;
  auto next = input->begin();
  for (const bool is_new : added) result.push_back(is_new ? 1 : *next++);
  return {result};
}

Shapes transpose(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  auto order = integers(view.node, "perm");
  if (!order) {
    order.emplace(input->size());
    std::iota(order->rbegin(), order->rend(), 0);
  }
  if (order->size() != input->size()) return {};
  Dims result;
  for (const std::int64_t axis : *order) {
    const auto index = axis_in(axis, input->size());
    if (!index) return {};
    result.push_back((*input)[*index]);
  }
  return {result};
}

Shapes concat(const NodeView& view) {
  std::optional<Dims> result;
  std::size_t axis = 0;
  for (std::size_t i = 0; i < view.node.inputs.size(); ++i) {
    // QLinearConcat starts with the result's scale and zero, and each tensor brings its own.
    if (kind(view.node) == "QLinearConcat" && (i < 2 || i % 3 != 2)) continue;
    const Dims* input = view.shape(i);
    if (input == nullptr) return {};
    if (!result) {
      const auto index = axis_in(view.integer("axis", 1), input->size());
      if (!index) return {};
      axis = *index;
      result = *input;
      continue;
    }
    if (input->size() != result->size()) return {};
    (*result)[axis] = plus((*result)[axis], (*input)[axis]);
    for (std::size_t d = 0; d < result->size(); ++d) {
      if (d != axis && (*result)[d] == kUnknown) (*result)[d] = (*input)[d];
    }
  }
  return {result};
}

Shapes split(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto axis = axis_in(view.integer("axis", 0), input->size());
  const std::size_t count = view.node.outputs.size();
  if (!axis || count == 0) return {};
  auto sizes = view.integers("split", 1);
  if (!sizes && view.input(1) == nullptr) {
    const std::int64_t whole = (*input)[*axis], parts = static_cast<std::int64_t>(count);
    const std::int64_t size = whole == kUnknown ? kUnknown : (whole + parts - 1) / parts;
    sizes = Dims(count, size);
    if (size != kUnknown) sizes->back() = whole - size * (parts - 1);
  }
  if (!sizes || sizes->size() != count) sizes = Dims(count, kUnknown);
  Shapes results(count, *input);
  for (std::size_t i = 0; i < count; ++i) (*results[i])[*axis] = (*sizes)[i];
  return results;
}

Shapes slice(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto starts = view.integers("starts", 1), ends = view.integers("ends", 2), steps = view.integers("steps", 4);
  auto axes = view.integers("axes", 3);
  if (!axes) {
    if (view.input(3) != nullptr) return {Dims(input->size(), kUnknown)};
    axes.emplace(starts ? starts->size() : input->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  Dims result = *input;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_in((*axes)[i], input->size());
    if (!axis) return {};
    const bool is_given = starts && ends && i < starts->size() && i < ends->size();
    const bool has_step = steps && i < steps->size();
    if (!is_given || (!has_step && view.input(4) != nullptr)) {
      result[*axis] = kUnknown;
    } else {
      result[*axis] = slice_size((*input)[*axis], (*starts)[i], (*ends)[i], has_step ? (*steps)[i] : 1);
    }
  }
  return {result};
}

Shapes expand(const NodeView& view) {
  const Dims* input = view.shape(0);
  const auto target = list_of(view, 1);
  if (input == nullptr || !target) return {};
  return {broadcast(*input, *target)};
}

Shapes tile(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto repeats = list_of(view, 1).value_or(Dims(input->size(), kUnknown));
  if (repeats.size() != input->size()) return {};
  Dims result = *input;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = times(result[i], repeats[i]);
  return {result};
}

constexpr std::int64_t kMostBlock = 1 << 15;

Shapes depth_to_space(const NodeView& view) {
  const Dims* input = view.shape(0);
  const std::int64_t block = view.integer("blocksize", kUnknown);
  if (input == nullptr || input->size() != 4 || block < 1 || block > kMostBlock) return {};
  const std::int64_t depth = (*input)[1];
  return {Dims{(*input)[0], depth < 0 ? kUnknown : depth / (block * block), times((*input)[2], block),
               times((*input)[3], block)}};
}

Shapes space_to_depth(const NodeView& view) {
  const Dims* input = view.shape(0);
  const std::int64_t block = view.integer("blocksize", kUnknown);
  if (input == nullptr || input->size() != 4 || block < 1 || block > kMostBlock) return {};
  const auto part = [&](std::int64_t size) { return size < 0 ? kUnknown : size / block; };
  return {Dims{(*input)[0], times((*input)[1], block * block), part((*input)[2]), part((*input)[3])}};
}

Shapes pad(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  auto pads = view.integers("pads", 1);
  if (!pads) pads = integers(view.node, "paddings");
  auto axes = to_integers(view.elements(3));
  if (!axes) {
    if (view.input(3) != nullptr) return {Dims(input->size(), kUnknown)};
    axes.emplace(input->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!pads || pads->size() != 2 * axes->size()) return {Dims(input->size(), kUnknown)};
  Dims result = *input;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_in((*axes)[i], input->size());
    if (!axis) return {};
    const std::int64_t begin = (*pads)[i], end = (*pads)[axes->size() + i];
    const bool is_sane = std::max(begin, end) <= kMostDim && std::min(begin, end) >= -kMostDim;
    result[*axis] = is_sane && result[*axis] != kUnknown ? result[*axis] + begin + end : kUnknown;
  }
  return {result};
}

}  // namespace

ShapeRule layout_rule(std::string_view kind) {
  static const std::unordered_map<std::string_view, ShapeRule> table{
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Transpose", transpose},
      {"Concat", concat},
      {"QLinearConcat", concat},
      {"Split", split},
      {"Slice", slice},
      {"Expand", expand},
      {"Tile", tile},
      {"DepthToSpace", depth_to_space},
      {"SpaceToDepth", space_to_depth},
      {"Pad", pad},
  };
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tilewright::onnx_file
