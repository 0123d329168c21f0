// Hyper-parameters by name: "gamma.population=100" on the command line sets GammaOptions::population.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/base/result.hpp"

namespace tilewright {

// One field of an options struct: its name, what it means, where it is, and the range it must keep.
struct Setting {
  std::string name;     // "population"
  std::string meaning;  // one line, for --help
  std::variant<std::int64_t*, double*, bool*, std::string*, Worded> target;
  double least = 0;
  double most = 1e18;
};

// An enum of which a setting offers some words, or in an order of its own.
template <Named Enum>
Worded one_of(Enum& value, std::initializer_list<Enum> offered) {
  Worded word = worded(value);
  word.choices.clear();
  for (const Enum one : offered) word.choices.emplace_back(name(one));
  return word;
}

// What was given on the command line, "gamma.population" -> "100".
using Settings = std::map<std::string, std::string, std::less<>>;

// Adds "gamma.population=100"; an Error says what is wrong with the form.
Result<Done> add_setting(Settings& settings, std::string_view text);

// Writes every entry of `settings` that begins with "searcher." through `fields`. A name that is no field is an Error with
// the nearest one, a value of the wrong kind or out of range likewise.
Result<Done> apply_settings(const Settings& settings, std::string_view searcher, std::vector<Setting> fields);

// Name, current value and meaning of every field, for results and --settings.
struct SettingValue {
  std::string name, value, meaning;
  bool operator==(const SettingValue&) const = default;
};
std::vector<SettingValue> values_of(const std::vector<Setting>& fields);

}  // namespace tilewright
