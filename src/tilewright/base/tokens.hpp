// Words of a text with their lines, for the small languages that are read word by word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct TextToken {
  std::string_view text;  // borrowed from the text given to tokenize
  int line = 1;
};

// The words between `separators` and line ends; one that starts with `comment` is dropped together with the rest of its
// line.
std::vector<TextToken> tokenize(std::string_view text, std::string_view separators, std::string_view comment);

// The number of the last line; a text that ends with a line end has no line after it.
int last_line(std::string_view text);

// What C's atoi gives: white space, a sign and digits at the start, 0 when there are none. Nothing when that is beyond 31
// bits.
std::optional<std::int32_t> leading_integer(std::string_view text);

// The word in quotes and safe to print: control characters escaped, a long one cut.
std::string in_quotes(std::string_view text);

}  // namespace tilewright
