// The order in which the nodes of a graph can be computed.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/result.hpp"

namespace google::protobuf {
template <typename Element>
class RepeatedPtrField;
}
namespace onnx {
class NodeProto;
}

namespace tilewright::onnx_file {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Indices of the nodes so that each comes after those it reads from, otherwise in the file's order. An Error for a cycle and
// for a tensor that two nodes compute.
Result<std::vector<int>> order_of(const Nodes& nodes);

// "node 'conv1'", for an error sentence.
std::string describe(const onnx::NodeProto& node);

}  // namespace tilewright::onnx_file
