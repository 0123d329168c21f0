#include "tilewright/workload/quantised_onnx_weights.hpp"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "tilewright/workload/onnx_external.hpp"

namespace tilewright::onnx_file {
namespace {

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                          : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                           : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float from_brain(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// The elements as Number lie in the list, or byte by byte in `raw`.
template <typename Number, typename List, typename Convert>
bool read_elements(const List& list, const std::string& raw, std::size_t count, Convert convert,
                   std::vector<float>& values) {
  if (static_cast<std::size_t>(list.size()) == count) {
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = convert(static_cast<Number>(list.Get(static_cast<int>(i))));
    return true;
  }
  if (raw.size() != count * sizeof(Number)) return false;
  values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Number number{};
    std::memcpy(&number, raw.data() + i * sizeof(Number), sizeof(Number));
    values[i] = convert(number);
  }
  return true;
}

bool read_values(const onnx::TensorProto& tensor, const std::string& raw, std::size_t count, std::vector<float>& values) {
  const auto plain = [](auto number) { return static_cast<float>(number); };
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return read_elements<float>(tensor.float_data(), raw, count, plain, values);
    case onnx::TensorProto::DOUBLE:
      return read_elements<double>(tensor.double_data(), raw, count, plain, values);
    case onnx::TensorProto::INT8:
      return read_elements<std::int8_t>(tensor.int32_data(), raw, count, plain, values);
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return read_elements<std::uint8_t>(tensor.int32_data(), raw, count, plain, values);
    case onnx::TensorProto::INT16:
      return read_elements<std::int16_t>(tensor.int32_data(), raw, count, plain, values);
    case onnx::TensorProto::INT32:
      return read_elements<std::int32_t>(tensor.int32_data(), raw, count, plain, values);
    case onnx::TensorProto::INT64:
      return read_elements<std::int64_t>(tensor.int64_data(), raw, count, plain, values);
    case onnx::TensorProto::FLOAT16:
      return read_elements<std::uint16_t>(tensor.int32_data(), raw, count, from_half, values);
    case onnx::TensorProto::BFLOAT16:
      return read_elements<std::uint16_t>(tensor.int32_data(), raw, count, from_brain, values);
    default:
      return false;
  }
}

Result<Constant> constant_of(const onnx::TensorProto& tensor, const std::string& name, const std::filesystem::path& folder) {
  Constant constant;
  constant.shape.assign(tensor.dims().begin(), tensor.dims().end());
  const std::int64_t count = product(constant.shape);
  constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
  std::string outside;
  if (is_external(tensor) && count >= 0 && count <= kMostElements) {
    TW_TRY(outside, external_bytes(tensor, folder, count * element_bytes(tensor.data_type())));
  }
  const std::string& raw = is_external(tensor) ? outside : tensor.raw_data();
  if (count < 0 || count > kMostElements || !read_values(tensor, raw, static_cast<std::size_t>(count), constant.values)) {
    return invalid("weight " + quoted_name(name) +
                   " has another number or type of elements than its shape tells, expected " + std::to_string(count) +
                   " numbers");
  }
  return constant;
}

}  // namespace

struct Weights::Model {
  onnx::ModelProto proto;
  std::filesystem::path folder;
  std::unordered_map<std::string, const onnx::TensorProto*> tensors;
  std::unordered_map<std::string, const onnx::AttributeProto*> numbers;  // Constant nodes with value_float and the like
};

Weights::Weights(std::unique_ptr<Model> model) : model_(std::move(model)) {}
Weights::~Weights() = default;
Weights::Weights(Weights&&) noexcept = default;
Weights& Weights::operator=(Weights&&) noexcept = default;

Result<Weights> Weights::read(std::string_view bytes, const std::filesystem::path& folder) {
  auto model = std::make_unique<Model>();
  model->folder = folder;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return invalid("is larger than 2 GiB, expected less: protobuf holds no more");
  }
  if (!model->proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid("is not an ONNX model: its parts are not those of a model");
  }
  for (const auto& weight : model->proto.graph().initializer()) model->tensors[weight.name()] = &weight;
  for (const auto& node : model->proto.graph().node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) model->tensors[node.output(0)] = &attribute.t();
      if (attribute.name().starts_with("value_")) model->numbers[node.output(0)] = &attribute;
    }
  }
  return Weights(std::move(model));
}

Result<std::optional<Constant>> Weights::find(const std::string& name) const {
  if (const auto tensor = model_->tensors.find(name); tensor != model_->tensors.end()) {
    TW_TRY(Constant constant, constant_of(*tensor->second, name, model_->folder));
    return std::optional(std::move(constant));
  }
  const auto number = model_->numbers.find(name);
  if (number == model_->numbers.end()) return std::optional<Constant>();
  const onnx::AttributeProto& attribute = *number->second;
  Constant constant;
  if (attribute.has_f()) constant.values = {attribute.f()};
  if (attribute.has_i()) constant.values = {static_cast<float>(attribute.i())};
  for (const float value : attribute.floats()) constant.values.push_back(value);
  for (const std::int64_t value : attribute.ints()) constant.values.push_back(static_cast<float>(value));
  if (attribute.floats_size() + attribute.ints_size() > 0) {
    constant.shape = {static_cast<std::int64_t>(constant.values.size())};
  }
  return std::optional(std::move(constant));
}

std::vector<std::string> Weights::outputs() const {
  std::vector<std::string> names;
  for (const auto& output : model_->proto.graph().output()) names.push_back(output.name());
  return names;
}

std::string input_name(const Node& node, std::size_t input) { return node.proto->input(static_cast<int>(input)); }
std::string output_name(const Node& node, std::size_t output) { return node.proto->output(static_cast<int>(output)); }

std::optional<double> real_attribute(const Node& node, std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_f() ? std::optional<double>(attribute->f()) : std::nullopt;
}

Result<float> fill_value(const Node& node) {
  const auto* attribute = find_attribute(node, "value");
  if (attribute == nullptr || !attribute->has_t()) return 0.0f;
  TW_TRY(const Constant value, constant_of(attribute->t(), node.name, {}));
  return value.values.size() == 1 ? value.values[0] : 0.0f;
}

bool is_int8(const Tensor& tensor) { return tensor.type == onnx::TensorProto::INT8; }
bool is_uint8(const Tensor& tensor) { return tensor.type == onnx::TensorProto::UINT8; }

}  // namespace tilewright::onnx_file
