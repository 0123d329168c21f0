#include "tilewright/workload/onnx_elementwise.hpp"

#include <array>
#include <unordered_map>

#include "tilewright/workload/onnx_shapes.hpp"

namespace tilewright::onnx_file {
namespace {

using enum Elementwise::Result;

// A softmax is maximum, difference, exponential, sum, quotient; a normalisation is sum, difference, square, sum, scaling by
// the deviation, and where it has them scale and shift. Copies and bookkeeping are no arithmetic.
constexpr std::array kElementwise{
    Elementwise{"Abs"},
    Elementwise{"Acos"},
    Elementwise{"Acosh"},
    Elementwise{"Asin"},
    Elementwise{"Asinh"},
    Elementwise{"Atan"},
    Elementwise{"Atanh"},
    Elementwise{"BitwiseNot"},
    Elementwise{"Ceil"},
    Elementwise{"Celu"},
    Elementwise{"Clip"},
    Elementwise{"Cos"},
    Elementwise{"Cosh"},
    Elementwise{"CumSum"},
    Elementwise{"Elu"},
    Elementwise{"Erf"},
    Elementwise{"Exp"},
    Elementwise{"FastGelu"},
    Elementwise{"Floor"},
    Elementwise{"Gelu"},
    Elementwise{"HardSigmoid"},
    Elementwise{"HardSwish"},
    Elementwise{"Hardmax"},
    Elementwise{"IsInf"},
    Elementwise{"IsNaN"},
    Elementwise{"LeakyRelu"},
    Elementwise{"Log"},
    Elementwise{"Mish"},
    Elementwise{"Neg"},
    Elementwise{"Not"},
    Elementwise{"PRelu"},
    Elementwise{"QLinearLeakyRelu"},
    Elementwise{"QLinearSigmoid"},
    Elementwise{"QuickGelu"},
    Elementwise{"Reciprocal"},
    Elementwise{"Relu"},
    Elementwise{"Round"},
    Elementwise{"Selu"},
    Elementwise{"Shrink"},
    Elementwise{"Sigmoid"},
    Elementwise{"Sign"},
    Elementwise{"Sin"},
    Elementwise{"Sinh"},
    Elementwise{"Softplus"},
    Elementwise{"Softsign"},
    Elementwise{"Sqrt"},
    Elementwise{"Swish"},
    Elementwise{"Tan"},
    Elementwise{"Tanh"},
    Elementwise{"ThresholdedRelu"},
    Elementwise{"BatchNormalization", LikeFirst, 2},
    Elementwise{"BiasGelu", LikeFirst, 2},
    Elementwise{"DequantizeLinear", LikeFirst, 2},
    Elementwise{"DynamicQuantizeLinear", LikeFirst, 4},
    Elementwise{"GroupNorm", LikeFirst, 7},
    Elementwise{"GroupNormalization", LikeFirst, 7},
    Elementwise{"InstanceNormalization", LikeFirst, 7},
    Elementwise{"LayerNormalization", LikeFirst, 7},
    Elementwise{"LogSoftmax", LikeFirst, 5},
    Elementwise{"LpNormalization", LikeFirst, 3},
    Elementwise{"MeanVarianceNormalization", LikeFirst, 5},
    Elementwise{"QLinearSoftmax", LikeFirst, 5},
    Elementwise{"QuantizeLinear", LikeFirst, 2},
    Elementwise{"RMSNormalization", LikeFirst, 4},
    Elementwise{"RotaryEmbedding", LikeFirst, 3},
    Elementwise{"SimplifiedLayerNormalization", LikeFirst, 4},
    Elementwise{"SkipLayerNormalization", LikeFirst, 8},
    Elementwise{"SkipSimplifiedLayerNormalization", LikeFirst, 5},
    Elementwise{"Softmax", LikeFirst, 5},
    Elementwise{"Bernoulli", LikeFirst, 1},
    Elementwise{"RandomNormalLike", LikeFirst, 1},
    Elementwise{"RandomUniformLike", LikeFirst, 1},
    Elementwise{"Cast", LikeFirst, 0},
    Elementwise{"CastLike", LikeFirst, 0},
    Elementwise{"Dropout", LikeFirst, 0},
    Elementwise{"EyeLike", LikeFirst, 0},
    Elementwise{"Identity", LikeFirst, 0},
    Elementwise{"ReverseSequence", LikeFirst, 0},
    Elementwise{"Scatter", LikeFirst, 0},
    Elementwise{"ScatterElements", LikeFirst, 0},
    Elementwise{"ScatterND", LikeFirst, 0},
    Elementwise{"Trilu", LikeFirst, 0},
    Elementwise{"Add", Broadcast},
    Elementwise{"And", Broadcast},
    Elementwise{"BitShift", Broadcast},
    Elementwise{"BitwiseAnd", Broadcast},
    Elementwise{"BitwiseOr", Broadcast},
    Elementwise{"BitwiseXor", Broadcast},
    Elementwise{"Div", Broadcast},
    Elementwise{"Equal", Broadcast},
    Elementwise{"Greater", Broadcast},
    Elementwise{"GreaterOrEqual", Broadcast},
    Elementwise{"Less", Broadcast},
    Elementwise{"LessOrEqual", Broadcast},
    Elementwise{"Max", Broadcast},
    Elementwise{"Mean", Broadcast},
    Elementwise{"Min", Broadcast},
    Elementwise{"Mod", Broadcast},
    Elementwise{"Mul", Broadcast},
    Elementwise{"Or", Broadcast},
    Elementwise{"Pow", Broadcast},
    Elementwise{"QLinearAdd", Broadcast},
    Elementwise{"QLinearMul", Broadcast},
    Elementwise{"Sub", Broadcast},
    Elementwise{"Sum", Broadcast},
    Elementwise{"Where", Broadcast},
    Elementwise{"Xor", Broadcast},
};

Shapes like_first(const NodeView& view) {
  const std::string_view op = kind(view.node);
  // The scale and the zero are single numbers, whatever is quantised.
  if (op == "DynamicQuantizeLinear") {
    return {view.shape(0) == nullptr ? std::optional<Dims>{} : *view.shape(0), Dims{}, Dims{}};
  }
  const Dims* first = view.shape(0);
  if (first == nullptr) return {};
  if (op == "Dropout") return {*first, *first};  // the second is the mask
  // Between the result and the sum it was made from stand the statistics, which inference does without.
  if (op.starts_with("Skip")) return {*first, std::nullopt, std::nullopt, *first};
  return {*first};
}

Shapes like_all(const NodeView& view) {
  // Before operator set 7 the second input was fitted into the first at an axis the node names.
  if (view.integer("broadcast", 0) != 0) return like_first(view);
  const bool is_quantised = kind(view.node).starts_with("QLinear");  // a, its scale and zero, b, its scale and zero, …
  const std::size_t step = is_quantised ? 3 : 1;
  const std::size_t count = is_quantised ? 2 : view.node.inputs.size();
  std::optional<Dims> result = Dims{};
  for (std::size_t i = 0; i < count; ++i) {
    const Dims* shape = view.shape(i * step);
    if (shape == nullptr) return {};
    result = broadcast(*result, *shape);
    if (!result) return {};
  }
  return {result};
}

}  // namespace

const Elementwise* find_elementwise(std::string_view kind) {
  static const auto table = [] {
    std::unordered_map<std::string_view, const Elementwise*> built;
    for (const Elementwise& entry : kElementwise) built.emplace(entry.op, &entry);
    return built;
  }();
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

bool is_variadic(std::string_view kind) { return kind == "Sum" || kind == "Mean" || kind == "Max" || kind == "Min"; }

ShapeRule elementwise_rule(std::string_view kind) {
  const Elementwise* entry = find_elementwise(kind);
  if (entry == nullptr) return nullptr;
  return entry->result == Broadcast ? like_all : like_first;
}

}  // namespace tilewright::onnx_file
