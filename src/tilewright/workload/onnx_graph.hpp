// An ONNX model as a flat, checked list of nodes.
//
// Names are resolved to indices, nodes stand in an order in which every tensor is computed before it is read, functions of
// the model are replaced by their nodes, and the graphs inside If, Loop and Scan stand before the node that owns them, each
// in a region of its own. What the file says about shapes is noted on the tensors; onnx_shapes.hpp works out the rest.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/onnx_dims.hpp"
#include "tilewright/workload/read_options.hpp"

namespace onnx {
class AttributeProto;
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace tilewright::onnx_file {

inline constexpr std::size_t kNone = ~std::size_t{0};  // an input or output left out
inline constexpr std::size_t kMostElements = 128;      // of a tensor whose elements we keep; shapes have a handful

struct Tensor {
  std::optional<Dims> shape;                    // nothing: not even the rank is known
  std::int32_t type = 0;                        // TensorProto::DataType, meaningful beside `elements`
  std::optional<std::vector<double>> elements;  // of a small constant; NaN for an element nobody knows
  bool fixed = false;                           // does not depend on the network's inputs: a weight
  std::size_t open = kNone;                     // index into Graph::open: why the shape or an element is unknown
};

// Something that the file leaves open: a dimension of a network input, or the content of a small constant.
struct Open {
  std::string what;    // "input 'x': dimension 2 is 'height', expected a number"
  std::string remedy;  // "give --dim height=N", or nothing
};

using Defaults = std::vector<std::shared_ptr<const onnx::AttributeProto>>;

// A node that stands for a function of the model: where the function's nodes find the attributes they refer to.
struct Call {
  const onnx::NodeProto* node = nullptr;
  const onnx::FunctionProto* function = nullptr;
  const Defaults* defaults = nullptr;
  const Call* caller = nullptr;
};

// A graph inside a node.
struct Body {
  std::string_view attribute;  // "then_branch"
  std::size_t region = 0;
  std::vector<std::size_t> outputs;
};

struct Node {
  std::string op;    // "Conv", "com.microsoft::FusedConv"
  std::string name;  // unique in the graph
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::vector<Body> bodies;
  std::size_t region = 0;
  const onnx::NodeProto* proto = nullptr;
  const Call* call = nullptr;
};

// What the node computes, whichever of the domains we know it comes from: "FusedConv", but "com.microsoft::Attention",
// because ONNX has another Attention, and "some.domain::Conv", because nobody knows what that is.
std::string_view kind(const Node& node);

// Nodes under the control of another node. Region 0 is the graph itself.
struct Region {
  std::string owner;  // "If"
  std::size_t parent = 0;
  bool runs_once = false;
};

struct Graph {
  std::shared_ptr<const onnx::ModelProto> model;  // owns what the nodes point to
  std::deque<Defaults> defaults;
  std::deque<Call> calls;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<Region> regions;
  std::vector<Open> open;
  std::filesystem::path data_folder;  // of external data; empty: it is not read
};

// The Error is a phrase without the file's name.
Result<Graph> read_graph(std::string_view bytes, const ReadOptions& options);

// Names of the dimensions that the model's inputs leave open.
Result<std::vector<std::string>> open_dims(std::string_view bytes);

// Attributes by name; nothing when absent or of another type.
const onnx::AttributeProto* find_attribute(const Node& node, std::string_view name);
std::optional<std::int64_t> integer(const Node& node, std::string_view name);
std::optional<Dims> integers(const Node& node, std::string_view name);
std::optional<std::vector<double>> numbers(const Node& node, std::string_view name);
std::string text(const Node& node, std::string_view name);

// One node with the tensors around it, as the rules see it.
struct NodeView {
  const Graph& graph;
  const Node& node;

  const Tensor* input(std::size_t index) const;                  // nullptr when left out
  const Dims* shape(std::size_t index) const;                    // nullptr when left out or of unknown rank
  const std::vector<double>* elements(std::size_t index) const;  // nullptr unless a small constant
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return onnx_file::integer(node, name).value_or(otherwise);
  }
  // A list that older operator sets have as the attribute `name` and newer ones as input `index`.
  std::optional<Dims> integers(std::string_view name, std::size_t index) const;
};

// `name` with everything replaced that is not a printable UTF-8 character, cut after `most` bytes.
std::string cleaned(std::string_view name, std::size_t most);

// 'name' for an error sentence.
std::string quoted_name(std::string_view name);

}  // namespace tilewright::onnx_file
