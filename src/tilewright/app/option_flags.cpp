#include "tilewright/app/option_flags.hpp"

#include <type_traits>

#include <CLI/CLI.hpp>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

std::string spelling(const OptionField& field) {
  return field.traits.positional ? std::string(field.name) : join(flags_of(field), ",");
}

CLI::Option* add(CLI::App& verb, const OptionField& field, const Worded& word) {
  const auto read = [word](const std::string& text) {
    const Result<Done> done = word.read(text);
    if (!done) throw CLI::ValidationError(done.error().message);
    return true;
  };
  CLI::Option* option = verb.add_option(
      spelling(field), CLI::callback_t([read](const CLI::results_t& texts) { return read(texts.back()); }), field.meaning);
  option->type_name("TEXT")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (!field.traits.default_is_said) option->default_str(word.text());
  return option;
}

}  // namespace

std::vector<std::string> flags_of(const OptionField& field) {
  if (field.traits.positional) return {};
  std::vector<std::string> flags = {flag_of(field)};
  if (!field.traits.letter.empty()) flags.push_back("-" + std::string(field.traits.letter));
  return flags;
}

bool takes_value(const OptionField& field) { return !std::holds_alternative<bool*>(field.target); }

std::vector<std::string> choices_of(const OptionField& field) {
  const auto* word = std::get_if<Worded>(&field.target);
  return word != nullptr ? word->choices : std::vector<std::string>{};
}

std::string default_of(const OptionField& field) {
  return takes_value(field) && !field.traits.default_is_said ? value_text(field).value_or("") : "";
}

void add_options(CLI::App& verb, const OptionTable& table) {
  for (const OptionField& field : table) {
    CLI::Option* option = std::visit(
        [&](const auto& target) -> CLI::Option* {
          using Target = std::decay_t<decltype(target)>;
          if constexpr (std::is_same_v<Target, Worded>) {
            return add(verb, field, target);
          } else if constexpr (std::is_same_v<Target, bool*>) {
            return verb.add_flag(spelling(field), *target, field.meaning);
          } else {
            CLI::Option* added = verb.add_option(spelling(field), *target, field.meaning);
            if constexpr (std::is_same_v<Target, std::vector<std::string>*>)
              added->allow_extra_args(field.traits.positional);
            if constexpr (std::is_arithmetic_v<std::remove_pointer_t<Target>>) {
              if (!field.traits.default_is_said) added->capture_default_str();
            }
            if constexpr (std::is_same_v<Target, std::string*>) {
              if (!target->empty() && !field.traits.default_is_said) added->capture_default_str();
            }
            return added;
          }
        },
        field.target);
    if (!field.traits.group.empty()) option->group(std::string(field.traits.group));
  }
}

}  // namespace tilewright
