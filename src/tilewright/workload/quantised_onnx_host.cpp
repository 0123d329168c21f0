// What lies between machine products and has no form in integers: kept as expressions over the steps that exist, and made a
// step of the host when a product needs it. A chain of such nodes is one step, in which nothing is rounded.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "tilewright/workload/onnx_shapes.hpp"
#include "tilewright/workload/quantised_onnx.hpp"

namespace tilewright::onnx_file {
namespace {

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 27;

using Binary = std::function<double(double, double)>;

Binary binary_of(std::string_view op) {
  if (op == "Add") return [](double a, double b) { return a + b; };
  if (op == "Sub") return [](double a, double b) { return a - b; };
  if (op == "Mul") return [](double a, double b) { return a * b; };
  if (op == "Div") return [](double a, double b) { return a / b; };
  if (op == "Pow") return [](double a, double b) { return b == 2 ? a * a : std::pow(a, b); };
  return nullptr;
}

bool keeps_order(std::string_view op) {
  return op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" || op == "Identity" || op == "Cast" ||
         op == "Dropout";
}

// For each element of `out`, in its order, what `place` says of its position.
template <typename Place>
std::vector<std::int64_t> places(const Dims& out, Place place) {
  std::vector<std::int64_t> list;
  Dims at(out.size(), 0);
  const std::int64_t count = product(out);
  list.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    list.push_back(place(at));
    for (std::size_t axis = out.size(); axis-- > 0;) {
      if (++at[axis] < out[axis]) break;
      at[axis] = 0;
    }
  }
  return list;
}

Dims strides_of(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

}  // namespace

bool binary_operator(std::string_view op) { return binary_of(op) != nullptr; }

bool is_host_operator(std::string_view op) {
  return binary_of(op) || keeps_order(op) || has_function(op) || op == "Transpose" || op == "Slice" || op == "Split" ||
         op == "Gather" || op == "Expand" || op == "Concat" || op == "Softmax" || op == "LayerNormalization" ||
         op == "ReduceMean" || op == "MatMul" || op == "Relu";
}

TensorShape rows_of(const Dims& dims) {
  return {dims.empty() ? 1 : product(dims) / std::max<std::int64_t>(dims.back(), 1), dims.empty() ? 1 : dims.back(), 1, 1};
}

bool DraftConverter::reads_expression(const Node& node) const {
  return std::ranges::any_of(node.inputs, [&](std::size_t tensor) { return expressions_.contains(tensor); });
}

// A tensor of three or more axes that lies here as vectors along the last one.
bool DraftConverter::is_rows(const Node& node, std::size_t input) const {
  const std::optional<std::size_t> step = step_of(node, input);
  const Dims* dims = NodeView{graph_, node}.shape(input);
  return step && dims != nullptr && is_known(*dims) && dims->size() > 2 && shape_of(*step) == rows_of(*dims) &&
         four_dims(dims) != rows_of(*dims);
}

std::size_t DraftConverter::add_expression(HostNode node) {
  pool_.push_back(std::move(node));
  return pool_.size() - 1;
}

Result<std::size_t> DraftConverter::expression_of(const Node& node, std::size_t input) {
  const std::size_t tensor = node.inputs[input];
  if (const auto found = expressions_.find(tensor); found != expressions_.end()) return found->second;
  if (const auto found = leaves_.find(tensor); found != leaves_.end()) return found->second;
  const Dims* dims = NodeView{graph_, node}.shape(input);
  if (const auto step = step_of(node, input)) {
    if (dims == nullptr || !is_known(*dims)) return complain(node, "reads a tensor of unknown shape, expected a known one");
    leaves_[tensor] = add_expression({.op = HostOp::Input, .shape = *dims});
    leaf_steps_[leaves_[tensor]] = *step;
    return leaves_[tensor];
  }
  TW_TRY(Constant found, needed_constant(node, input, "input"));
  if (found.shape.empty() && found.values.size() > 1) found.shape = {static_cast<std::int64_t>(found.values.size())};
  return add_expression({.op = HostOp::Constant, .shape = found.shape, .values = std::move(found.values)});
}

// The step that holds an expression, in a shape that its reader wants.
Result<std::size_t> DraftConverter::step_for(const Node& node, std::size_t input, const TensorShape& shape) {
  const std::size_t tensor = node.inputs[input];
  if (const auto step = step_of(node, input); step && shape_of(*step) == shape) return *step;
  TW_TRY(const std::size_t wanted, expression_of(node, input));
  std::set<std::size_t> needed{wanted};
  std::vector<std::size_t> leaves;
  for (auto at = needed.rbegin(); at != needed.rend(); ++at) {
    if (leaf_steps_.contains(*at)) {
      leaves.push_back(*at);
    } else {
      needed.insert(pool_[*at].inputs.begin(), pool_[*at].inputs.end());
    }
  }
  if (leaves.empty()) return complain(node, "reads a constant that is computed, expected a tensor of the network");
  std::ranges::reverse(leaves);
  auto graph = std::make_shared<HostGraph>();
  std::map<std::size_t, std::size_t> place;
  std::vector<std::size_t> inputs;
  for (const std::size_t leaf : leaves) {
    place[leaf] = graph->nodes.size();
    inputs.push_back(leaf_steps_[leaf]);
    graph->nodes.push_back({.op = HostOp::Input, .shape = pool_[leaf].shape});
  }
  graph->input_count = leaves.size();
  for (const std::size_t index : needed) {
    if (place.contains(index)) continue;
    place[index] = graph->nodes.size();
    graph->nodes.push_back(pool_[index]);
    for (std::size_t& from : graph->nodes.back().inputs) from = place[from];
  }
  if (leaf_steps_.contains(wanted)) {  // only its shape is another
    graph->nodes.push_back({.op = HostOp::Take, .name = "Reshape", .inputs = {0}, .shape = pool_[wanted].shape});
  }
  shapes_.push_back(shape);
  const std::string name = named_.contains(tensor) ? named_[tensor] : name_of_part(node, "input");
  const std::size_t step = add_step(draft_, StepKind::Host, name, std::move(inputs));
  draft_.steps[step].step.host = std::move(graph);
  draft_.steps[step].step.shape = shape;
  expressions_.erase(tensor);
  leaves_[tensor] = wanted;
  leaf_steps_[wanted] = step;
  steps_[tensor] = step;
  return step;
}

// What a node's readers want of input `input` where only a machine's form will do.
Result<Done> DraftConverter::settle(const Node& node, std::size_t input, bool as_rows) {
  if (input >= node.inputs.size() || node.inputs[input] == kNone) return Done{};
  const Dims* dims = NodeView{graph_, node}.shape(input);
  if (!expressions_.contains(node.inputs[input]) && !step_of(node, input)) return Done{};
  if (!as_rows && !expressions_.contains(node.inputs[input]) && !is_rows(node, input)) return Done{};
  if (dims == nullptr || !is_known(*dims)) return complain(node, "reads a tensor of unknown shape, expected a known one");
  const std::optional<TensorShape> shape = as_rows ? rows_of(*dims) : four_dims(dims);
  if (!shape) return complain(node, "reads a tensor of another rank than 2 to 4, expected one of these");
  TW_TRY([[maybe_unused]] const std::size_t step, step_for(node, input, *shape));
  return Done{};
}

// An addition that a product can take over needs both its sides as steps of one shape.
Result<Done> DraftConverter::settle_sum(const Node& node) {
  if (kind(node) != "Add" || node.inputs.size() != 2) return Done{};
  const NodeView view{graph_, node};
  for (const std::size_t side : {0, 1}) {
    const std::optional<std::size_t> step = step_of(node, side);
    if (!step || !expressions_.contains(node.inputs[1 - side])) continue;
    if (draft_.steps[*step].step.kind != StepKind::Product || view.shape(0) == nullptr || view.shape(1) == nullptr) continue;
    if (*view.shape(0) != *view.shape(1) || readers_of(node.inputs[side]) != 1) continue;
    TW_TRY([[maybe_unused]] const std::size_t settled, step_for(node, 1 - side, shape_of(*step)));
  }
  return Done{};
}

Result<std::vector<std::int64_t>> DraftConverter::places_of(const Node& node, const Dims& in, const Dims& out) {
  const NodeView view{graph_, node};
  const std::string_view op = kind(node);
  const Dims strides = strides_of(in);
  if (op == "Transpose") {
    Dims order = integers(node, "perm").value_or(Dims{});
    if (order.empty()) {
      for (std::size_t axis = in.size(); axis-- > 0;) order.push_back(static_cast<std::int64_t>(axis));
    }
    if (order.size() != out.size())
      return complain(node, "has an order of another number of axes, expected one place for each");
    return places(out, [&](const Dims& at) {
      std::int64_t from = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis) from += at[axis] * strides[static_cast<std::size_t>(order[axis])];
      return from;
    });
  }
  if (op == "Expand") {
    return places(out, [&](const Dims& at) {
      std::int64_t from = 0;
      for (std::size_t axis = 0; axis < in.size(); ++axis) {
        from += in[axis] == 1 ? 0 : at[axis + out.size() - in.size()] * strides[axis];
      }
      return from;
    });
  }
  if (op == "Gather") {
    const auto axis = axis_in(view.integer("axis", 0), in.size());
    TW_TRY(const Constant indices, needed_constant(node, 1, "indices"));
    if (!axis) return complain(node, "its axis is outside the tensor, expected one inside");
    const std::size_t rank = indices.shape.size();
    for (const float index : indices.values) {
      if (std::abs(index + 0.5f) > static_cast<float>(in[*axis]))
        return complain(node, "gathers outside the tensor, expected places inside");
    }
    return places(out, [&](const Dims& at) {
      std::int64_t place = 0, from = 0;
      for (std::size_t i = 0; i < rank; ++i) place = place * indices.shape[i] + at[*axis + i];
      const auto index = static_cast<std::int64_t>(indices.values[static_cast<std::size_t>(place)]);
      for (std::size_t i = 0; i < in.size(); ++i) {
        from += strides[i] * (i < *axis ? at[i] : i == *axis ? index + (index < 0 ? in[i] : 0) : at[i + rank - 1]);
      }
      return from;
    });
  }
  Dims start(in.size(), 0), step(in.size(), 1);
  if (op == "Slice") {
    const auto starts = view.integers("starts", 1), steps = view.integers("steps", 4);
    auto axes = view.integers("axes", 3);
    if (!starts) return complain(node, "begins at places that are no constants, expected constants");
    for (std::size_t i = 0; i < starts->size(); ++i) {
      const auto axis = axis_in(axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i), in.size());
      if (!axis || (steps && i < steps->size() && (*steps)[i] < 1))
        return complain(node, "slices backwards or outside, expected neither");
      start[*axis] = std::clamp<std::int64_t>((*starts)[i] + ((*starts)[i] < 0 ? in[*axis] : 0), 0, in[*axis]);
      if (steps && i < steps->size()) step[*axis] = (*steps)[i];
    }
  }
  return places(out, [&](const Dims& at) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) from += (start[axis] + at[axis] * step[axis]) * strides[axis];
    return from;
  });
}

Result<Done> DraftConverter::convert_split(const Node& node, const HostNode& like, const Dims& in) {
  const auto axis = axis_in(NodeView{graph_, node}.integer("axis", 0), in.size());
  if (!axis) return complain(node, "its axis is outside the tensor, expected one inside");
  const Dims strides = strides_of(in);
  std::int64_t first = 0;
  for (const std::size_t output : node.outputs) {
    if (output == kNone || !graph_.tensors[output].shape || !is_known(*graph_.tensors[output].shape)) {
      return complain(node, "makes pieces of unknown size, expected known ones");
    }
    HostNode piece = like;
    piece.shape = *graph_.tensors[output].shape;
    piece.numbers = places(piece.shape, [&](const Dims& at) {
      std::int64_t from = first * strides[*axis];
      for (std::size_t i = 0; i < at.size(); ++i) from += at[i] * strides[i];
      return from;
    });
    first += piece.shape[*axis];
    expressions_[output] = add_expression(std::move(piece));
  }
  return Done{};
}

Result<Done> DraftConverter::convert_normalised(const Node& node, HostNode made) {
  const NodeView view{graph_, node};
  made.op = HostOp::Normalise;
  made.epsilon = real_attribute(node, "epsilon").value_or(1e-5);
  const auto axis = axis_in(view.integer("axis", -1), made.shape.size());
  if (!axis) return complain(node, "its axis is outside the tensor, expected one inside");
  made.numbers = {static_cast<std::int64_t>(*axis)};
  HostNode factor = made;
  std::size_t at = add_expression(std::move(made));
  factor.op = HostOp::Combine;
  for (const std::size_t input : {1, 2}) {
    if (input >= node.inputs.size() || node.inputs[input] == kNone) continue;
    TW_TRY(const std::size_t other, expression_of(node, input));
    HostNode next = factor;
    next.inputs = {at, other};
    next.combine = binary_of(input == 1 ? "Mul" : "Add");
    at = add_expression(std::move(next));
  }
  expressions_[node.outputs[0]] = at;
  return Done{};
}

Result<Done> DraftConverter::convert_host(const Node& node) {
  const NodeView view{graph_, node};
  const std::string_view op = kind(node);
  if (!is_host_operator(op)) return complain(node, "has no form here, neither in integers nor on the host");
  const Tensor& result = graph_.tensors[node.outputs[0]];
  if (!result.shape || !is_known(*result.shape) || product(*result.shape) > kMostPlaces) {
    return complain(node, "makes a tensor of unknown shape or of more than 2^27 numbers, expected a known, smaller one");
  }
  for (const std::size_t output : node.outputs) named_[output] = node.name;
  HostNode made{.name = node.op, .shape = *result.shape};
  TW_TRY(const std::size_t first, expression_of(node, 0));
  made.inputs = {first};
  const Dims in = pool_[first].shape;
  if (keeps_order(op)) {
    made.op = HostOp::Take;
  } else if (op == "Split") {
    made.op = HostOp::Take;
    return convert_split(node, made, in);
  } else if (op == "LayerNormalization") {
    return convert_normalised(node, std::move(made));
  } else if (op == "Softmax") {
    made.op = HostOp::Softmax;
    const auto axis = axis_in(view.integer("axis", -1), in.size());
    if (!axis) return complain(node, "its axis is outside the tensor, expected one inside");
    made.numbers = {static_cast<std::int64_t>(*axis)};
  } else if (op == "ReduceMean") {
    made.op = HostOp::Mean;
    for (const std::int64_t axis : view.integers("axes", 1).value_or(Dims{})) {
      const auto inside = axis_in(axis, in.size());
      if (!inside) return complain(node, "averages over an axis outside the tensor, expected one inside");
      made.numbers.push_back(static_cast<std::int64_t>(*inside));
    }
    if (made.numbers.empty()) return complain(node, "averages over all axes, expected some");
  } else if (op == "Concat") {
    made.op = HostOp::Join;
    const auto axis = axis_in(view.integer("axis", 0), in.size());
    if (!axis) return complain(node, "its axis is outside the tensor, expected one inside");
    made.numbers = {static_cast<std::int64_t>(*axis)};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      TW_TRY(const std::size_t next, expression_of(node, i));
      made.inputs.push_back(next);
    }
  } else if (op == "MatMul" || binary_of(op)) {
    made.op = op == "MatMul" ? HostOp::Product : HostOp::Combine;
    made.combine = binary_of(op);
    TW_TRY(const std::size_t second, expression_of(node, 1));
    made.inputs.push_back(second);
    if (op == "MatMul" && std::min(in.size(), pool_[second].shape.size()) < 2) {
      return complain(node, "multiplies a vector, expected matrices");
    }
  } else if (has_function(op) || op == "Relu") {
    made.op = HostOp::Map;
    made.map = op == "Relu" ? std::function<double(double)>([](double x) { return std::max(x, 0.0); })
                            : std::function<double(double)>(*function_of(node));
  } else {
    made.op = HostOp::Take;
    TW_TRY(made.numbers, places_of(node, in, made.shape));
  }
  expressions_[node.outputs[0]] = add_expression(std::move(made));
  return Done{};
}

}  // namespace tilewright::onnx_file
