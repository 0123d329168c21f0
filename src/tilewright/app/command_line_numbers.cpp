// CLI11 converts with strtoll and strtod: what does not fit is cut to the largest, -1 becomes 2^64 - 1, 010 eight, and nan
// is a number. Here every number of every verb is read first, once, by our own rules.
#include <limits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

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

}  // namespace tilewright
