// Nodes as layers of a Network: convolutions and matrix products.
#pragma once

#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/layer.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

struct NodeLayers {
  std::vector<Layer> layers;       // one, or the products an attention consists of, in the order they are computed
  bool first_reads_alone = false;  // only the first reads the node's inputs, the others read its result
};

// Empty when the node is not a layer: another operator, a convolution over three axes, or one whose shape the file does not
// tell. An Error for a shape that cannot be, and for one that an open dimension of a network input leaves unknown.
Result<NodeLayers> layers_of(const NodeView& view);

}  // namespace tilewright::onnx_file
