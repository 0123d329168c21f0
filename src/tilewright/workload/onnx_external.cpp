#include "tilewright/workload/onnx_external.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "tilewright/base/text.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {
namespace {

namespace fs = std::filesystem;

struct DataPlace {
  fs::path location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};

std::string weight_name(const onnx::TensorProto& tensor) { return "weight " + quoted_name(tensor.name()); }

Result<std::int64_t> bytes_in(const onnx::TensorProto& tensor, const std::string& key, const std::string& text) {
  const auto number = parse_integer(text);
  if (number && *number >= 0) return *number;
  return invalid(weight_name(tensor) + ": the " + key + " of its external data is " + quoted_name(text) +
                 ", expected a number of bytes");
}

// A model must not make us read what it likes.
bool stays_inside(const fs::path& location) {
  return !location.empty() && location.is_relative() && !location.has_root_path() &&
         std::ranges::none_of(location, [](const fs::path& part) { return part == ".."; });
}

Result<DataPlace> place_of(const onnx::TensorProto& tensor) {
  DataPlace place;
  std::string location;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TW_TRY(place.offset, bytes_in(tensor, "offset", entry.value()));
    }
    if (entry.key() == "length") {
      TW_TRY(place.length, bytes_in(tensor, "length", entry.value()));
    }
  }
  place.location = location;
  if (location.find('\0') == std::string::npos && stays_inside(place.location)) return place;
  return invalid(weight_name(tensor) + " lies in " + quoted_name(location) + ", expected a file beside the model");
}

}  // namespace

bool is_external(const onnx::TensorProto& tensor) { return tensor.data_location() == onnx::TensorProto::EXTERNAL; }

Result<Done> check_external(const onnx::TensorProto& tensor) {
  TW_TRY(const DataPlace place, place_of(tensor));
  return Done{};
}

Result<std::string> external_bytes(const onnx::TensorProto& tensor, const fs::path& folder, std::int64_t byte_count) {
  TW_TRY(const DataPlace place, place_of(tensor));
  const std::string file = quoted_name(place.location.string());
  if (folder.empty()) return invalid(weight_name(tensor) + " lies in " + file + ", expected it inside the model");
  const fs::path path = folder / place.location;
  std::error_code status;
  if (!fs::is_regular_file(path, status)) {
    return Error{ErrorCode::NotFound, weight_name(tensor) + " lies in " + file + ", expected that file beside the model"};
  }
  if (place.length && *place.length != byte_count) {
    return invalid(weight_name(tensor) + " has " + std::to_string(*place.length) + " bytes in " + file + ", expected " +
                   std::to_string(byte_count) + " by its shape");
  }
  const auto size = static_cast<std::int64_t>(fs::file_size(path, status));
  if (status || place.offset > size || byte_count > size - place.offset) {
    return invalid(weight_name(tensor) + " begins at byte " + std::to_string(place.offset) + " of " + file + " and takes " +
                   std::to_string(byte_count) + ", but the file has " + std::to_string(status ? 0 : size));
  }
  std::string bytes(static_cast<std::size_t>(byte_count), '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(place.offset);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (stream) return bytes;
  return Error{ErrorCode::Io, weight_name(tensor) + ": " + file + " could not be read"};
}

std::int64_t element_bytes(std::int32_t type) {
  switch (type) {
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return 1;
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
      return 2;
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
      return 4;
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT64:
      return 8;
    default:
      return 0;
  }
}

}  // namespace tilewright::onnx_file
