// Contents of tensors that lie in a file beside the model, as exporters write them for large models: the tensor has the
// entries `location` (a path from the model's folder), `offset` and `length` (bytes).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tilewright/base/result.hpp"

namespace onnx {
class TensorProto;
}

namespace tilewright::onnx_file {

bool is_external(const onnx::TensorProto& tensor);

// An Error for entries that make no sense, among them a location outside the model's folder. Nothing is opened.
Result<Done> check_external(const onnx::TensorProto& tensor);

// The `byte_count` bytes of a tensor, or a phrase that says which file is absent, too short, or not asked for because
// `folder` is empty.
Result<std::string> external_bytes(const onnx::TensorProto& tensor, const std::filesystem::path& folder,
                                   std::int64_t byte_count);

// Bytes of an element of a TensorProto::DataType as files hold it; 0 for types without numbers.
std::int64_t element_bytes(std::int32_t type);

}  // namespace tilewright::onnx_file
