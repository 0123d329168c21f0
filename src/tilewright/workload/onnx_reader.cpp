// The ONNX reader: bytes -> flat graph -> shapes -> layers, with everything that is not a layer counted beside them.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/workload/network.hpp"
#include "tilewright/workload/onnx_graph.hpp"
#include "tilewright/workload/onnx_layers.hpp"
#include "tilewright/workload/onnx_others.hpp"
#include "tilewright/workload/onnx_shapes.hpp"

namespace tilewright {
namespace {

using namespace onnx_file;

// Layers whose results reach a tensor. Most tensors share the list of the one they are made from.
using Reach = std::shared_ptr<const std::vector<std::size_t>>;
constexpr std::size_t kMostReach = 20'000'000;    // entries of all lists together
constexpr std::size_t kMostWork = 1'000'000'000;  // entries looked at while merging lists

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const Graph& graph) : graph_(graph), reach_(graph.tensors.size()) {}

  Result<Network> build(std::string name) {
    network_.name = std::move(name);
    for (const Node& node : graph_.nodes) {
      const Reach inputs = reach_of(node);
      TW_TRY(NodeLayers layers, runs_once(graph_, node) ? layers_of({graph_, node}) : NodeLayers{});
      if (layers.layers.empty()) {
        add_other({graph_, node});
        pass_on(node, is_about_shape(node) ? nullptr : inputs);
      } else {
        add_layers(std::move(layers), inputs);
        pass_on(node, list({network_.layers.size() - 1}));
      }
      if (reach_count_ > kMostReach || work_ > kMostWork) return invalid("its layers reach each other in too many ways");
    }
    return std::move(network_);
  }

 private:
  // A shape tells nothing about the values of what it is the shape of.
  static bool is_about_shape(const Node& node) { return kind(node) == "Shape" || kind(node) == "Size"; }

  Reach list(std::vector<std::size_t> layers) {
    reach_count_ += layers.size();
    return std::make_shared<const std::vector<std::size_t>>(std::move(layers));
  }

  Reach merged(const Reach& a, const Reach& b) {
    if (a == b || b == nullptr) return a;
    if (a == nullptr) return b;
    work_ += a->size() + b->size();
    std::vector<std::size_t> both;
    std::ranges::set_union(*a, *b, std::back_inserter(both));
    if (both.size() == a->size()) return a;
    return both.size() == b->size() ? b : list(std::move(both));
  }

  Reach reach_of(const Node& node) {
    Reach reach;
    for (const std::size_t input : node.inputs) {
      if (input != kNone) reach = merged(reach, reach_[input]);
    }
    for (const Body& body : node.bodies) {
      for (const std::size_t output : body.outputs) {
        reach = merged(reach, reach_[output]);
      }
    }
    return reach;
  }

  void pass_on(const Node& node, const Reach& reach) {
    for (const std::size_t output : node.outputs) {
      if (output != kNone) reach_[output] = reach;
    }
  }

  void add_layers(NodeLayers node_layers, const Reach& reach) {
    const std::size_t first = network_.layers.size();
    for (auto& [layer, count] : node_layers.layers) {
      const std::size_t index = network_.layers.size();
      NetworkLayer entry{.layer = std::move(layer), .count = count, .inputs = {}};
      while (!names_.insert(entry.layer.name).second) entry.layer.name += '_';  // a node called like a part of another
      if (reach != nullptr && (index == first || !node_layers.first_reads_alone)) entry.inputs = *reach;
      for (std::size_t earlier = first; earlier < index; ++earlier) entry.inputs.push_back(earlier);
      reach_count_ += entry.inputs.size();
      network_.layers.push_back(std::move(entry));
    }
  }

  void add_other(const NodeView& view) {
    const std::string name = other_name(view);
    const auto [place, is_new] = others_.emplace(name, network_.others.size());
    if (is_new) network_.others.push_back({.name = name, .count = 0, .operations = 0, .operations_known = true});
    OtherOperator& other = network_.others[place->second];
    ++other.count;
    const auto operations = operations_of(view);
    other.operations_known = other.operations_known && operations &&
                             !__builtin_add_overflow(other.operations, operations.value_or(0), &other.operations);
    if (!other.operations_known) other.operations = 0;
    const auto macs = macs_of(view);
    std::int64_t sum = 0;
    const bool is_counted = other.macs && macs && !__builtin_add_overflow(*other.macs, *macs, &sum);
    other.macs = is_counted ? std::optional(sum) : std::nullopt;
  }

  const Graph& graph_;
  std::vector<Reach> reach_;
  std::size_t reach_count_ = 0;
  std::size_t work_ = 0;
  Network network_;
  std::unordered_map<std::string, std::size_t> others_;  // where each name is in network_.others
  std::unordered_set<std::string> names_;
};

Result<Network> read(const std::string& bytes, const std::string& where, const ReadOptions& options) {
  if (options.batch < 1) return invalid("batch is " + std::to_string(options.batch) + ", expected at least 1");
  if (options.batch > kMostDim) {
    return invalid("batch is " + std::to_string(options.batch) + ", expected at most " + std::to_string(kMostDim));
  }
  TW_TRY(Graph graph, read_graph(bytes, options));
  infer_shapes(graph);
  return NetworkBuilder(graph).build(std::filesystem::path(where).stem().string());
}

}  // namespace

Result<Network> network_from_onnx(const std::string& bytes, const std::string& where, const ReadOptions& options) {
  Result<Network> network = read(bytes, where, options);
  if (!network) return Error{network.error().code, where + ": " + network.error().message};
  return check(std::move(network).value(), where);
}

Result<std::vector<std::string>> open_dims_of_onnx(const std::string& bytes, const std::string& where) {
  Result<std::vector<std::string>> names = open_dims(bytes);
  if (!names) return Error{names.error().code, where + ": " + names.error().message};
  return names;
}

}  // namespace tilewright
