#include "tilewright/workload/onnx_tensor.hpp"

#include <onnx/onnx_pb.h>

#include <cstring>

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

std::optional<std::vector<double>> elements_of(const onnx::TensorProto& tensor, std::int64_t element_count) {
  if (element_count < 0 || element_count > static_cast<std::int64_t>(kMostElements)) return std::nullopt;
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
  const auto count = static_cast<std::size_t>(element_count);
  const std::string& raw = tensor.raw_data();
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

std::string shown(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value()) return std::to_string(dim.dim_value());
  return dim.dim_param().empty() ? "open" : quoted_name(dim.dim_param());
}

}  // namespace

Result<Tensor> tensor_of(const onnx::TensorProto& proto) {
  TW_TRY(Dims dims, dims_of(proto.dims(), proto.name()));
  Tensor tensor;
  tensor.elements = elements_of(proto, product(dims));
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

Result<Tensor> network_input(const onnx::ValueInfoProto& input, std::int64_t batch, const Symbols& symbols,
                             std::vector<OpenDim>& open) {
  Tensor tensor;
  const auto leave_open = [&](const std::string& what) {
    if (tensor.open != kNone) return;
    tensor.open = open.size();
    open.push_back({input.name(), what});
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
    if (dim == kUnknown && i == 0) dim = batch;
    if (dim == kUnknown) leave_open(what + ", expected a number");
    tensor.shape->push_back(dim);
  }
  return tensor;
}

}  // namespace tilewright::onnx_file
