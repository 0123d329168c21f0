#include "tilewright/app/command_line.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// What one verb calls one thing and another verb another: a mapping is for any accelerator, a program for a VTA-class
// machine.
constexpr std::array<std::array<std::string_view, 2>, 3> kSameThing = {
    {{"--hardware", "--machine"}, {"--samples", "--measurements"}, {"--out", "--output"}}};

std::string hint_for(const std::string& option, const std::vector<std::string>& names) {
  const std::string name = option.substr(0, option.find('='));
  for (const auto& pair : kSameThing) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (name == pair[i] && std::ranges::find(names, pair[1 - i]) != names.end())
        return fmt::format(" (did you mean '{}'?)", pair[1 - i]);
    }
  }
  return did_you_mean(name, names);
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  return verbs;
}

// Both leave the text as CLI11 reads it rightly, or say what is wrong with it: what is written after "--name ".
std::string read_whole(std::string& text, std::int64_t least) {
  const auto number = parse_integer(text);
  if (!number || *number < least) {
    return fmt::format("is '{}', expected a whole number from {} to {}", printable(text), least,
                       std::numeric_limits<std::int64_t>::max());
  }
  text = fmt::format("{}", *number);
  return "";
}

std::string read_real(std::string& text) {
  const auto number = parse_real(text);
  if (!number) return fmt::format("is '{}', expected a number", printable(text));
  text = fmt::format("{}", *number);
  return "";
}

}  // namespace

Error not_a_verb(const std::string& word, const std::vector<std::string>& verbs) {
  std::string hint = did_you_mean(word, verbs);
  if (hint.empty()) hint = fmt::format(", expected one of {}", join(verbs, ", "));
  return invalid(fmt::format("tilewright: '{}' is not a verb{}", word, hint));
}

std::string examples_text(std::initializer_list<Example> examples) {
  std::string text = "\nExamples:\n";
  for (const Example& example : examples) text += fmt::format("  {}\n      {}\n", example.command, example.why);
  return text;
}

Error to_error(const CLI::App& app, const CLI::ParseError& failure, int argc, char** argv) {
  const std::vector<std::string> verbs = verbs_of(app);
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(verbs, argv[1]) == verbs.end()) return not_a_verb(argv[1], verbs);
  std::string sentence = failure.what();
  if (dynamic_cast<const CLI::ValidationError*>(&failure) != nullptr) {  // "--seed: is '-1', expected …"
    if (const auto colon = sentence.find(": is "); colon != std::string::npos) return invalid(sentence.erase(colon, 1));
  }
  std::string hint;
  for (const CLI::App* verb : app.get_subcommands()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : verb->get_options()) {
      if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    }
    std::vector<std::string> extras = verb->remaining();
    // An option that does not exist leaves its value behind, too.
    std::ranges::stable_partition(extras, [](const std::string& extra) { return extra.starts_with("-"); });
    if (extras.empty()) continue;
    hint = hint_for(extras[0], names);
    sentence = fmt::format("'{}' is not an option of {}", extras[0], verb->get_name());
  }
  return invalid(fmt::format("tilewright: {}{}", sentence, hint));
}

int run_help(CLI::App& app, const std::string& verb) {
  app.clear();  // or it would tell about the verb that was parsed, which is help
  if (verb.empty()) {
    print(app.help());
    return kExitDone;
  }
  for (const CLI::App* known : app.get_subcommands({})) {
    if (known->get_name() != verb) continue;
    print(known->help("tilewright"));
    return kExitDone;
  }
  return report(not_a_verb(verb, verbs_of(app)));
}

void check_numbers(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) {
    const std::string type = option->get_type_name();
    if (type.starts_with("UINT")) {
      option->transform(CLI::Validator([](std::string& text) { return read_whole(text, 0); }, ""));
    } else if (type.starts_with("INT")) {
      constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
      option->transform(CLI::Validator([](std::string& text) { return read_whole(text, kLeast); }, ""));
    } else if (type.starts_with("FLOAT")) {
      option->transform(CLI::Validator(read_real, ""));
    }
  }
}

Result<int> show_settings(const std::string& search, const std::vector<std::string>& settings) {
  Settings given;
  for (const std::string& setting : settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(given, setting));
  }
  TW_TRY(const auto fields, settings_in_force(search, given));
  for (const SettingValue& field : fields) {
    print(fmt::format("{:<28} {:<12} {}\n", fmt::format("{}.{}", search, field.name), field.value, field.meaning));
  }
  return kExitDone;
}

}  // namespace tilewright
