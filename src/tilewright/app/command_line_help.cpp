// What the command line says about itself: examples, help, and what was wrong with what was typed.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
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

}  // namespace tilewright
