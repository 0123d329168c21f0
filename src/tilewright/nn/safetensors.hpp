// Named tensors in a safetensors file: eight bytes of header length, a JSON header, raw little-endian numbers. Python's
// `safetensors.numpy.load_file` reads what we write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/nn/mlp.hpp"

namespace tilewright {

enum class TensorType { F32, F64, I64, U8 };

struct Tensor {
  TensorType type = TensorType::F32;
  std::vector<std::size_t> shape;
  std::string bytes;
};

// Tensors by name (in name order in the file) and text metadata.
struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  void put(const std::string& name, std::span<const float> values, std::vector<std::size_t> shape = {});
  void put(const std::string& name, std::span<const double> values);
  void put(const std::string& name, std::span<const std::int64_t> values);
  void put(const std::string& name, std::int64_t value);
  // All tensors of a network, without padding, as NAME.weight0, NAME.bias0, …
  void put(const std::string& name, const Mlp& mlp);

  // Copies a tensor out; an Error when it is missing or of another type or size.
  Result<Done> get(const std::string& name, std::span<float> values) const;
  Result<Done> get(const std::string& name, std::span<double> values) const;
  Result<Done> get(const std::string& name, std::span<std::int64_t> values) const;
  Result<std::int64_t> get(const std::string& name) const;
  Result<Done> get(const std::string& name, Mlp& mlp) const;
};

std::string to_safetensors(const TensorFile& file);
Result<TensorFile> from_safetensors(std::string_view bytes, const std::string& where);
Result<Done> write_safetensors(const std::filesystem::path& path, const TensorFile& file);  // atomically
Result<TensorFile> read_safetensors(const std::filesystem::path& path);

}  // namespace tilewright
