// Operators that are no layers: how they are listed and how much arithmetic they do.
//
// One addition, multiplication, comparison or value of a function is one operation, so a multiply-accumulate is two.
//   moving, selecting, making data   0
//   elementwise                      operations per element (onnx_elementwise.cpp) x elements of the result
//   pool                             elements of the kernel x elements of the result
//   reduction, global pool, argmax   elements of the input; twice that when each is first squared or the like
//   local response normalisation     (window + 3) x elements of the result
//   resize, sample                   2 x taps x elements of the result: 2 taps per axis that changes when linear, 4 when
//                                    cubic; none when nearest
//   deformable convolution           its multiply-accumulates; where they read depends on data, so it is no layer
// What depends on data (sorting, loops) or has no rule is unknown.
#pragma once

#include <optional>
#include <string>

#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

// Arithmetic operations of a node that is not a layer; nothing when unknown.
std::optional<std::int64_t> operations_of(const NodeView& view);

// The multiply-accumulates among them: none for an operator of another kind, nothing when they are unknown.
std::optional<std::int64_t> macs_of(const NodeView& view);

// "MaxPool"; "Conv (shape unknown)" for what would otherwise be a layer; "Relu (inside Loop)".
std::string other_name(const NodeView& view);

// True when the node runs exactly once whenever the network does.
bool runs_once(const Graph& graph, const Node& node);

}  // namespace tilewright::onnx_file
