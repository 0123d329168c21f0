// Nodes as layers of a Network: convolutions and matrix products.
//
// A layer slides along two axes. Of a convolution along more, the axes along which windows overlap least are folded away:
// each position of the window becomes an image of the batch and each tap a channel,
//
//   out[n,k,z,…] += in[n,c,z*stride+d,…] * w[k,c,d,…]     batch n*z, input channels c*d
//   out[n,k,z*stride+d,…] += in[n,c,z,…] * w[c,k,d,…]     batch n*z, output channels k*d (transposed)
//
// which keeps the multiply-accumulates, the weights and the results (transposed: the inputs) exactly, and forgets only
// that windows share what they overlap in along those axes.
#pragma once

#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/network.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

struct NodeLayer {
  Layer layer;
  std::int64_t count = 1;
};

struct NodeLayers {
  std::vector<NodeLayer> layers;  // one, or the products an attention or an LSTM consists of, in the order they are computed
  bool first_reads_alone = false;  // only the first reads the node's inputs, the others read its result
};

// Empty when the node is not a layer: another operator, or one whose shape the file does not tell. An Error for a shape that
// cannot be, and for one that an open dimension of a network input leaves unknown.
Result<NodeLayers> layers_of(const NodeView& view);

}  // namespace tilewright::onnx_file
