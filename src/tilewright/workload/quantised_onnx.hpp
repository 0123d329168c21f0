// From the nodes of an ONNX model to the steps of a Draft. Inside, every tensor has its real values: integers of a quantised
// model stand for (integer - zero point) * scale, and QuantizeLinear is a clip to what its integers can express.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/workload/onnx_graph.hpp"
#include "tilewright/workload/quantised_draft.hpp"
#include "tilewright/workload/quantised_onnx_weights.hpp"

namespace tilewright::onnx_file {

class DraftConverter {
 public:
  DraftConverter(const Graph& graph, const Weights& weights) : graph_(graph), weights_(weights) {}

  // An Error is a phrase without the file's name.
  Result<Draft> convert(std::string name);

  // A quantised tensor's integers q mean (q - zero) * scale. One scale, or one per channel.
  struct Scale {
    std::vector<float> scale;
    std::vector<float> zero;
  };

 private:
  // quantised_onnx.cpp: the graph
  Result<Done> add_input();
  Result<Done> convert_node(const Node& node);
  Result<Done> convert_to_steps(const Node& node);
  bool is_output(std::size_t tensor) const;
  Result<bool> reads_weights(const Node& node);
  Result<Done> finish();
  Error complain(const Node& node, const std::string& what) const;
  std::optional<std::size_t> step_of(const Node& node, std::size_t input) const;  // the step that computes an input
  const TensorShape& shape_of(std::size_t step) const { return shapes_[step]; }
  Result<std::optional<Constant>> constant(const Node& node, std::size_t input);
  Result<Constant> needed_constant(const Node& node, std::size_t input, std::string_view what);
  Result<Scale> scale_of(const Node& node, std::size_t scale_input, std::size_t zero_input);
  std::size_t readers_of(std::size_t tensor) const;  // nodes that use the values, and the caller if it is a result
  std::size_t add(const Node& node, StepKind kind, std::vector<std::size_t> inputs, const TensorShape& shape);
  void set(const Node& node, std::size_t step) { steps_[node.outputs[0]] = step; }
  std::string name_of_part(const Node& node, std::string_view part) const;

  // quantised_onnx_products.cpp: convolutions, matrix products, and what can become part of them
  Result<Done> convert_convolution(const Node& node);
  Result<Done> convert_matrix(const Node& node);
  Result<Done> convert_normalisation(const Node& node);
  Result<Done> convert_arithmetic(const Node& node);  // Add, Sub, Mul, Div
  Result<std::size_t> add_layer(const Node& node, Layer layer, Constant weight, std::vector<double> bias);
  Result<std::vector<double>> per_channel(const Node& node, const Constant& constant, std::size_t input);
  Result<Done> scale_channels(const Node& node, std::size_t input, const std::vector<double>& factor,
                              const std::vector<double>& addend);
  Result<Done> clip_to_integers(const Node& node, std::size_t step, std::size_t scale_input, std::size_t zero_input);
  bool is_within(std::size_t step, double low, double high) const;
  // Where the network is given integers: what they mean is told by the first node that reads them.
  Result<Done> read_integers(const Node& node, std::size_t scale_input, std::size_t zero_input);

  // quantised_onnx_others.cpp: everything else
  Result<Done> convert_clip(const Node& node);
  Result<Done> convert_pool(const Node& node);
  Result<Done> convert_mean(const Node& node);
  Result<Done> convert_shape_change(const Node& node);
  Result<Done> convert_concat(const Node& node);
  Result<Done> convert_pad(const Node& node);
  Result<Done> convert_quantise(const Node& node);
  Result<Done> convert_function(const Node& node);
  Result<Done> convert_constant(const Node& node);  // constants made from constants
  Result<Done> convert_filled(const Node& node);    // ConstantOfShape

  // quantised_onnx_host.cpp: what only the host computes, as expressions until a product reads them
  bool reads_expression(const Node& node) const;
  bool is_rows(const Node& node, std::size_t input) const;
  std::size_t add_expression(HostNode node);
  Result<std::size_t> expression_of(const Node& node, std::size_t input);
  Result<std::size_t> step_for(const Node& node, std::size_t input, const TensorShape& shape);
  Result<Done> settle(const Node& node, std::size_t input, bool as_rows);
  Result<Done> settle_sum(const Node& node);
  Result<std::vector<std::int64_t>> places_of(const Node& node, const Dims& in, const Dims& out);
  Result<Done> convert_split(const Node& node, const HostNode& like, const Dims& in);
  Result<Done> convert_normalised(const Node& node, HostNode made);
  Result<Done> convert_host(const Node& node);

  const Graph& graph_;
  const Weights& weights_;
  std::vector<HostNode> pool_;                      // expressions, each after those it reads
  std::map<std::size_t, std::size_t> expressions_;  // by tensor: of those that are no step
  std::map<std::size_t, std::string> named_;        // by tensor: the node that computes an expression
  std::map<std::size_t, std::size_t> leaves_;       // by tensor: of those that are
  std::map<std::size_t, std::size_t> leaf_steps_;   // by expression
  Draft draft_;
  std::vector<TensorShape> shapes_;             // by step
  std::map<std::size_t, std::size_t> steps_;    // by tensor
  std::map<std::size_t, Constant> constants_;   // computed ones, by tensor
  std::map<std::size_t, double> units_;         // scale of the integers a tensor holds, by tensor
  std::map<std::size_t, std::size_t> readers_;  // by tensor
  std::map<std::string, std::size_t> names_;    // tensors by name
};

// f of an operator of one argument that is looked up in a table; nothing when it is none.
std::optional<std::function<double(double)>> function_of(const Node& node);
bool has_function(std::string_view kind);

// Whether the host has a form of it.
bool is_host_operator(std::string_view op);
bool binary_operator(std::string_view op);  // Add, Sub, Mul, Div, Pow
// A tensor as vectors along its last axis.
TensorShape rows_of(const Dims& dims);

// Four dimensions of a tensor; nothing for other ranks than 2 to 4 and for unknown sizes. Three are a batch
// of channels of one row.
std::optional<TensorShape> four_dims(const Dims* dims);

}  // namespace tilewright::onnx_file
