// Turns the nested graphs, functions and names of a model into one flat Graph.
#pragma once

#include "tilewright/base/result.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

// Fills everything in `graph` except the model, which must live as long as the graph.
Result<Done> flatten(const onnx::ModelProto& model, const ReadOptions& options, Graph& graph);

}  // namespace tilewright::onnx_file
