#include "tilewright/workload/onnx_flatten.hpp"

#include <onnx/onnx_pb.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/workload/onnx_external.hpp"
#include "tilewright/workload/onnx_order.hpp"
#include "tilewright/workload/onnx_tensor.hpp"

namespace tilewright::onnx_file {
namespace {

// Functions can multiply what is in the file, so size is bounded here and not only where the file is read.
constexpr std::size_t kMostNodes = 200'000;
constexpr std::int64_t kMostParts = 1'000'000;  // inputs, outputs and weights of all nodes
constexpr int kMostAttributes = 100;            // of one node
constexpr int kMostNesting = 16;                // functions in functions, graphs in nodes
constexpr std::size_t kMostName = 250;          // bytes

using FunctionKey = std::pair<std::string, std::string>;

FunctionKey key_of(const std::string& domain, const std::string& name) { return {domain == "ai.onnx" ? "" : domain, name}; }

// The tensors a list of nodes may read by name, innermost first.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string, std::size_t> tensors;
  std::unordered_map<std::string, const onnx::TypeProto*> declared;
};

struct Place {
  std::size_t region = 0;
  const Call* call = nullptr;
  std::string prefix;  // of node names
  int depth = 0;
};

std::optional<std::size_t> find_tensor(const Scope& scope, const std::string& name) {
  for (const Scope* at = &scope; at != nullptr; at = at->outer) {
    const auto found = at->tensors.find(name);
    if (found != at->tensors.end()) return found->second;
  }
  return std::nullopt;
}

void declare(const onnx::GraphProto& graph, Scope& scope) {
  for (const auto& value : graph.value_info()) scope.declared[value.name()] = &value.type();
  for (const auto& value : graph.output()) scope.declared[value.name()] = &value.type();
}

// Functions of newer models give defaults to their attributes, in a field that older protobuf headers do not know.
template <typename FunctionProto>
Defaults defaults_of(const FunctionProto& function) {
  Defaults defaults;
  if constexpr (requires { function.attribute_proto(); }) {
    for (const auto& attribute : function.attribute_proto()) {
      defaults.push_back(std::make_shared<const onnx::AttributeProto>(attribute));
    }
  } else {
    constexpr int kAttributeProto = 11;
    const auto& fields = function.unknown_fields();
    for (int i = 0; i < fields.field_count(); ++i) {
      const auto& field = fields.field(i);
      if (field.number() != kAttributeProto || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
        continue;
      }
      auto attribute = std::make_shared<onnx::AttributeProto>();
      if (attribute->ParseFromString(field.length_delimited())) defaults.push_back(std::move(attribute));
    }
  }
  return defaults;
}

class Flattener {
 public:
  Flattener(Graph& graph, const ReadOptions& options) : graph_(graph), options_(options) {}

  Result<Done> flatten(const onnx::ModelProto& model) {
    add_functions(model);
    graph_.regions.push_back({.owner = "", .parent = 0, .runs_once = true});
    Scope scope;
    TW_TRY(Done weights, add_weights(model.graph(), scope));
    TW_TRY(Done inputs, add_network_inputs(model.graph(), scope));
    declare(model.graph(), scope);
    return add_nodes(model.graph().node(), scope, {});
  }

 private:
  // Overloads share one name and a call does not tell which it means, so calls of those stay nodes.
  void add_functions(const onnx::ModelProto& model) {
    std::map<FunctionKey, int> copies;
    for (const auto& function : model.functions()) ++copies[key_of(function.domain(), function.name())];
    for (const auto& function : model.functions()) {
      const FunctionKey key = key_of(function.domain(), function.name());
      if (copies[key] > 1) continue;
      graph_.defaults.push_back(defaults_of(function));
      functions_[key] = {&function, &graph_.defaults.back()};
    }
  }

  Result<Done> grow(std::int64_t parts) {
    parts_ += parts;
    if (parts_ <= kMostParts && graph_.nodes.size() < kMostNodes) return Done{};
    return invalid("it has more than " + std::to_string(kMostNodes) + " nodes or " + std::to_string(kMostParts) +
                   " tensors");
  }

  std::size_t add_tensor(Tensor tensor) {
    graph_.tensors.push_back(std::move(tensor));
    return graph_.tensors.size() - 1;
  }

  Result<Done> add_weights(const onnx::GraphProto& graph, Scope& scope) {
    TW_TRY(Done room, grow(graph.initializer_size() + graph.sparse_initializer_size()));
    for (const auto& weight : graph.initializer()) {
      TW_TRY(Tensor tensor, tensor_of(weight, options_.data_folder));
      const bool may_be_absent = !tensor.elements && is_external(weight);
      scope.tensors[weight.name()] = add_tensor(std::move(tensor));
      if (!may_be_absent) continue;
      if (const auto why = why_absent(weight, options_.data_folder)) absent_.emplace_back(graph_.tensors.size() - 1, *why);
    }
    for (const auto& weight : graph.sparse_initializer()) {
      TW_TRY(Tensor tensor, tensor_of(weight));
      scope.tensors[weight.values().name()] = add_tensor(std::move(tensor));
    }
    return Done{};
  }

  // Older files list every weight among the inputs too; those are not the network's.
  Result<Done> add_network_inputs(const onnx::GraphProto& graph, Scope& scope) {
    for (const auto& input : graph.input()) {
      if (!scope.tensors.contains(input.name())) note_batch(input, options_.batch, symbols_);
    }
    TW_TRY(Done known, check_dims(options_.dims, open_dims(graph), ""));
    for (const NamedDim& dim : options_.dims) symbols_[dim.name] = dim.size;
    for (const auto& input : graph.input()) {
      if (scope.tensors.contains(input.name())) continue;
      TW_TRY(Tensor tensor, network_input(input, options_.batch, symbols_, graph_.open));
      scope.tensors[input.name()] = add_tensor(std::move(tensor));
    }
    // After the inputs, because an open dimension is the likelier reason.
    for (const auto& [index, why] : absent_) {
      graph_.tensors[index].open = graph_.open.size();
      graph_.open.push_back({why, ""});
    }
    return Done{};
  }

  Result<Done> add_nodes(const Nodes& nodes, Scope& scope, const Place& place) {
    if (place.depth > kMostNesting) return invalid("functions and graphs nest deeper than " + std::to_string(kMostNesting));
    TW_TRY(Done room, grow(nodes.size()));
    TW_TRY(const std::vector<int> order, order_of(nodes));
    for (const int index : order) {
      const onnx::NodeProto& node = nodes.Get(index);
      TW_TRY(Done more_room, grow(node.input_size() + node.output_size()));
      if (node.attribute_size() > kMostAttributes) {
        return invalid(describe(node) + " has " + std::to_string(node.attribute_size()) + " attributes, expected at most " +
                       std::to_string(kMostAttributes));
      }
      TW_TRY(std::vector<std::size_t> inputs, inputs_of(node, scope));
      const auto function = functions_.find(key_of(node.domain(), node.op_type()));
      TW_TRY(Done added, function == functions_.end() ? add_node(node, std::move(inputs), scope, place)
                                                      : add_call(node, function->second, inputs, scope, place));
    }
    return Done{};
  }

  static Result<std::vector<std::size_t>> inputs_of(const onnx::NodeProto& node, const Scope& scope) {
    std::vector<std::size_t> inputs;
    for (const auto& name : node.input()) {
      const auto tensor = name.empty() ? std::optional(kNone) : find_tensor(scope, name);
      if (!tensor) return invalid(describe(node) + " reads " + quoted_name(name) + ", which nothing computes");
      inputs.push_back(*tensor);
    }
    return inputs;
  }

  Result<Done> add_node(const onnx::NodeProto& proto, std::vector<std::size_t> inputs, Scope& scope, const Place& place) {
    Node node;
    const std::string domain = key_of(proto.domain(), "").first;
    node.op = cleaned(domain.empty() ? proto.op_type() : domain + "::" + proto.op_type(), kMostName);
    node.inputs = std::move(inputs);
    node.region = place.region;
    node.proto = &proto;
    node.call = place.call;
    for (const auto& attribute : proto.attribute()) {
      if (attribute.has_g()) {
        TW_TRY(Body body, add_body(attribute.name(), attribute.g(), node.op, scope, place));
        node.bodies.push_back(std::move(body));
      }
      for (const auto& graph : attribute.graphs()) {
        TW_TRY(Body body, add_body(attribute.name(), graph, node.op, scope, place));
        node.bodies.push_back(std::move(body));
      }
    }
    for (const auto& name : proto.output()) {
      node.outputs.push_back(kNone);
      if (name.empty()) continue;
      Tensor tensor;
      const auto declared = scope.declared.find(name);
      if (declared != scope.declared.end()) tensor.shape = declared_shape(*declared->second, symbols_);
      node.outputs.back() = add_tensor(std::move(tensor));
      scope.tensors[name] = node.outputs.back();
    }
    node.name = unique_name(proto, place);
    graph_.nodes.push_back(std::move(node));
    return Done{};
  }

  Result<Body> add_body(const std::string& attribute, const onnx::GraphProto& graph, const std::string& owner,
                        const Scope& outer, const Place& place) {
    TW_TRY(Done room, grow(graph.input_size() + graph.output_size() + graph.value_info_size()));
    Scope scope;
    scope.outer = &outer;
    graph_.regions.push_back({.owner = owner, .parent = place.region, .runs_once = false});
    Body body{.attribute = attribute, .region = graph_.regions.size() - 1, .outputs = {}};
    TW_TRY(Done weights, add_weights(graph, scope));
    for (const auto& input : graph.input()) {
      Tensor tensor;
      tensor.shape = declared_shape(input.type(), symbols_);
      scope.tensors[input.name()] = add_tensor(std::move(tensor));
    }
    declare(graph, scope);
    TW_TRY(Done added, add_nodes(graph.node(), scope, {body.region, place.call, place.prefix, place.depth + 1}));
    for (const auto& output : graph.output()) {
      const auto tensor = find_tensor(scope, output.name());
      if (!tensor || *tensor == kNone) {
        return invalid("nothing computes " + quoted_name(output.name()) + ", an output of a graph inside " +
                       quoted_name(owner));
      }
      body.outputs.push_back(*tensor);
    }
    return body;
  }

  struct Function {
    const onnx::FunctionProto* proto = nullptr;
    const Defaults* defaults = nullptr;
  };

  Result<Done> add_call(const onnx::NodeProto& node, const Function& function, const std::vector<std::size_t>& inputs,
                        Scope& scope, const Place& place) {
    const onnx::FunctionProto& proto = *function.proto;
    for (const Call* call = place.call; call != nullptr; call = call->caller) {
      if (call->function == &proto) return invalid("function " + quoted_name(proto.name()) + " calls itself");
    }
    TW_TRY(Done room, grow(proto.input_size()));
    Scope inside;
    for (int i = 0; i < proto.input_size(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      inside.tensors[proto.input(i)] = index < inputs.size() ? inputs[index] : kNone;
    }
    graph_.calls.push_back({&node, &proto, function.defaults, place.call});
    const std::string prefix = cleaned(place.prefix + (node.name().empty() ? proto.name() : node.name()), kMostName) + "/";
    TW_TRY(Done added, add_nodes(proto.node(), inside, {place.region, &graph_.calls.back(), prefix, place.depth + 1}));
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      const auto tensor = i < proto.output_size() ? find_tensor(inside, proto.output(i)) : std::nullopt;
      if (!tensor || *tensor == kNone) {
        return invalid("function " + quoted_name(proto.name()) + " does not compute " + quoted_name(node.output(i)));
      }
      scope.tensors[node.output(i)] = *tensor;
    }
    return Done{};
  }

  std::string unique_name(const onnx::NodeProto& node, const Place& place) {
    std::string name = node.name();
    if (name.empty() && node.output_size() > 0) name = node.output(0);
    if (name.empty()) name = node.op_type() + "_" + std::to_string(graph_.nodes.size());
    name = place.prefix + cleaned(name, kMostName);
    std::string unique = name;
    for (int& copies = copies_[name]; !names_.insert(unique).second;) unique = name + "_" + std::to_string(++copies + 1);
    return unique;
  }

  Graph& graph_;
  const ReadOptions& options_;
  std::vector<std::pair<std::size_t, std::string>> absent_;  // small constants whose content is not there, and why
  std::int64_t parts_ = 0;
  std::map<FunctionKey, Function> functions_;
  Symbols symbols_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> copies_;
};

}  // namespace

Result<Done> flatten(const onnx::ModelProto& model, const ReadOptions& options, Graph& graph) {
  return Flattener(graph, options).flatten(model);
}

}  // namespace tilewright::onnx_file
