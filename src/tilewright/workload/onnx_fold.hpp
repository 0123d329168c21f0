// Constant folding, for the small integer arithmetic that exporters write around Reshape, Resize, Slice and Pad:
// Shape -> Gather -> Mul -> Concat -> Reshape and the like. An element that nobody knows is NaN and spreads by itself.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

// Gives the node's first output its elements when they follow from constants and known shapes and are few.
void fold_constants(Graph& graph, const Node& node);

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A constant input.
struct Array {
  const Dims* shape = nullptr;
  const std::vector<double>* data = nullptr;  // as many as the shape says
  std::int32_t type = 0;

  // The element at a position whose last axes are the array's; an axis of length 1 is stretched. NaN outside.
  double at(const Dims& position) const;
};
std::optional<Array> array_of(const NodeView& view, std::size_t input);

bool is_integer_type(std::int32_t type);

// All elements of a result of shape `out`; `source` gives each from its position.
template <typename Source>
std::vector<double> fill(const Dims& out, const Source& source) {
  std::vector<double> data;
  Dims at(out.size(), 0);
  const std::int64_t count = product(out);
  for (std::int64_t i = 0; i < count; ++i) {
    data.push_back(source(at));
    for (std::size_t axis = out.size(); axis-- > 0;) {
      if (++at[axis] < out[axis]) break;
      at[axis] = 0;
    }
  }
  return data;
}

// The elements of a node's first output, whose shape is known; nothing when they are not constant.
using Values = std::optional<std::vector<double>>;
using Fold = Values (*)(const NodeView& view, const Dims& out);

// nullptr when there is none for the operator.
Fold arithmetic_fold(std::string_view kind);
Fold layout_fold(std::string_view kind);

}  // namespace tilewright::onnx_file
