#include "tilewright/workload/onnx_tensor.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "tilewright/workload/onnx_external.hpp"

namespace tilewright::onnx_file {
namespace {

template <typename Number, typename List>
std::optional<std::vector<double>> elements_in(const List& list, const std::string& raw, std::size_t count) {
  const auto listed = static_cast<std::size_t>(list.size());
  std::vector<double> elements;
  if (listed == count) {
    for (const auto number : list) elements.push_back(static_cast<double>(number));
  } else if (listed == 0 && raw.size() == count * sizeof(Number)) {
    for (std::size_t i = 0; i < count; ++i) {
      Number number{};
      std::memcpy(&number, raw.data() + i * sizeof(Number), sizeof(Number));
      elements.push_back(static_cast<double>(number));
    }
  } else {
    return std::nullopt;
  }
  return elements;
}

std::optional<std::vector<double>> elements_of(const onnx::TensorProto& tensor, std::int64_t element_count,
                                               const std::filesystem::path& folder) {
  if (element_count < 0 || element_count > static_cast<std::int64_t>(kMostElements)) return std::nullopt;
  std::string outside;
  if (is_external(tensor)) {
    Result<std::string> bytes = external_bytes(tensor, folder, element_count * element_bytes(tensor.data_type()));
    if (!bytes) return std::nullopt;
    outside = std::move(bytes).value();
  }
  const auto count = static_cast<std::size_t>(element_count);
  const std::string& raw = is_external(tensor) ? outside : tensor.raw_data();
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return elements_in<float>(tensor.float_data(), raw, count);
    case onnx::TensorProto::DOUBLE:
      return elements_in<double>(tensor.double_data(), raw, count);
    case onnx::TensorProto::INT64:
      return elements_in<std::int64_t>(tensor.int64_data(), raw, count);
    case onnx::TensorProto::INT32:
      return elements_in<std::int32_t>(tensor.int32_data(), raw, count);
    case onnx::TensorProto::INT16:
      return elements_in<std::int16_t>(tensor.int32_data(), raw, count);
    case onnx::TensorProto::INT8:
      return elements_in<std::int8_t>(tensor.int32_data(), raw, count);
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return elements_in<std::uint8_t>(tensor.int32_data(), raw, count);
    default:
      return std::nullopt;
  }
}

Result<Dims> dims_of(const google::protobuf::RepeatedField<std::int64_t>& dims, const std::string& name) {
  if (dims.size() > static_cast<int>(kMostRank)) {
    return invalid("tensor " + quoted_name(name) + " has " + std::to_string(dims.size()) + " dimensions, expected at most " +
                   std::to_string(kMostRank));
  }
  for (int i = 0; i < dims.size(); ++i) {
    if (dims.Get(i) >= 0 && dims.Get(i) <= kMostDim) continue;
    return invalid("tensor " + quoted_name(name) + ": dimension " + std::to_string(i) + " is " +
                   std::to_string(dims.Get(i)) + ", expected 0 to " + std::to_string(kMostDim));
  }
  return Dims(dims.begin(), dims.end());
}

std::int64_t value_of(const onnx::TensorShapeProto::Dimension& dim, const Symbols& symbols) {
  if (dim.has_dim_value()) return dim.dim_value() >= 0 && dim.dim_value() <= kMostDim ? dim.dim_value() : kUnknown;
  const auto symbol = symbols.find(dim.dim_param());
  return symbol == symbols.end() ? kUnknown : symbol->second;
}

// The name under which the user can give a dimension; nothing when the file has a number.
std::optional<std::string> name_of(const onnx::ValueInfoProto& input, int axis) {
  const auto& dim = input.type().tensor_type().shape().dim(axis);
  if (!dim.dim_param().empty()) return dim.dim_param();
  if (dim.has_dim_value() && dim.dim_value() >= 0) return std::nullopt;
  return input.name() + "." + std::to_string(axis);
}

std::string shown(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value()) return std::to_string(dim.dim_value());
  return dim.dim_param().empty() ? "open" : quoted_name(dim.dim_param());
}

}  // namespace

std::optional<std::string> why_absent(const onnx::TensorProto& proto, const std::filesystem::path& folder) {
  const std::int64_t count = product(Dims(proto.dims().begin(), proto.dims().end()));
  const bool is_small = count >= 0 && count <= static_cast<std::int64_t>(kMostElements);
  if (!is_small || element_bytes(proto.data_type()) == 0) return std::nullopt;
  const Result<std::string> bytes = external_bytes(proto, folder, count * element_bytes(proto.data_type()));
  return bytes ? std::nullopt : std::optional(bytes.error().message);
}

Result<Tensor> tensor_of(const onnx::TensorProto& proto, const std::filesystem::path& folder) {
  TW_TRY(Dims dims, dims_of(proto.dims(), proto.name()));
  if (is_external(proto)) {
    TW_TRY(Done inside, check_external(proto));
  }
  Tensor tensor;
  tensor.elements = elements_of(proto, product(dims), folder);
  tensor.shape = std::move(dims);
  tensor.type = proto.data_type();
  tensor.fixed = true;
  return tensor;
}

Result<Tensor> tensor_of(const onnx::SparseTensorProto& proto) {
  TW_TRY(Dims dims, dims_of(proto.dims(), proto.values().name()));
  Tensor tensor;
  tensor.shape = std::move(dims);
  tensor.fixed = true;
  return tensor;
}

std::optional<Dims> declared_shape(const onnx::TypeProto& type, const Symbols& symbols) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  const auto& shape = type.tensor_type().shape();
  if (shape.dim_size() > static_cast<int>(kMostRank)) return std::nullopt;
  Dims dims;
  for (const auto& dim : shape.dim()) dims.push_back(value_of(dim, symbols));
  return dims;
}

void note_batch(const onnx::ValueInfoProto& input, std::int64_t batch, Symbols& symbols) {
  const auto& shape = input.type().tensor_type().shape();
  if (shape.dim_size() > 0 && !shape.dim(0).dim_param().empty()) symbols[shape.dim(0).dim_param()] = batch;
}

std::vector<std::string> open_dims(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> weights;
  for (const auto& weight : graph.initializer()) weights.insert(weight.name());
  for (const auto& weight : graph.sparse_initializer()) weights.insert(weight.values().name());
  std::vector<std::string> names;
  for (const auto& input : graph.input()) {
    if (weights.contains(input.name())) continue;
    for (int axis = 0; axis < input.type().tensor_type().shape().dim_size(); ++axis) {
      const auto name = name_of(input, axis);
      if (name && std::ranges::find(names, *name) == names.end()) names.push_back(*name);
    }
  }
  return names;
}

Result<Tensor> network_input(const onnx::ValueInfoProto& input, std::int64_t batch, const Symbols& symbols,
                             std::vector<Open>& open) {
  Tensor tensor;
  const auto leave_open = [&](const std::string& what) {
    if (tensor.open != kNone) return;
    tensor.open = open.size();
    open.push_back({"input " + quoted_name(input.name()) + ": " + what, ""});
  };
  // One sentence tells all that is to give.
  const auto add_remedy = [&](const std::string& name) {
    std::string& remedy = open[tensor.open].remedy;
    const std::string option = " --dim " + cleaned(name, 100) + "=N";
    if (remedy.empty()) remedy = "give";
    if (remedy.find(option) == std::string::npos) remedy += option;
  };
  const auto& shape = input.type().tensor_type().shape();
  if (!input.type().tensor_type().has_shape()) {
    leave_open("the shape is missing, expected one number per dimension");
    return tensor;
  }
  if (shape.dim_size() > static_cast<int>(kMostRank)) {
    return invalid("input " + quoted_name(input.name()) + " has " + std::to_string(shape.dim_size()) +
                   " dimensions, expected at most " + std::to_string(kMostRank));
  }
  tensor.shape.emplace();
  for (int i = 0; i < shape.dim_size(); ++i) {
    const std::string what = "dimension " + std::to_string(i) + " is " + shown(shape.dim(i));
    if (shape.dim(i).dim_value() > kMostDim) {
      return invalid("input " + quoted_name(input.name()) + ": " + what + ", expected at most " + std::to_string(kMostDim));
    }
    std::int64_t dim = value_of(shape.dim(i), symbols);
    const auto name = name_of(input, i);
    if (const auto given = symbols.find(name.value_or("")); dim == kUnknown && given != symbols.end()) dim = given->second;
    if (dim == kUnknown && i == 0) dim = batch;
    if (dim == kUnknown) {
      leave_open(what + ", expected a number");
      if (name) add_remedy(*name);
    }
    tensor.shape->push_back(dim);
  }
  return tensor;
}

}  // namespace tilewright::onnx_file
