// What the file itself says about tensors: weights with their shape (and their elements when few), the shapes declared for
// other tensors, and the inputs of the network with their open batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace onnx {
class SparseTensorProto;
class TensorProto;
class TypeProto;
class ValueInfoProto;
}  // namespace onnx

namespace tilewright::onnx_file {

// Named dimensions whose value is known: the batch.
using Symbols = std::unordered_map<std::string, std::int64_t>;

// An Error for dimensions no tensor can have. Contents may be absent, in another file, or left out.
Result<Tensor> tensor_of(const onnx::TensorProto& proto);
Result<Tensor> tensor_of(const onnx::SparseTensorProto& proto);

// Nothing when the type has no shape.
std::optional<Dims> declared_shape(const onnx::TypeProto& type, const Symbols& symbols);

// Adds the name of the input's first dimension, if it has one, to `symbols`.
void note_batch(const onnx::ValueInfoProto& input, std::int64_t batch, Symbols& symbols);

// The input with an open first dimension replaced by `batch`; what else is open is added to `open`.
Result<Tensor> network_input(const onnx::ValueInfoProto& input, std::int64_t batch, const Symbols& symbols,
                             std::vector<OpenDim>& open);

}  // namespace tilewright::onnx_file
