// What the file itself says about tensors: weights with their shape (and their elements when few), the shapes declared for
// other tensors, and the inputs of the network with their open batch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace onnx {
class GraphProto;
class SparseTensorProto;
class TensorProto;
class TypeProto;
class ValueInfoProto;
}  // namespace onnx

namespace tilewright::onnx_file {

// Named dimensions whose value is known: the batch, and those the user gives.
using Symbols = std::unordered_map<std::string, std::int64_t>;

// An Error for dimensions no tensor can have and for external data outside the model's folder. Contents may be absent, or
// left out; of external data in `folder`, those of small tensors are read.
Result<Tensor> tensor_of(const onnx::TensorProto& proto, const std::filesystem::path& folder);

// Why a small tensor with external data has no elements.
std::optional<std::string> why_absent(const onnx::TensorProto& proto, const std::filesystem::path& folder);
Result<Tensor> tensor_of(const onnx::SparseTensorProto& proto);

// Nothing when the type has no shape.
std::optional<Dims> declared_shape(const onnx::TypeProto& type, const Symbols& symbols);

// Adds the name of the input's first dimension, if it has one, to `symbols`.
void note_batch(const onnx::ValueInfoProto& input, std::int64_t batch, Symbols& symbols);

// The names of the open dimensions of a graph's inputs; one without a name is called INPUT.AXIS.
std::vector<std::string> open_dims(const onnx::GraphProto& graph);

// The input with an open first dimension replaced by `batch`; what else is open is added to `open`.
Result<Tensor> network_input(const onnx::ValueInfoProto& input, std::int64_t batch, const Symbols& symbols,
                             std::vector<Open>& open);

}  // namespace tilewright::onnx_file
