// Folding of arithmetic, comparisons and reductions.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "tilewright/workload/onnx_fold.hpp"

namespace tilewright::onnx_file {
namespace {

double unary(std::string_view op, double x) {
  if (op == "Neg") return -x;
  if (op == "Abs") return std::abs(x);
  if (op == "Floor") return std::floor(x);
  if (op == "Ceil") return std::ceil(x);
  if (op == "Round") return std::nearbyint(x);
  if (op == "Sqrt") return std::sqrt(x);
  if (op == "Reciprocal") return x == 0 ? kNan : 1 / x;
  if (op == "Not") return std::isnan(x) ? kNan : static_cast<double>(x == 0);
  return kNan;
}

double modulo(double a, double b, bool like_c) {
  if (b == 0) return kNan;
  const double rest = std::fmod(a, b);
  return !like_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double binary(std::string_view op, double a, double b, bool is_integer) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return b == 0 ? kNan : is_integer ? std::trunc(a / b) : a / b;
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  if (op == "Xor") return (a != 0) != (b != 0);
  return kNan;
}

Values fold_unary(const NodeView& view, const Dims&) {
  const auto x = array_of(view, 0);
  if (!x) return std::nullopt;
  std::vector<double> result = *x->data;
  for (double& element : result) element = unary(kind(view.node), element);
  return result;
}

Values fold_binary(const NodeView& view, const Dims& out) {
  const auto first = array_of(view, 0);
  if (!first || view.node.inputs.size() > kMostElements) return std::nullopt;
  auto result = fill(out, [&](const Dims& at) { return first->at(at); });
  for (std::size_t input = 1; input < view.node.inputs.size(); ++input) {
    const auto next = array_of(view, input);
    if (!next) return std::nullopt;
    const auto other = fill(out, [&](const Dims& at) { return next->at(at); });
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = kind(view.node) == "Mod" ? modulo(result[i], other[i], view.integer("fmod", 0) != 0)
                                           : binary(kind(view.node), result[i], other[i], is_integer_type(first->type));
    }
  }
  return result;
}

Values fold_where(const NodeView& view, const Dims& out) {
  const auto condition = array_of(view, 0), yes = array_of(view, 1), no = array_of(view, 2);
  if (!condition || !yes || !no) return std::nullopt;
  return fill(out, [&](const Dims& at) {
    const double chosen = condition->at(at), a = yes->at(at), b = no->at(at);
    if (std::isnan(chosen)) return a == b ? a : kNan;
    return chosen != 0 ? a : b;
  });
}

// Reductions of a whole list.
Values fold_reduce(const NodeView& view, const Dims& out) {
  const auto data = array_of(view, 0);
  if (!data || product(out) != 1 || data->data->empty()) return std::nullopt;
  const std::string_view op = kind(view.node);
  const auto combine = [&](double a, double b) {
    if (op == "ReduceProd") return a * b;
    return binary(op == "ReduceMax" ? "Max" : op == "ReduceMin" ? "Min" : "Add", a, b, false);
  };
  return std::vector<double>{std::accumulate(data->data->begin() + 1, data->data->end(), data->data->front(), combine)};
}

}  // namespace

Fold arithmetic_fold(std::string_view kind) {
  constexpr std::string_view kUnary[] = {"Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Not"};
  constexpr std::string_view kBinary[] = {
      "Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
      "And", "Or",  "Xor"};
  constexpr std::string_view kReduce[] = {"ReduceProd", "ReduceSum", "ReduceMin", "ReduceMax"};
  const auto is_in = [kind](const auto& list) { return std::ranges::find(list, kind) != std::end(list); };
  if (is_in(kUnary)) return fold_unary;
  if (is_in(kBinary)) return fold_binary;
  if (is_in(kReduce)) return fold_reduce;
  return kind == "Where" ? fold_where : nullptr;
}

}  // namespace tilewright::onnx_file
