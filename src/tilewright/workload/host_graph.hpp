// What lies between the layers of a network and no machine computes: a piece of an ONNX graph as operators on tensors of any
// rank, in single precision. Its inputs and result are integers like those of every step; inside, nothing is rounded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright {

enum class HostOp : std::uint8_t {
  Input,  // of the piece
  Constant,
  Take,       // elements by their places: transposing, slicing, gathering, reshaping
  Join,       // along an axis
  Combine,    // of two tensors, the shorter axes stretched
  Map,        // a function of one number
  Mean,       // over axes, which remain with length one
  Product,    // of matrices, those of the last two axes
  Softmax,    // along an axis
  Normalise,  // to mean 0 and variance 1 over the axes from one on
};

struct HostNode {
  HostOp op = HostOp::Input;
  std::string name = {};                   // of the operator, for people
  std::vector<std::size_t> inputs = {};    // earlier nodes
  std::vector<std::int64_t> shape = {};    // of the result
  std::vector<std::int64_t> numbers = {};  // Take: places; Mean: axes; others: the axis
  std::vector<float> values = {};          // Constant
  double epsilon = 0;                      // Normalise
  std::function<double(double)> map = {};
  std::function<double(double, double)> combine = {};
};

struct HostGraph {
  std::vector<HostNode> nodes;  // those of the inputs first, in their order; the last is the result
  std::size_t input_count = 0;

  // What it costs: multiplications, additions and functions of single numbers; moving an element counts as one, too.
  std::int64_t operations() const;
  std::string operators() const;  // "LayerNormalization, MatMul, Softmax"
};

std::vector<float> evaluate(const HostGraph& graph, const std::vector<const std::vector<float>*>& inputs);

}  // namespace tilewright
