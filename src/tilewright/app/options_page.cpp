#include "tilewright/app/options_page.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "tilewright/app/option_flags.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// What Markdown must not take for its own signs inside a table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\|*_<[`").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string in_code(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", text); }

template <typename T>
constexpr bool kIsReal = std::is_same_v<T, double*> || std::is_same_v<T, std::optional<double>*>;
template <typename T>
constexpr bool kIsText = std::is_same_v<T, Worded> || std::is_same_v<T, std::string*> ||
                         std::is_same_v<T, std::vector<std::string>*> || std::is_same_v<T, std::optional<std::string>*>;

std::string_view value_of(const OptionField& field) {
  return std::visit(
      [](const auto& target) -> std::string_view {
        using Target = std::decay_t<decltype(target)>;
        return std::is_same_v<Target, bool*> ? "" : kIsText<Target> ? " TEXT" : kIsReal<Target> ? " X" : " N";
      },
      field.target);
}

std::string row(const OptionField& field) {
  std::vector<std::string> flags = flags_of(field);
  if (field.traits.positional) {
    flags = {std::string(field.name)};
  } else {
    flags.front() += value_of(field);
  }
  std::ranges::transform(flags, flags.begin(), in_code);
  std::string meaning = field.meaning;
  const std::vector<std::string> words = choices_of(field);
  const auto is_said = [&](const std::string& word) { return field.meaning.find(word) != std::string::npos; };
  if (!std::ranges::all_of(words, is_said)) meaning += "; one of " + join(words, ", ");
  return fmt::format("| {} | {} | {} |\n", join(flags, ", "), in_code(default_of(field)), cell(meaning));
}

// As in the help: groups in the order in which they first appear, those without one before them.
std::string rows(const OptionTable& options) {
  std::vector<std::string_view> groups = {""};
  for (const OptionField& field : options) {
    if (std::ranges::find(groups, field.traits.group) == groups.end()) groups.push_back(field.traits.group);
  }
  std::string text;
  for (const std::string_view group : groups) {
    if (!group.empty()) text += fmt::format("| **{}** | | |\n", cell(std::string(group)));
    for (const OptionField& field : options) {
      if (field.traits.group == group) text += row(field);
    }
  }
  return text;
}

}  // namespace

std::string options_page(const std::vector<Verb>& verbs) {
  std::string page =
      "# Options\n\n"
      "Every verb with its options, as `tilewright man --markdown` prints them from the tables that give flags, help,\n"
      "completion and the manual page, too. N is a whole number, X any number. An option without a default is off, empty, "
      "or\n"
      "what its meaning says. `tilewright help VERB` has the lists that some meanings refer to, and examples.\n";
  for (const Verb& verb : verbs) {
    page += fmt::format("\n## {}\n\n{}\n\n| option | default | meaning |\n|---|---|---|\n{}", verb.name, cell(verb.summary),
                        rows(verb.options));
  }
  return page;
}

}  // namespace tilewright
