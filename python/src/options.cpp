#include "options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"

namespace tilewright::python {
namespace {

using Json = nlohmann::ordered_json;

// As a keyword: "learning_rate" of "learning-rate", "from_" of "from".
std::string keyword_of(const OptionField& field) {
  std::string word(field.name);
  std::ranges::replace(word, '-', '_');
  return word == "from" || word == "lambda" ? word + "_" : word;
}

// A number, a word or a path as it is on the command line.
std::string word_of(nb::handle value, const std::string& place) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::hasattr(value, "__fspath__")) return source_text(value, place);
  if (nb::isinstance<nb::bool_>(value) || PyNumber_Check(value.ptr()) == 0) raise_type(place, value, "a str or a number");
  return str_of(value);
}

std::vector<std::string> words_of(nb::handle value, const std::string& place) {
  std::vector<std::string> words;
  if (nb::isinstance<nb::dict>(value)) {
    for (auto [key, entry] : nb::cast<nb::dict>(value)) {
      const bool truth = nb::isinstance<nb::bool_>(entry);
      words.push_back(fmt::format("{}={}", word_of(key, place),
                                  truth ? (nb::cast<bool>(entry) ? "true" : "false") : word_of(entry, place)));
    }
  } else if (nb::isinstance<nb::str>(value) || PySequence_Check(value.ptr()) == 0) {
    words.push_back(word_of(value, place));
  } else {
    for (const nb::handle entry : nb::iter(value)) words.push_back(word_of(entry, place));
  }
  return words;
}

template <typename T>
Json number_json(nb::handle value, const std::string& place) {
  T number{};
  from_python(value, place, number);
  return number;
}

Json json_of(const OptionField& field, nb::handle value, const std::string& place) {
  return std::visit(
      [&](const auto& target) -> Json {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, Worded>) {
          return join(words_of(value, place), ",");
        } else if constexpr (std::is_same_v<Target, bool*>) {
          return number_json<bool>(value, place);
        } else if constexpr (std::is_same_v<Target, double*> || std::is_same_v<Target, std::optional<double>*>) {
          return number_json<double>(value, place);
        } else if constexpr (std::is_same_v<Target, std::uint64_t*>) {
          const auto number = number_json<std::int64_t>(value, place);
          if (number < 0) raise(fmt::format("{} is {}, expected at least 0", place, number.dump()));
          return number.template get<std::uint64_t>();
        } else if constexpr (std::is_same_v<Target, int*> || std::is_same_v<Target, std::int64_t*> ||
                             std::is_same_v<Target, std::optional<std::int64_t>*>) {
          return number_json<std::int64_t>(value, place);
        } else if constexpr (std::is_same_v<Target, std::vector<std::string>*>) {
          return words_of(value, place);
        } else {
          if (!nb::isinstance<nb::str>(value) && !nb::hasattr(value, "__fspath__"))
            raise_type(place, value, "a str or a path");
          return word_of(value, place);
        }
      },
      field.target);
}

// What type checkers call a field's values.
std::string kind_of(const OptionField& field) {
  return std::visit(
      [](const auto& target) -> std::string {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, Worded>) return target.choices.empty() ? "words" : "choice";
        if constexpr (std::is_same_v<Target, bool*>) return "bool";
        if constexpr (std::is_same_v<Target, double*> || std::is_same_v<Target, std::optional<double>*>) return "float";
        if constexpr (std::is_same_v<Target, std::string*> || std::is_same_v<Target, std::optional<std::string>*>)
          return "str";
        if constexpr (std::is_same_v<Target, std::vector<std::string>*>) return "list";
        return "int";
      },
      field.target);
}

}  // namespace

void apply(const OptionTable& table, const nb::dict& given, const std::string& where) {
  Json json = Json::object();
  for (auto [key, value] : given) {
    if (value.is_none()) continue;
    const std::string name = nb::cast<std::string>(key);
    const auto field = std::ranges::find_if(table, [&](const OptionField& known) { return keyword_of(known) == name; });
    if (field == table.end()) {
      std::vector<std::string> names;
      for (const OptionField& known : table) names.push_back(keyword_of(known));
      raise_builtin(PyExc_TypeError, fmt::format("{}() has no option '{}'{}, expected some of {}", where, printable(name),
                                                 did_you_mean(name, names), join(names, ", ")));
    }
    json[std::string(field->name)] = json_of(*field, value, fmt::format("{}: {}", where, name));
  }
  take(read_options(table, json, where));
}

OptionTable without(OptionTable table, const std::vector<std::string>& names) {
  std::erase_if(table, [&](const OptionField& field) { return std::ranges::find(names, field.name) != names.end(); });
  return table;
}

nb::list described(const OptionTable& table) {
  nb::list all;
  for (const OptionField& field : table) {
    nb::dict one;
    one["name"] = keyword_of(field);
    one["kind"] = kind_of(field);
    one["default"] = field.traits.default_is_said ? std::string() : value_text(field).value_or("");
    one["meaning"] = field.meaning;
    const auto* word = std::get_if<Worded>(&field.target);
    one["choices"] = word != nullptr ? word->choices : std::vector<std::string>{};
    all.append(one);
  }
  return all;
}

}  // namespace tilewright::python
