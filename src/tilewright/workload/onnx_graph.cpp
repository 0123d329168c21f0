#include "tilewright/workload/onnx_graph.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "tilewright/workload/onnx_flatten.hpp"
#include "tilewright/workload/onnx_tensor.hpp"
#include "tilewright/workload/onnx_wire.hpp"

namespace tilewright::onnx_file {
namespace {

const onnx::AttributeProto* find_in(const onnx::NodeProto& node, const Call* call, std::string_view name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    if (call == nullptr) return nullptr;
    if (const auto* given = find_in(*call->node, call->caller, attribute.ref_attr_name())) return given;
    for (const auto& fallback : *call->defaults) {
      if (fallback->name() == attribute.ref_attr_name()) return fallback.get();
    }
    return nullptr;
  }
  return nullptr;
}

// Bytes of the printable UTF-8 character that `text` begins with; 0 when it begins with something else.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  if (byte(0) < 0x80) return byte(0) >= ' ' && byte(0) != 0x7F ? 1 : 0;
  // Two bytes from U+00A0 on, because those before it are control characters.
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF && follows(1)) return byte(0) > 0xC2 || byte(1) >= 0xA0 ? 2 : 0;
  if ((byte(0) & 0xF0u) == 0xE0 && follows(1) && follows(2)) {
    const bool is_overlong = byte(0) == 0xE0 && byte(1) < 0xA0, is_surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
    const bool is_separator = byte(0) == 0xE2 && byte(1) == 0x80 && (byte(2) & 0xFEu) == 0xA8;
    const bool is_no_character = byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
    return is_overlong || is_surrogate || is_separator || is_no_character ? 0 : 3;
  }
  const bool is_four = byte(0) >= 0xF0 && byte(0) <= 0xF4 && follows(1) && follows(2) && follows(3);
  return is_four && !(byte(0) == 0xF0 && byte(1) < 0x90) && !(byte(0) == 0xF4 && byte(1) >= 0x90) ? 4 : 0;
}

}  // namespace

std::string_view kind(const Node& node) {
  constexpr std::string_view kMicrosoft = "com.microsoft::";
  const std::string_view op = node.op;
  return op.starts_with(kMicrosoft) && op != "com.microsoft::Attention" ? op.substr(kMicrosoft.size()) : op;
}

namespace {

Result<std::shared_ptr<onnx::ModelProto>> parse(std::string_view bytes) {
  const auto not_a_model = [](const std::string& why) { return invalid("is not an ONNX model: " + why); };
  Result<std::string> light = without_weights(bytes);
  if (!light) return not_a_model(light.error().message);
  auto model = std::make_shared<onnx::ModelProto>();
  if (!model->ParseFromString(*light)) return not_a_model("its parts are not those of a model");
  if (!model->has_graph()) return not_a_model("it has no graph");
  return model;
}

}  // namespace

Result<Graph> read_graph(std::string_view bytes, const ReadOptions& options) {
  TW_TRY(const std::shared_ptr<onnx::ModelProto> model, parse(bytes));
  Graph graph;
  graph.model = model;
  graph.data_folder = options.data_folder;
  TW_TRY(Done flat, flatten(*model, options, graph));
  return graph;
}

Result<std::vector<std::string>> open_dims(std::string_view bytes) {
  TW_TRY(const std::shared_ptr<onnx::ModelProto> model, parse(bytes));
  return open_dims(model->graph());
}

const onnx::AttributeProto* find_attribute(const Node& node, std::string_view name) {
  return find_in(*node.proto, node.call, name);
}

std::optional<std::int64_t> integer(const Node& node, std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  if (attribute == nullptr || !attribute->has_i()) return std::nullopt;
  return attribute->i();
}

std::optional<Dims> integers(const Node& node, std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  if (attribute == nullptr || (attribute->type() != onnx::AttributeProto::INTS && attribute->ints_size() == 0)) return {};
  return Dims(attribute->ints().begin(), attribute->ints().end());
}

std::optional<std::vector<double>> numbers(const Node& node, std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  if (attribute == nullptr || attribute->floats_size() == 0) return std::nullopt;
  return std::vector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::string text(const Node& node, std::string_view name) {
  const auto* attribute = find_attribute(node, name);
  return attribute == nullptr ? std::string() : attribute->s();
}

const Tensor* NodeView::input(std::size_t index) const {
  if (index >= node.inputs.size() || node.inputs[index] == kNone) return nullptr;
  return &graph.tensors[node.inputs[index]];
}

const Dims* NodeView::shape(std::size_t index) const {
  const Tensor* tensor = input(index);
  return tensor == nullptr || !tensor->shape ? nullptr : &*tensor->shape;
}

const std::vector<double>* NodeView::elements(std::size_t index) const {
  const Tensor* tensor = input(index);
  return tensor == nullptr || !tensor->elements ? nullptr : &*tensor->elements;
}

std::optional<Dims> NodeView::integers(std::string_view name, std::size_t index) const {
  if (auto attribute = onnx_file::integers(node, name)) return attribute;
  return to_integers(elements(index));
}

std::string cleaned(std::string_view name, std::size_t most) {
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = utf8_length(name.substr(at));
    if (result.size() + std::max<std::size_t>(length, 1) > most) break;
    if (length == 0) {
      result.push_back('?');
      ++at;
    } else {
      result.append(name, at, length);
      at += length;
    }
  }
  return result;
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t kMostShown = 100;
  return "'" + cleaned(name, kMostShown) + (name.size() > kMostShown ? "…'" : "'");
}

}  // namespace tilewright::onnx_file
