// Networks as YAML, format tilewright-network-1: one layer a line.
//
//   - {name: conv1, op: conv, in: [3, 224, 224], out: 64, kernel: 7, stride: 2, pad: 3}
//   - {name: fc, op: fc, in: 512, out: 1000, from: [conv1]}
//
// Windows (`kernel`, `stride`, `dilation`, `pad`, `output_pad`) are one number or [height, width]; `pad` also [top, bottom,
// left, right]. Without `from` a layer reads the one above it; `from: []` is the network's input.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kFormat = "tilewright-network-1";
constexpr std::string_view kUnknownMacs = "unknown";
constexpr std::array kOperators = {Operator::Convolution, Operator::Depthwise, Operator::TransposedConvolution,
                                   Operator::FullyConnected, Operator::MatrixMultiply};

Result<Operator> read_operator(const Yaml& node) {
  TW_TRY(const std::string word, node.text("op"));
  std::vector<std::string> words;
  for (const Operator op : kOperators) {
    if (name_of(op) == word) return op;
    words.emplace_back(name_of(op));
  }
  std::string hint = did_you_mean(word, words);
  if (hint.empty()) hint = fmt::format(", expected one of {}", join(words, ", "));
  return node.find("op")->error(fmt::format("op '{}' is not known{}", word, hint));
}

Result<Done> only_keys_of(Operator op, const Yaml& node) {
  switch (op) {
    case Operator::Convolution:
      return node.only_keys(
          {"name", "op", "count", "from", "batch", "in", "out", "kernel", "stride", "dilation", "pad", "groups"});
    case Operator::Depthwise:
      return node.only_keys({"name", "op", "count", "from", "batch", "in", "out", "kernel", "stride", "dilation", "pad"});
    case Operator::TransposedConvolution:
      return node.only_keys({"name", "op", "count", "from", "batch", "in", "out", "kernel", "stride", "dilation", "pad",
                             "output_pad", "groups"});
    case Operator::FullyConnected:
      return node.only_keys({"name", "op", "count", "from", "batch", "in", "out"});
    case Operator::MatrixMultiply:
      return node.only_keys({"name", "op", "count", "from", "batch", "rows", "inner", "columns"});
  }
  return Done{};
}

Result<std::vector<std::int64_t>> read_numbers(const Yaml& field, std::string_view key) {
  std::vector<std::int64_t> numbers;
  for (const Yaml& item : field.items) {
    TW_TRY(const std::int64_t number, item.as_integer(fmt::format("an entry of '{}'", key)));
    numbers.push_back(number);
  }
  return numbers;
}

using Pair = std::array<std::int64_t, 2>;  // height, width

Result<Pair> read_pair(const Yaml& node, std::string_view key, std::int64_t otherwise) {
  const Yaml* field = node.find(key);
  if (field == nullptr) return Pair{otherwise, otherwise};
  if (field->kind != Yaml::Kind::List) {
    TW_TRY(const std::int64_t both, field->as_integer(fmt::format("'{}'", key)));
    return Pair{both, both};
  }
  TW_TRY(const auto numbers, read_numbers(*field, key));
  if (numbers.size() != 2) {
    return field->error(fmt::format("'{}' has {} entries, expected one number or [height, width]", key, numbers.size()));
  }
  return Pair{numbers[0], numbers[1]};
}

using Pads = std::array<std::int64_t, 4>;  // top, bottom, left, right

Result<Pads> read_pads(const Yaml& node) {
  const Yaml* field = node.find("pad");
  if (field == nullptr || field->kind != Yaml::Kind::List || field->items.size() == 2) {
    TW_TRY(const Pair pads, read_pair(node, "pad", 0));
    return Pads{pads[0], pads[0], pads[1], pads[1]};
  }
  TW_TRY(const auto numbers, read_numbers(*field, "pad"));
  if (numbers.size() != 4) {
    return field->error(fmt::format(
        "'pad' has {} entries, expected one number, [height, width] or [top, bottom, left, right]", numbers.size()));
  }
  return Pads{numbers[0], numbers[1], numbers[2], numbers[3]};
}

Result<Layer> read_convolution(const Yaml& node, const std::string& name, Operator op) {
  const Yaml* input = node.find("in");
  if (input == nullptr) return node.error("'in' is missing, expected [channels, height, width]");
  if (input->kind != Yaml::Kind::List) return input->error("'in' is not a list, expected [channels, height, width]");
  TW_TRY(const auto sizes, read_numbers(*input, "in"));
  if (sizes.size() != 3) {
    return input->error(fmt::format("'in' has {} entries, expected [channels, height, width]", sizes.size()));
  }
  if (node.find("kernel") == nullptr) return node.error("'kernel' is missing, expected one number or [height, width]");
  TW_TRY(const Pair kernel, read_pair(node, "kernel", 1));
  TW_TRY(const Pair stride, read_pair(node, "stride", 1));
  TW_TRY(const Pair dilation, read_pair(node, "dilation", 1));
  TW_TRY(const Pads pads, read_pads(node));
  TW_TRY(const Pair output_pad, read_pair(node, "output_pad", 0));
  const bool depthwise = op == Operator::Depthwise;
  TW_TRY(const std::int64_t groups, depthwise ? Result(sizes[0]) : node.integer("groups", 1));
  TW_TRY(const std::int64_t out, depthwise ? node.integer("out", sizes[0]) : node.integer("out"));
  return Layer{.name = name,
               .op = op,
               .groups = groups,
               .out_channels = out,
               .in_channels = sizes[0],
               .in_height = sizes[1],
               .in_width = sizes[2],
               .kernel_height = kernel[0],
               .kernel_width = kernel[1],
               .stride_height = stride[0],
               .stride_width = stride[1],
               .dilation_height = dilation[0],
               .dilation_width = dilation[1],
               .pad_top = pads[0],
               .pad_bottom = pads[1],
               .pad_left = pads[2],
               .pad_right = pads[3],
               .output_pad_height = output_pad[0],
               .output_pad_width = output_pad[1]};
}

Result<Layer> read_shape(const Yaml& node, const std::string& name, Operator op) {
  if (op == Operator::MatrixMultiply) {
    TW_TRY(const std::int64_t rows, node.integer("rows"));
    TW_TRY(const std::int64_t inner, node.integer("inner"));
    TW_TRY(const std::int64_t columns, node.integer("columns"));
    return matrix_multiply(name, {.rows = rows, .inner = inner, .columns = columns});
  }
  if (op == Operator::FullyConnected) {
    TW_TRY(const std::int64_t in, node.integer("in"));
    TW_TRY(const std::int64_t out, node.integer("out"));
    return fully_connected(name, 1, in, out);
  }
  return read_convolution(node, name, op);
}

Result<Layer> read_layer(const Yaml& node) {
  if (node.kind != Yaml::Kind::Map) return node.error("a layer is not a map, expected {name: …, op: …, …}");
  TW_TRY(const Operator op, read_operator(node));
  TW_TRY(const Done known, only_keys_of(op, node));
  TW_TRY(const std::string name, node.text("name"));
  if (name.empty()) return node.error("'name' is empty, expected a name");
  TW_TRY(Layer layer, read_shape(node, name, op));
  TW_TRY(const std::int64_t batch, node.integer("batch", 1));
  layer.batch = batch;
  Result<Layer> checked = check(std::move(layer));
  if (!checked) return node.error(checked.error().message);
  return checked;
}

using Indices = std::unordered_map<std::string, std::size_t>;  // of the layers above, by name

Result<std::vector<std::size_t>> read_inputs(const Yaml& node, const Network& network, const Indices& indices) {
  if (node.find("from") == nullptr) {
    return network.layers.empty() ? std::vector<std::size_t>{} : std::vector{network.layers.size() - 1};
  }
  TW_TRY(const std::vector<Yaml> items, node.list("from"));
  std::vector<std::size_t> inputs;
  for (const Yaml& item : items) {
    TW_TRY(const std::string name, item.as_text("an entry of 'from'"));
    const auto found = indices.find(name);
    if (found == indices.end()) {
      std::vector<std::string> names;
      for (const NetworkLayer& entry : network.layers) names.push_back(entry.layer.name);
      return item.error(
          fmt::format("'from' names '{}', expected a layer above this one{}", name, did_you_mean(name, names)));
    }
    if (std::find(inputs.begin(), inputs.end(), found->second) != inputs.end()) {
      return item.error(fmt::format("'from' names '{}' twice, expected it once", name));
    }
    inputs.push_back(found->second);
  }
  return inputs;
}

Result<std::int64_t> read_count(const Yaml& node) {
  TW_TRY(const std::int64_t count, node.integer("count", 1));
  if (count < 1) return node.error(fmt::format("'count' is {}, expected at least 1", count));
  if (count > kMostCount) return node.error(fmt::format("'count' is {}, expected at most {}", count, kMostCount));
  return count;
}

Result<OtherOperator> read_other(const Yaml& node) {
  TW_TRY(const Done known, node.only_keys({"op", "count", "operations", "macs"}));
  TW_TRY(const std::string name, node.text("op"));
  TW_TRY(const std::int64_t count, read_count(node));
  TW_TRY(const std::int64_t operations, node.integer("operations", 0));
  if (operations < 0) return node.error(fmt::format("'operations' is {}, expected at least 0", operations));
  OtherOperator other{name, count, operations, node.find("operations") != nullptr};
  if (const Yaml* field = node.find("macs")) {
    if (field->kind == Yaml::Kind::Scalar && field->scalar == kUnknownMacs) {
      other.macs = std::nullopt;
    } else {
      TW_TRY(other.macs, field->as_integer("'macs'"));
      if (*other.macs < 0) return field->error(fmt::format("'macs' is {}, expected at least 0", *other.macs));
    }
  }
  return other;
}

std::string pair_text(std::int64_t height, std::int64_t width) {
  return height == width ? fmt::format("{}", height) : fmt::format("[{}, {}]", height, width);
}

std::string pads_text(const Layer& l) {
  if (l.pad_top == l.pad_bottom && l.pad_left == l.pad_right) return pair_text(l.pad_top, l.pad_left);
  return fmt::format("[{}, {}, {}, {}]", l.pad_top, l.pad_bottom, l.pad_left, l.pad_right);
}

std::string fields_text(const Layer& l) {
  if (l.op == Operator::MatrixMultiply) {
    return fmt::format(", rows: {}, inner: {}, columns: {}", l.in_height, l.in_channels, l.out_channels);
  }
  if (l.op == Operator::FullyConnected) return fmt::format(", in: {}, out: {}", l.in_channels, l.out_channels);
  std::string text = fmt::format(", in: [{}, {}, {}]", l.in_channels, l.in_height, l.in_width);
  const bool depthwise = l.op == Operator::Depthwise;
  if (!depthwise || l.out_channels != l.in_channels) text += fmt::format(", out: {}", l.out_channels);
  text += fmt::format(", kernel: {}", pair_text(l.kernel_height, l.kernel_width));
  const auto add = [&](std::string_view key, const std::string& value, std::string_view otherwise) {
    if (value != otherwise) text += fmt::format(", {}: {}", key, value);
  };
  add("stride", pair_text(l.stride_height, l.stride_width), "1");
  add("dilation", pair_text(l.dilation_height, l.dilation_width), "1");
  add("pad", pads_text(l), "0");
  add("output_pad", pair_text(l.output_pad_height, l.output_pad_width), "0");
  if (!depthwise) add("groups", fmt::format("{}", l.groups), "1");
  return text;
}

std::string layer_text(const Network& network, std::size_t index) {
  const NetworkLayer& entry = network.layers[index];
  std::string text = fmt::format("{{name: {}, op: {}", yaml_scalar(entry.layer.name), name_of(entry.layer.op));
  if (entry.layer.batch != 1) text += fmt::format(", batch: {}", entry.layer.batch);
  text += fields_text(entry.layer);
  if (entry.count != 1) text += fmt::format(", count: {}", entry.count);
  const bool chained = index == 0 ? entry.inputs.empty() : entry.inputs == std::vector{index - 1};
  if (!chained) {
    std::vector<std::string> names;
    for (const std::size_t input : entry.inputs) names.push_back(yaml_scalar(network.layers[input].layer.name));
    text += fmt::format(", from: [{}]", join(names, ", "));
  }
  return text + "}";
}

}  // namespace

Result<Network> network_from_yaml(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, kFormat));
  TW_TRY(const Done known, root.only_keys({"format", "name", "source", "macs", "layers", "others"}));
  TW_TRY(const std::string name, root.text("name"));
  TW_TRY(const std::string source, root.text("source", ""));
  Network network;
  network.name = name;
  network.source = source;
  if (const Yaml* stated = root.find("macs")) {
    TW_TRY(const std::int64_t macs, stated->as_integer("'macs'"));
    if (macs < 0) return stated->error(fmt::format("'macs' is {}, expected at least 0", macs));
    network.stated = Macs{macs};
  }

  TW_TRY(const std::vector<Yaml> layers, root.list("layers"));
  if (layers.empty()) return root.error("'layers' is missing or empty, expected at least one layer");
  Indices indices;
  for (const Yaml& node : layers) {
    TW_TRY(Layer layer, read_layer(node));
    TW_TRY(const std::int64_t count, read_count(node));
    TW_TRY(std::vector<std::size_t> inputs, read_inputs(node, network, indices));
    if (!indices.emplace(layer.name, network.layers.size()).second) {
      return node.error(fmt::format("layer '{}' stands here for the second time, expected a name of its own", layer.name));
    }
    network.layers.push_back({std::move(layer), count, std::move(inputs)});
  }

  TW_TRY(const std::vector<Yaml> others, root.list("others"));
  for (const Yaml& node : others) {
    TW_TRY(OtherOperator other, read_other(node));
    network.others.push_back(std::move(other));
  }
  return check(std::move(network), where);
}

std::string to_yaml(const Network& network) {
  std::string text = fmt::format("format: {}\nname: {}\n", kFormat, yaml_scalar(network.name));
  if (!network.source.empty()) text += fmt::format("source: {}\n", yaml_scalar(network.source));
  if (network.stated) text += fmt::format("macs: {}\n", network.stated->value);
  text += "layers:\n";
  for (std::size_t index = 0; index < network.layers.size(); ++index) text += "  - " + layer_text(network, index) + "\n";
  if (!network.others.empty()) text += "others:\n";
  for (const OtherOperator& other : network.others) {
    const std::string operations = other.operations_known ? fmt::format(", operations: {}", other.operations) : "";
    const std::string macs = !other.macs       ? fmt::format(", macs: {}", kUnknownMacs)
                             : *other.macs > 0 ? fmt::format(", macs: {}", *other.macs)
                                               : "";
    text += fmt::format("  - {{op: {}, count: {}{}{}}}\n", yaml_scalar(other.name), other.count, operations, macs);
  }
  return text;
}

}  // namespace tilewright
