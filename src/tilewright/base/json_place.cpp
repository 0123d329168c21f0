#include "tilewright/base/json_place.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

std::string described(const nlohmann::json& json) {
  if (json.is_array()) return fmt::format("an array of {}", json.size());
  if (json.is_string()) return "'" + printable(json.get_ref<const std::string&>().substr(0, 40)) + "'";
  if (json.is_number() || json.is_boolean() || json.is_null()) return json.dump();
  return json.is_object() ? "an object" : "nothing";
}

bool is_root(const JsonPlace& place) { return place.path.ends_with(' '); }

// The whole number a value stands for, if it is one that 64 bits hold.
std::optional<std::int64_t> whole(const nlohmann::json& json) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (!json.is_number()) return std::nullopt;
  const auto number = json.get<double>();
  if (!(number >= -kEnd && number < kEnd) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

Error JsonPlace::wrong(std::string_view expected) const {
  return invalid(fmt::format("{}{} {}, expected {}", path, is_root(*this) ? "is" : " is", described(*json), expected));
}

std::optional<JsonPlace> JsonPlace::find(const std::string& key) const {
  if (!json->is_object()) return std::nullopt;
  const auto found = json->find(key);
  if (found == json->end()) return std::nullopt;
  return JsonPlace{&*found, path + (is_root(*this) ? "" : ".") + key};
}

Result<JsonPlace> JsonPlace::member(const std::string& key) const {
  if (!json->is_object()) return wrong("an object");
  if (const std::optional<JsonPlace> found = find(key)) return *found;
  return invalid(fmt::format("{}{}has no '{}', expected one", path, is_root(*this) ? "" : " ", key));
}

Result<std::vector<JsonPlace>> JsonPlace::elements(std::optional<std::size_t> count) const {
  if (!json->is_array() || (count && json->size() != *count)) {
    return wrong(count ? fmt::format("an array of {}", *count) : "an array");
  }
  std::vector<JsonPlace> result;
  for (std::size_t i = 0; i < json->size(); ++i) result.push_back({&(*json)[i], fmt::format("{}[{}]", path, i)});
  return result;
}

Result<std::string> JsonPlace::text() const {
  if (!json->is_string()) return wrong("a text");
  return json->get<std::string>();
}

Result<bool> JsonPlace::truth() const {
  if (!json->is_boolean()) return wrong("true or false");
  return json->get<bool>();
}

Result<double> JsonPlace::number() const {
  if (!json->is_number()) return wrong("a number");
  return json->get<double>();
}

Result<std::int64_t> JsonPlace::integer(std::int64_t least, std::int64_t most) const {
  if (const auto number = whole(*json); number && *number >= least && *number <= most) return *number;
  using Limits = std::numeric_limits<std::int64_t>;
  if (least == Limits::min() && most == Limits::max()) return wrong("a whole number");
  if (most == Limits::max()) return wrong(fmt::format("a whole number of at least {}", least));
  return wrong(fmt::format("a whole number from {} to {}", least, most));
}

}  // namespace tilewright
