#include "tilewright/base/tokens.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {

std::vector<TextToken> tokenize(std::string_view text, std::string_view separators, std::string_view comment) {
  std::vector<TextToken> tokens;
  int line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    while (true) {
      const auto first = line.find_first_not_of(separators);
      if (first == std::string_view::npos) break;
      line.remove_prefix(first);
      if (line.starts_with(comment)) break;
      const auto length = std::min(line.find_first_of(separators), line.size());
      tokens.push_back({line.substr(0, length), line_number});
      line.remove_prefix(length);
    }
  }
  return tokens;
}

int last_line(std::string_view text) {
  const auto breaks = std::ranges::count(text, '\n');
  return static_cast<int>(text.ends_with('\n') ? breaks : breaks + 1);
}

std::optional<std::int32_t> leading_integer(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    value = value * 10 + (c - '0');
    if (value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  }
  return static_cast<std::int32_t>(negative ? -value : value);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMostShown = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return shown + (text.size() > kMostShown ? "…'" : "'");
}

}  // namespace tilewright
