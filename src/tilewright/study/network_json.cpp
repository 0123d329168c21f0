#include "tilewright/study/network_json.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::array kOperators = {Operator::Convolution, Operator::Depthwise, Operator::TransposedConvolution,
                                   Operator::FullyConnected, Operator::MatrixMultiply};

Result<Operator> operator_named(const std::string& name) {
  for (const Operator op : kOperators) {
    if (name_of(op) == name) return op;
  }
  return invalid(fmt::format("operator '{}' is not known", name));
}

Json known_or_null(bool known, std::int64_t value) { return known ? Json(value) : Json(); }

}  // namespace

void add_layer(Json& json, const Layer& l, const std::vector<std::string>& members) {
  json["operator"] = name_of(l.op);
  json["shape"] = {{"batch", l.batch},
                   {"in", {l.in_channels, l.in_height, l.in_width}},
                   {"out", {l.out_channels, out_height(l), out_width(l)}},
                   {"kernel", {l.kernel_height, l.kernel_width}},
                   {"dilation", {l.dilation_height, l.dilation_width}},
                   {"pad", {l.pad_top, l.pad_bottom, l.pad_left, l.pad_right}},
                   {"output_pad", {l.output_pad_height, l.output_pad_width}},
                   {"groups", l.groups}};
  json["stride"] = {l.stride_height, l.stride_width};
  json["members"] = members;
}

Result<Layer> layer_from(const Json& json, const std::string& name) {
  try {
    Layer l;
    l.name = name;
    TW_TRY(l.op, operator_named(json.at("operator").get<std::string>()));
    const Json& shape = json.at("shape");
    const auto number = [&](const char* key, std::size_t index) { return shape.at(key).at(index).get<std::int64_t>(); };
    l.batch = shape.at("batch").get<std::int64_t>();
    l.groups = shape.at("groups").get<std::int64_t>();
    l.in_channels = number("in", 0), l.in_height = number("in", 1), l.in_width = number("in", 2);
    l.out_channels = number("out", 0);
    l.kernel_height = number("kernel", 0), l.kernel_width = number("kernel", 1);
    l.dilation_height = number("dilation", 0), l.dilation_width = number("dilation", 1);
    l.pad_top = number("pad", 0), l.pad_bottom = number("pad", 1);
    l.pad_left = number("pad", 2), l.pad_right = number("pad", 3);
    l.output_pad_height = number("output_pad", 0), l.output_pad_width = number("output_pad", 1);
    l.stride_height = json.at("stride").at(0).get<std::int64_t>();
    l.stride_width = json.at("stride").at(1).get<std::int64_t>();
    return check(std::move(l));
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("layer '{}' has no shape that can be read ({})", name, failure.what()));
  }
}

Json to_json(const Coverage& coverage) {
  Json json{{"share", share_of(coverage)},
            {"complete", is_complete(coverage)},
            {"macs", coverage.macs.value},
            {"left_out", Json::array()}};
  for (const OtherOperator& other : coverage.left_out) {
    json["left_out"].push_back({{"op", other.name},
                                {"count", other.count},
                                {"macs", known_or_null(other.macs.has_value(), other.macs.value_or(0))},
                                {"operations", known_or_null(other.operations_known, other.operations)}});
  }
  return json;
}

Result<Coverage> coverage_from(const Json& json) {
  try {
    Coverage coverage{.macs = {json.at("macs").get<std::int64_t>()}, .left_out = {}};
    for (const Json& entry : json.at("left_out")) {
      OtherOperator other{.name = entry.at("op").get<std::string>(), .count = entry.at("count").get<std::int64_t>()};
      other.macs.reset();
      if (!entry.at("macs").is_null()) other.macs = entry.at("macs").get<std::int64_t>();
      other.operations_known = !entry.at("operations").is_null();
      if (other.operations_known) other.operations = entry.at("operations").get<std::int64_t>();
      coverage.left_out.push_back(std::move(other));
    }
    return coverage;
  } catch (const Json::exception& failure) {
    return invalid(fmt::format("coverage cannot be read ({})", failure.what()));
  }
}

}  // namespace tilewright
