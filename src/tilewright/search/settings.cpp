#include "tilewright/search/settings.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// Limits beyond what anyone would type mean "no limit" and are not worth a word.
std::string range_text(const Setting& field) {
  if (field.most >= 1e18) return fmt::format("at least {}", field.least);
  return fmt::format("{} to {}", field.least, field.most);
}

Result<Done> write(const Setting& field, const std::string& name, const std::string& value) {
  const auto wrong = [&](const std::string& expected) {
    return invalid(fmt::format("{} is '{}', expected {}", name, printable(value), expected));
  };
  const auto in_range = [&](double number) { return number >= field.least && number <= field.most; };

  if (auto* const* integer = std::get_if<std::int64_t*>(&field.target)) {
    const auto number = parse_integer(value);
    if (!number) return wrong(fmt::format("a whole number, {}", range_text(field)));
    if (!in_range(static_cast<double>(*number))) return wrong(range_text(field));
    **integer = *number;
  } else if (auto* const* real = std::get_if<double*>(&field.target)) {
    const auto number = parse_real(value);
    if (!number) return wrong(fmt::format("a number, {}", range_text(field)));
    if (!in_range(*number)) return wrong(range_text(field));
    **real = *number;
  } else if (auto* const* flag = std::get_if<bool*>(&field.target)) {
    const std::string word = lower(value);
    if (word != "true" && word != "false") return wrong("'true' or 'false'");
    **flag = word == "true";
  } else if (const auto* word = std::get_if<Worded>(&field.target)) {
    if (!word->choices.empty() && std::find(word->choices.begin(), word->choices.end(), value) == word->choices.end()) {
      return wrong(fmt::format("one of {}{}", join(word->choices, ", "), did_you_mean(value, word->choices)));
    }
    return word->read(value);
  } else {
    **std::get_if<std::string*>(&field.target) = value;
  }
  return Done{};
}

}  // namespace

Result<Done> add_setting(Settings& settings, std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view name = trim(text.substr(0, equals));
  const auto dot = name.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) {
    return invalid(
        fmt::format("the setting is '{}', expected searcher.name=value such as genetic.population=100", printable(text)));
  }
  settings.insert_or_assign(std::string(name), std::string(trim(text.substr(equals + 1))));
  return Done{};
}

Result<Done> apply_settings(const Settings& settings, std::string_view searcher, std::vector<Setting> fields) {
  const std::string prefix = fmt::format("{}.", searcher);
  for (auto entry = settings.lower_bound(prefix); entry != settings.end() && entry->first.starts_with(prefix); ++entry) {
    const std::string_view name = std::string_view(entry->first).substr(prefix.size());
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Setting& f) { return f.name == name; });
    if (field == fields.end()) {
      std::vector<std::string> names;
      for (const Setting& known : fields) names.push_back(known.name);
      return invalid(fmt::format("{} has no setting '{}', expected one of {}{}", searcher, printable(name),
                                 join(names, ", "), did_you_mean(name, names)));
    }
    TW_TRY([[maybe_unused]] const Done done, write(*field, entry->first, entry->second));
  }
  return Done{};
}

std::vector<SettingValue> values_of(const std::vector<Setting>& fields) {
  std::vector<SettingValue> values;
  for (const Setting& field : fields) {
    const auto to_text = [](const auto& target) {
      if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Worded>) {
        return target.text();
      } else {
        return fmt::format("{}", *target);
      }
    };
    values.push_back({field.name, std::visit(to_text, field.target), field.meaning});
  }
  return values;
}

}  // namespace tilewright
