#include "tilewright/base/options.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <typename T>
std::string kind_of() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_unsigned_v<T>) return "a whole number from 0";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  if constexpr (std::is_same_v<T, std::string>) return "a text";
  return "a list of texts";
}

template <typename T>
bool fits(const Json& value) {
  if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
  if constexpr (std::is_same_v<T, double>) return value.is_number();
  if constexpr (std::is_same_v<T, std::uint64_t>) return value.is_number_unsigned();
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::int64_t>) {
    return value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX) &&
           std::in_range<T>(value.get<std::int64_t>());
  }
  if constexpr (std::is_same_v<T, std::string>) return value.is_string();
  return value.is_array() && std::ranges::all_of(value, [](const Json& entry) { return entry.is_string(); });
}

template <typename T>
Result<Done> read_into(T& field, const Json& value, const std::string& place) {
  if (!fits<T>(value)) return invalid(fmt::format("{} is {}, expected {}", place, printable(value.dump()), kind_of<T>()));
  field = value.get<T>();
  return Done{};
}

Result<Done> read_field(const OptionField& field, const Json& value, const std::string& place) {
  return std::visit(
      [&](const auto& target) -> Result<Done> {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, Worded>) {
          if (!value.is_string()) return invalid(fmt::format("{} is {}, expected a text", place, printable(value.dump())));
          const Result<Done> read = target.read(value.get<std::string>());
          return read ? read : Result<Done>(invalid(fmt::format("{}: {}", place, read.error().message)));
        } else {
          using Value = std::remove_pointer_t<Target>;
          if constexpr (kIsOptional<Value>) {
            typename Value::value_type read{};
            TW_TRY([[maybe_unused]] const Done done, read_into(read, value, place));
            *target = read;
            return Done{};
          } else {
            return read_into(*target, value, place);
          }
        }
      },
      field.target);
}

// The number of a field; nothing when it has none.
std::optional<double> number_of(const OptionField& field) {
  return std::visit(
      [](const auto& target) -> std::optional<double> {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_pointer_v<Target>) {
          using Value = std::remove_pointer_t<Target>;
          if constexpr (kIsNumber<Value>) return static_cast<double>(*target);
          if constexpr (kIsOptional<Value>) {
            if constexpr (kIsNumber<typename Value::value_type>) {
              if (*target) return static_cast<double>(**target);
            }
          }
        }
        return std::nullopt;
      },
      field.target);
}

std::optional<Json> json_of(const OptionField& field) {
  return std::visit(
      [](const auto& target) -> std::optional<Json> {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, Worded>) {
          const std::string text = target.text();
          return text.empty() ? std::nullopt : std::optional(Json(text));
        } else if constexpr (kIsOptional<std::remove_pointer_t<Target>>) {
          return *target ? std::optional(Json(**target)) : std::nullopt;
        } else if constexpr (std::is_same_v<Target, std::vector<std::string>*>) {
          return target->empty() ? std::nullopt : std::optional(Json(*target));
        } else {
          return Json(*target);
        }
      },
      field.target);
}

}  // namespace

std::string flag_of(const OptionField& field) {
  std::string flag = "--" + std::string(field.traits.flag.empty() ? field.name : field.traits.flag);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::optional<std::string> value_text(const OptionField& field) {
  const std::optional<Json> json = json_of(field);
  if (!json) return std::nullopt;
  if (json->is_array()) {
    std::vector<std::string> parts;
    for (const Json& part : *json) parts.push_back(part.get<std::string>());
    return join(parts, " ");
  }
  return json->is_string()         ? json->get<std::string>()
         : json->is_number_float() ? fmt::format("{}", json->get<double>())
                                   : json->dump();
}

Json to_json(const OptionTable& table) {
  Json json = Json::object();
  for (const OptionField& field : table) {
    if (!field.traits.recorded) continue;
    if (std::optional<Json> value = json_of(field)) json[std::string(field.name)] = std::move(*value);
  }
  return json;
}

Result<Done> read_options(const OptionTable& table, const Json& json, const std::string& where) {
  if (!json.is_object()) return invalid(fmt::format("{} is {}, expected options by name", where, printable(json.dump())));
  for (const auto& [key, value] : json.items()) {
    const auto field = std::ranges::find_if(table, [&key = key](const OptionField& known) { return known.name == key; });
    if (field == table.end()) {
      std::vector<std::string> names;
      for (const OptionField& known : table) names.emplace_back(known.name);
      return invalid(
          fmt::format("{}: '{}' is no option of this version{}", where, printable(key), did_you_mean(key, names)));
    }
    TW_TRY([[maybe_unused]] const Done read, read_field(*field, value, fmt::format("{}: {}", where, key)));
  }
  const Result<Done> checked = check_ranges(table);
  return checked ? checked : Result<Done>(invalid(fmt::format("{}: {}", where, checked.error().message)));
}

Result<Done> check_ranges(const OptionTable& table) {
  for (const OptionField& field : table) {
    const std::optional<double> number = number_of(field);
    if (!number || (*number >= field.traits.least && *number <= field.traits.most)) continue;
    const bool low = !(*number >= field.traits.least);
    return invalid(fmt::format("{} is {}, expected at {} {}", flag_of(field), *value_text(field), low ? "least" : "most",
                               low ? field.traits.least : field.traits.most));
  }
  return Done{};
}

}  // namespace tilewright
