// What the command line says about itself: examples, help, settings, and what was wrong with what was typed.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/base/result.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tilewright {

// The end of a verb's help: commands that work as they stand, each with what it is for; a test runs them all.
struct Example {
  std::string_view command;
  std::string_view why;
};
std::string examples_text(std::initializer_list<Example> examples);

// "tilewright: 'mapp' is not a verb (did you mean 'map'?)".
Error not_a_verb(const std::string& word, const std::vector<std::string>& verbs);
// A sentence about a command line that could not be parsed, with the nearest choice.
Error to_error(const CLI::App& app, const CLI::ParseError& failure, int argc, char** argv);

// `tilewright help VERB`: the same as `tilewright VERB --help`; without a verb, what there is.
int run_help(CLI::App& app, const std::string& verb);

// What evaluate and explain have in common at the end of their help.
std::string dataflow_help();

// Of a verb with all its options: numbers that do not fit, or are none, become one sentence. CLI11 converts with strtoll and
// strtod: what does not fit is cut to the largest, -1 becomes 2^64 - 1, 010 eight, and nan is a number. So every number is
// read first, once, by our own rules.
void check_numbers(CLI::App& verb);

// `--settings`: prints the hyper-parameters a searcher would use with `settings` ("NAME.FIELD=VALUE") in force; the exit
// code.
Result<int> show_settings(const std::string& search, const std::vector<std::string>& settings);

}  // namespace tilewright
