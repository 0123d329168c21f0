#include "tilewright/app/manual.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/option_flags.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {

enum class Shell { Bash, Zsh };
template <>
struct Names<Shell> {
  static constexpr std::string_view kWhat = "shell";
  static constexpr NameTable<Shell, 2> kTable = {{{Shell::Bash, "bash"}, {Shell::Zsh, "zsh"}}};
};

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

std::vector<std::string> names_of(const std::vector<Verb>& verbs) {
  std::vector<std::string> names = {"help"};
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return names;
}

// A text inside '…' of a shell.
std::string in_quotes(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return text;
}

// What zsh's _arguments must not take for its own signs.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return in_quotes(escaped);
}

// What troff must not take for its own signs; lines that begin with a dot or a quote are none of its requests.
std::string roff(const std::string& text) {
  std::string escaped;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    begins = c == '\n';
  }
  return escaped;
}

std::string man_entry(const OptionField& field) {
  std::string head;
  for (const std::string& flag : flags_of(field)) head += (head.empty() ? "\\fB" : ", \\fB") + roff(flag) + "\\fR";
  if (field.traits.positional) head = "\\fI" + roff(std::string(field.name)) + "\\fR";
  if (takes_value(field) && !field.traits.positional) head += " \\fIVALUE\\fR";
  std::string text = roff(field.meaning);
  if (!choices_of(field).empty()) text += "; one of " + roff(join(choices_of(field), ", "));
  if (const std::string value = default_of(field); !value.empty()) text += fmt::format(" (default {})", roff(value));
  return fmt::format(".TP\n{}\n{}\n", head, text);
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

std::string bash_completion(const std::vector<Verb>& verbs) {
  std::string cases, values;
  for (const Verb& verb : verbs) {
    std::vector<std::string> flags = {"--help"};
    for (const OptionField& field : verb.options) {
      for (const std::string& flag : flags_of(field)) {
        flags.push_back(flag);
        if (takes_value(field) && !choices_of(field).empty()) {
          values += fmt::format("    {}:{}) words='{}' ;;\n", verb.name, flag, in_quotes(join(choices_of(field), " ")));
        }
      }
    }
    cases += fmt::format("    {}) words='{}' ;;\n", verb.name, in_quotes(join(flags, " ")));
  }
  return fmt::format(
      "# bash completion of tilewright; `source <(tilewright completion bash)`\n"
      "_tilewright() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb=${{COMP_WORDS[1]}} words=''\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)) || [[ $COMP_CWORD == 2 && $verb == help ]]; then\n"
      "    COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb:$before in\n{}  esac\n"
      "  if [[ -z $words && $current == -* ]]; then\n"
      "    case $verb in\n{}    esac\n"
      "  fi\n"
      "  if [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _tilewright tilewright\n",
      in_quotes(join(names_of(verbs), " ")), values, cases);
}

std::string zsh_completion(const std::vector<Verb>& verbs) {
  std::string list = "    'help:what a verb does, its options and examples'\n", cases;
  for (const Verb& verb : verbs) {
    list += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.summary));
    cases += fmt::format("    {})\n      _arguments '--help[show the options]'", verb.name);
    for (const OptionField& field : verb.options) {
      const std::string words = choices_of(field).empty() ? "_files" : "(" + zsh_text(join(choices_of(field), " ")) + ")";
      for (const std::string& flag : flags_of(field)) {
        cases += fmt::format(" \\\n        '{}[{}]{}'", flag, zsh_text(field.meaning),
                             takes_value(field) ? fmt::format(":{}:{}", field.name, words) : "");
      }
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(
      "#compdef tilewright\n"
      "_tilewright() {{\n"
      "  local -a verbs=(\n{}  )\n"
      "  if ((CURRENT == 2)) || [[ $CURRENT == 3 && $words[2] == help ]]; then\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $verb in\n{}  esac\n"
      "}}\n"
      "compdef _tilewright tilewright\n",
      list, cases);
}

std::string man_page(const std::vector<Verb>& verbs) {
  std::string page =
      ".TH TILEWRIGHT 1 \"\" \"tilewright " TILEWRIGHT_VERSION
      "\" \"User Commands\"\n.SH NAME\ntilewright \\- decides how a deep neural network runs on an accelerator\n"
      ".SH SYNOPSIS\n.B tilewright\n\\fIVERB\\fR [\\fIOPTION\\fR]...\n";
  for (const Verb& verb : verbs) {
    page += fmt::format(".SH {}\n{}\n", roff(verb.name), roff(verb.summary));
    for (const OptionField& field : verb.options) page += man_entry(field);
    if (!verb.footer.empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(verb.footer));
  }
  return page +
         ".SH EXIT STATUS\n0 done; 1 failed in a way that nobody foresaw; 2 wrong input; 3 something asked for is "
         "infeasible, "
         "or numbers differ; 130 stopped, with everything kept.\n";
}

Verb completion_verb() {
  const auto shell = std::make_shared<Shell>(Shell::Bash);
  return {.name = "completion",
          .summary = "what a shell needs to complete verbs and options",
          .options = {{"shell", worded(*shell), "bash or zsh", {.positional = true}}},
          .footer = examples_text({{"tilewright completion bash", "for ~/.bashrc: source <(tilewright completion bash)"},
                                   {"tilewright completion zsh", "for a file _tilewright in a folder of $fpath"}}),
          .run = [shell] {
            const std::vector<Verb> verbs = all_verbs({});
            print(*shell == Shell::Bash ? bash_completion(verbs) : zsh_completion(verbs));
            return kExitDone;
          }};
}

Verb man_verb() {
  struct Arguments {
    std::string verb;
    bool markdown = false;
  };
  const auto about = std::make_shared<Arguments>();
  return {.name = "man",
          .summary = "the manual page, for man",
          .options = {{"verb", &about->verb, "one of the verbs; without it, all of them", {.positional = true}},
                      {"markdown", &about->markdown, "as tables for people who read Markdown: docs/options.md"}},
          .footer = examples_text({{"tilewright man", "all verbs; > tilewright.1 and man ./tilewright.1 show it"},
                                   {"tilewright man map", "one of them"}}),
          .run = [about] {
            const std::vector<Verb> verbs = all_verbs({});
            std::vector<Verb> asked;
            for (const Verb& verb : verbs) {
              if (about->verb.empty() || verb.name == about->verb) asked.push_back(verb);
            }
            if (asked.empty()) return report(not_a_verb(about->verb, names_of(verbs)));
            print(about->markdown ? options_page(asked) : man_page(asked));
            return kExitDone;
          }};
}

}  // namespace tilewright
