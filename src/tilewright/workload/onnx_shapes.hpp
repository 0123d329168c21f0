// Shapes and small constants of every tensor, worked out from the network's inputs.
//
// The rules are our own, for all operator sets alike: an attribute that became an input in a later set is looked up in both
// places. Where a rule is missing or something is unknown, the shape the file declares stands.
#pragma once

#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

void infer_shapes(Graph& graph);

// Shapes of a node's outputs; a list that is too short leaves the rest unknown.
using Shapes = std::vector<std::optional<Dims>>;
using ShapeRule = Shapes (*)(const NodeView&);

// The rule for an operator, from the family each file is about; nullptr when it is not of that family.
ShapeRule elementwise_rule(std::string_view kind);
ShapeRule layout_rule(std::string_view kind);
ShapeRule source_rule(std::string_view kind);
ShapeRule window_rule(std::string_view kind);

// What a list of dimensions that the graph computes says; entries it does not know are kUnknown. Nothing when not even its
// length is known.
std::optional<Dims> list_of(const NodeView& view, std::size_t input);

// How many elements start, start + step, … lie before end; both count from the end of the axis when negative and are brought
// inside it.
std::int64_t slice_size(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step);

}  // namespace tilewright::onnx_file
