// The bytes of an ONNX model without the bytes of its weights.
//
// The file is one protobuf message: fields of (number << 3 | kind) followed by a number, eight or four bytes, or a length
// and that many bytes. Nearly all of it are weights, which a reader of shapes never looks at. One pass over the fields
// checks that every length stays inside its message, bounds what a parser will have to allocate, and copies what the reader
// uses.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"

namespace tilewright::onnx_file {

// Tensors keep their contents up to this size: enough for every shape, axis or pad list.
inline constexpr std::size_t kMostContent = 4096;

// A message that parses to the same model with large tensor contents and texts for people left out, or a phrase that
// continues "is not an ONNX model: ".
Result<std::string> without_weights(std::string_view bytes);

}  // namespace tilewright::onnx_file
