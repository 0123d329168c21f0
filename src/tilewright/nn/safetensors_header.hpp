// The header of a safetensors file: JSON from the outside world, read strictly.
//
//   {"__metadata__": {"key": "text", …}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//
// Offsets count from the end of the header. The tensors fill the rest of the file, without gap or overlap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

inline constexpr std::string_view kMetadataKey = "__metadata__";
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // as the format's own library has it

struct HeaderTensor {
  TensorType type = TensorType::F32;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0, end = 0;
};
struct SafetensorsHeader {
  std::map<std::string, HeaderTensor> tensors;
  std::map<std::string, std::string> metadata;
};

std::string_view to_string(TensorType type);  // "F32", …
// The bytes of all numbers; nothing when they do not fit into 64 bits.
std::optional<std::uint64_t> tensor_bytes(TensorType type, const std::vector<std::size_t>& shape);

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, const std::string& where);
// That every tensor has the bytes its shape needs, and that they fill `data_bytes` exactly.
Result<Done> check_places(const SafetensorsHeader& header, std::uint64_t data_bytes, const std::string& where);

}  // namespace tilewright
