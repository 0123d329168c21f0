#include "tilewright/nn/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/nn/safetensors_header.hpp"

namespace tilewright {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie in memory");

std::string shape_text(const std::vector<std::size_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

template <typename T>
Tensor make_tensor(TensorType type, std::span<const T> values, std::vector<std::size_t> shape) {
  std::string bytes(values.size_bytes(), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size_bytes());
  return {type, std::move(shape), std::move(bytes)};
}

Result<const Tensor*> find(const TensorFile& file, const std::string& name, TensorType type) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) {
    std::vector<std::string> names;
    for (const auto& [other, tensor] : file.tensors) names.push_back(other);
    return Error{ErrorCode::NotFound, fmt::format("there is no tensor '{}'{}", printable(name), did_you_mean(name, names))};
  }
  if (found->second.type != type) {
    return invalid(fmt::format("tensor '{}' has type {}, expected {}", printable(name), to_string(found->second.type),
                               to_string(type)));
  }
  return &found->second;
}

template <typename T>
Result<Done> copy_out(const TensorFile& file, const std::string& name, TensorType type, std::span<T> values) {
  TW_TRY(const Tensor* tensor, find(file, name, type));
  if (tensor->bytes.size() != values.size_bytes()) {
    return invalid(fmt::format("tensor '{}' has {} numbers, expected {}", printable(name), tensor->bytes.size() / sizeof(T),
                               values.size()));
  }
  if (!values.empty()) std::memcpy(values.data(), tensor->bytes.data(), values.size_bytes());
  return Done{};
}

std::vector<std::size_t> shape_of(const TensorPlace& place, std::size_t index) {
  const bool is_bias = index % 2 == 1;
  return is_bias ? std::vector{place.columns} : std::vector{place.rows, place.columns};
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void TensorFile::put(const std::string& name, std::span<const float> values, std::vector<std::size_t> shape) {
  if (shape.empty()) shape = {values.size()};
  tensors[name] = make_tensor(TensorType::F32, values, std::move(shape));
  TW_ASSERT(tensor_bytes(tensors[name].type, tensors[name].shape) == tensors[name].bytes.size());
}

void TensorFile::put(const std::string& name, std::span<const double> values) {
  tensors[name] = make_tensor(TensorType::F64, values, {values.size()});
}

void TensorFile::put(const std::string& name, std::span<const std::int64_t> values) {
  tensors[name] = make_tensor(TensorType::I64, values, {values.size()});
}

void TensorFile::put(const std::string& name, std::int64_t value) {
  tensors[name] = make_tensor(TensorType::I64, std::span<const std::int64_t>(&value, 1), {});
}

void TensorFile::put(const std::string& name, const Mlp& mlp) {
  for (std::size_t i = 0; i < mlp.tensors().size(); ++i) {
    const TensorPlace& place = mlp.tensors()[i];
    const ConstView view = mlp.view(place);
    std::vector<float> values;
    values.reserve(view.rows * view.columns);
    for (std::size_t row = 0; row < view.rows; ++row) {
      values.insert(values.end(), view.row(row), view.row(row) + view.columns);
    }
    put(name + "." + place.name, values, shape_of(place, i));
  }
}

Result<Done> TensorFile::get(const std::string& name, std::span<float> values) const {
  return copy_out(*this, name, TensorType::F32, values);
}

Result<Done> TensorFile::get(const std::string& name, std::span<double> values) const {
  return copy_out(*this, name, TensorType::F64, values);
}

Result<Done> TensorFile::get(const std::string& name, std::span<std::int64_t> values) const {
  return copy_out(*this, name, TensorType::I64, values);
}

Result<std::int64_t> TensorFile::get(const std::string& name) const {
  std::int64_t value = 0;
  TW_TRY(const Done done, get(name, std::span<std::int64_t>(&value, 1)));
  return value;
}

Result<Done> TensorFile::get(const std::string& name, Mlp& mlp) const {
  std::vector<const Tensor*> found;
  for (std::size_t i = 0; i < mlp.tensors().size(); ++i) {
    const TensorPlace& place = mlp.tensors()[i];
    TW_TRY(const Tensor* tensor, find(*this, name + "." + place.name, TensorType::F32));
    const std::vector<std::size_t> expected = shape_of(place, i);
    if (tensor->shape != expected) {
      return invalid(fmt::format("tensor '{}.{}' has shape {}, expected {}", printable(name), place.name,
                                 shape_text(tensor->shape), shape_text(expected)));
    }
    found.push_back(tensor);
  }
  std::ranges::fill(mlp.values(), 0.0f);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const View view = mlp.view(mlp.tensors()[i]);
    const std::size_t row_bytes = view.columns * sizeof(float);
    for (std::size_t row = 0; row < view.rows; ++row) {
      std::memcpy(view.row(row), found[i]->bytes.data() + row * row_bytes, row_bytes);
    }
  }
  return Done{};
}

std::string to_safetensors(const TensorFile& file) {
  std::string header = "{";
  if (!file.metadata.empty()) {
    std::vector<std::string> entries;
    for (const auto& [key, value] : file.metadata) entries.push_back(quoted(key) + ":" + quoted(value));
    header += fmt::format("\"{}\":{{{}}}{}", kMetadataKey, join(entries, ","), file.tensors.empty() ? "" : ",");
  }
  std::size_t offset = 0;
  std::vector<std::string> entries;
  for (const auto& [name, tensor] : file.tensors) {
    TW_ASSERT(name != kMetadataKey && tensor_bytes(tensor.type, tensor.shape) == tensor.bytes.size());
    entries.push_back(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", quoted(name),
                                  to_string(tensor.type), fmt::join(tensor.shape, ","), offset,
                                  offset + tensor.bytes.size()));
    offset += tensor.bytes.size();
  }
  header += join(entries, ",") + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');

  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  bytes.reserve(sizeof length + header.size() + offset);
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += header;
  for (const auto& [name, tensor] : file.tensors) bytes += tensor.bytes;
  return bytes;
}

Result<TensorFile> from_safetensors(std::string_view bytes, const std::string& where) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    return invalid(fmt::format("{}: has {} bytes, expected at least the 8 of a safetensors header", where, bytes.size()));
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  if (length > kMostHeaderBytes) {
    return invalid(fmt::format("{}: the header is {} bytes long, expected at most {} in a safetensors file", where, length,
                               kMostHeaderBytes));
  }
  if (length > bytes.size()) {
    return invalid(fmt::format("{}: the header is {} bytes long, but only {} follow; expected a whole safetensors file",
                               where, length, bytes.size()));
  }
  TW_TRY(const SafetensorsHeader header, parse_safetensors_header(bytes.substr(0, length), where));
  bytes.remove_prefix(length);
  TW_TRY(const Done checked, check_places(header, bytes.size(), where));
  TensorFile file;
  file.metadata = header.metadata;
  for (const auto& [name, place] : header.tensors) {
    file.tensors[name] = {place.type, place.shape, std::string(bytes.substr(place.begin, place.end - place.begin))};
  }
  return file;
}

Result<Done> write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  return write_file(path, to_safetensors(file));
}

Result<TensorFile> read_safetensors(const std::filesystem::path& path) {
  // As much as a regular file says it has; a device or pipe has no size, and gets the default limit of read_file.
  std::error_code status;
  const auto size = std::filesystem::file_size(path, status);
  TW_TRY(const std::string bytes,
         status ? read_file(path) : read_file(path, std::max(std::int64_t{64} << 20, static_cast<std::int64_t>(size))));
  return from_safetensors(bytes, path.string());
}

}  // namespace tilewright
