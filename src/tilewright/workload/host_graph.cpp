#include "tilewright/workload/host_graph.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using Sizes = std::vector<std::int64_t>;
using Numbers = std::vector<float>;

std::int64_t count_of(const Sizes& shape, std::size_t first = 0) {
  std::int64_t count = 1;
  for (std::size_t axis = first; axis < shape.size(); ++axis) count *= shape[axis];
  return count;
}

// Calls visit(place in the result, place in an operand) for all elements of `shape`; axes of length one are stretched.
template <typename Visit>
void walk(const Sizes& shape, const Sizes& operand, Visit visit) {
  Sizes strides(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t back = 1; back <= operand.size(); ++back) {
    const std::int64_t size = operand[operand.size() - back];
    strides[shape.size() - back] = size == 1 ? 0 : stride;
    stride *= size;
  }
  Sizes at(shape.size(), 0);
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < count_of(shape); ++i) {
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(place));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      place += strides[axis];
      if (++at[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

Numbers combined(const HostNode& node, const Sizes& a, const Numbers& left, const Sizes& b, const Numbers& right) {
  Numbers result(static_cast<std::size_t>(count_of(node.shape)));
  walk(node.shape, a, [&](std::size_t to, std::size_t from) { result[to] = left[from]; });
  walk(node.shape, b,
       [&](std::size_t to, std::size_t from) { result[to] = static_cast<float>(node.combine(result[to], right[from])); });
  return result;
}

Numbers mean_of(const HostNode& node, const Sizes& shape, const Numbers& data) {
  Sizes kept = shape;
  for (const std::int64_t axis : node.numbers) kept[static_cast<std::size_t>(axis)] = 1;
  std::vector<double> sums(static_cast<std::size_t>(count_of(kept)), 0);
  walk(shape, kept, [&](std::size_t from, std::size_t to) { sums[to] += data[from]; });
  const double share = static_cast<double>(sums.size()) / static_cast<double>(data.size());
  Numbers result;
  for (const double sum : sums) result.push_back(static_cast<float>(sum * share));
  return result;
}

Numbers joined(const HostNode& node, const std::vector<const HostNode*>& inputs, const std::vector<const Numbers*>& data) {
  const auto axis = static_cast<std::size_t>(node.numbers[0]);
  const std::int64_t outer = count_of(node.shape) / count_of(node.shape, axis);
  Numbers result;
  result.reserve(static_cast<std::size_t>(count_of(node.shape)));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::int64_t piece = count_of(inputs[i]->shape, axis);
      const auto first = data[i]->begin() + o * piece;
      result.insert(result.end(), first, first + piece);
    }
  }
  return result;
}

Numbers multiplied(const HostNode& node, const Sizes& a, const Numbers& left, const Sizes& b, const Numbers& right) {
  const auto rows = static_cast<std::size_t>(a[a.size() - 2]), inner = static_cast<std::size_t>(a.back());
  const auto columns = static_cast<std::size_t>(b.back());
  const Sizes matrices(node.shape.begin(), node.shape.end() - 2);
  const auto places = [&](const Sizes& operand) {
    std::vector<std::size_t> list;
    walk(matrices, Sizes(operand.begin(), operand.end() - 2), [&](std::size_t, std::size_t from) { list.push_back(from); });
    return list;
  };
  const std::vector<std::size_t> lefts = places(a), rights = places(b);
  Numbers result(static_cast<std::size_t>(count_of(node.shape)), 0);
  for (std::size_t m = 0; m < lefts.size(); ++m) {
    for (std::size_t r = 0; r < rows; ++r) {
      float* const to = result.data() + (m * rows + r) * columns;
      for (std::size_t k = 0; k < inner; ++k) {
        const float value = left[(lefts[m] * rows + r) * inner + k];
        const float* const from = right.data() + (rights[m] * inner + k) * columns;
        for (std::size_t c = 0; c < columns; ++c) to[c] += value * from[c];
      }
    }
  }
  return result;
}

Numbers softmax(const HostNode& node, const Numbers& data) {
  const auto axis = static_cast<std::size_t>(node.numbers[0]);
  const auto size = static_cast<std::size_t>(node.shape[axis]),
             inner = static_cast<std::size_t>(count_of(node.shape, axis + 1));
  Numbers result(data.size());
  for (std::size_t first = 0; first < data.size(); first += size * inner) {
    for (std::size_t i = first; i < first + inner; ++i) {
      double most = data[i], sum = 0;
      for (std::size_t k = 0; k < size; ++k) most = std::max<double>(most, data[i + k * inner]);
      for (std::size_t k = 0; k < size; ++k) sum += std::exp(data[i + k * inner] - most);
      for (std::size_t k = 0; k < size; ++k) {
        result[i + k * inner] = static_cast<float>(std::exp(data[i + k * inner] - most) / sum);
      }
    }
  }
  return result;
}

Numbers normalised(const HostNode& node, const Numbers& data) {
  const auto size = static_cast<std::size_t>(count_of(node.shape, static_cast<std::size_t>(node.numbers[0])));
  Numbers result(data.size());
  for (std::size_t first = 0; first < data.size(); first += size) {
    double sum = 0, square = 0;
    for (std::size_t i = first; i < first + size; ++i) sum += data[i];
    const double mean = sum / static_cast<double>(size);
    for (std::size_t i = first; i < first + size; ++i) square += (data[i] - mean) * (data[i] - mean);
    const double factor = 1 / std::sqrt(square / static_cast<double>(size) + node.epsilon);
    for (std::size_t i = first; i < first + size; ++i) result[i] = static_cast<float>((data[i] - mean) * factor);
  }
  return result;
}

Numbers computed(const HostGraph& graph, const HostNode& node, const std::vector<Numbers>& known) {
  std::vector<const HostNode*> from;
  std::vector<const Numbers*> data;
  for (const std::size_t input : node.inputs) {
    from.push_back(&graph.nodes[input]);
    data.push_back(&known[input]);
  }
  Numbers result;
  switch (node.op) {
    case HostOp::Take:
      for (const std::int64_t place : node.numbers) result.push_back((*data[0])[static_cast<std::size_t>(place)]);
      return node.numbers.empty() ? *data[0] : result;
    case HostOp::Join:
      return joined(node, from, data);
    case HostOp::Combine:
      return combined(node, from[0]->shape, *data[0], from[1]->shape, *data[1]);
    case HostOp::Map:
      for (const float number : *data[0]) result.push_back(static_cast<float>(node.map(number)));
      return result;
    case HostOp::Mean:
      return mean_of(node, from[0]->shape, *data[0]);
    case HostOp::Product:
      return multiplied(node, from[0]->shape, *data[0], from[1]->shape, *data[1]);
    case HostOp::Softmax:
      return softmax(node, *data[0]);
    case HostOp::Normalise:
      return normalised(node, *data[0]);
    default:
      return node.values;
  }
}

}  // namespace

std::int64_t HostGraph::operations() const {
  std::int64_t sum = 0;
  for (const HostNode& node : nodes) {
    const std::int64_t count = count_of(node.shape);
    if (node.op == HostOp::Input || node.op == HostOp::Constant) continue;
    if (node.op == HostOp::Product) {
      sum += 2 * count * nodes[node.inputs[0]].shape.back();
    } else if (node.op == HostOp::Mean) {
      sum += count_of(nodes[node.inputs[0]].shape);
    } else {
      sum += node.op == HostOp::Softmax || node.op == HostOp::Normalise ? 5 * count : count;
    }
  }
  return sum;
}

std::string HostGraph::operators() const {
  std::set<std::string> names;
  for (const HostNode& node : nodes) {
    if (node.op != HostOp::Input && node.op != HostOp::Constant) names.insert(node.name);
  }
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

std::vector<float> evaluate(const HostGraph& graph, const std::vector<const std::vector<float>*>& inputs) {
  std::vector<Numbers> known(graph.nodes.size());
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    known[index] = index < graph.input_count ? *inputs[index] : computed(graph, graph.nodes[index], known);
  }
  return std::move(known.back());
}

}  // namespace tilewright
