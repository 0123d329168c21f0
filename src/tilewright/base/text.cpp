#include "tilewright/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace tilewright {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_real(std::string_view text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_text(std::string_view bytes) {
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // by the number of bytes that follow the first
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint32_t first = static_cast<unsigned char>(bytes[at++]);
    if (first < 0x80) continue;
    const std::size_t following = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc0 || first > 0xf7 || bytes.size() - at < following) return false;
    std::uint32_t point = first & (0x3fu >> following);
    for (std::size_t end = at + following; at < end; ++at) {
      const std::uint32_t next = static_cast<unsigned char>(bytes[at]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    const bool kept_free = (point & 0xfffe) == 0xfffe || (point >= 0xfdd0 && point <= 0xfdef);
    if (point < kLeast[following] || point > 0x10ffff || surrogate || kept_free) return false;
  }
  return true;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> choices) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& choice : choices) {
    const std::size_t distance = edit_distance(lower(word), lower(choice));
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = choice;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> choices) {
  const auto choice = nearest(word, choices);
  return choice ? fmt::format(" (did you mean '{}'?)", *choice) : "";
}

std::string printable(std::string_view text) {
  const bool readable = is_text(text);
  std::string result(text);
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) c = '?';
  }
  return result;
}

std::string shell_word(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:,+@%=").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(std::ceil(seconds), 1e9));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string with_thousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string with_prefix(double number) {
  constexpr std::string_view kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t index = 0;
  while (std::abs(number) >= 999.9995 && index + 1 < std::size(kPrefixes)) {
    number /= 1000;
    ++index;
  }
  return fmt::format("{:.4g}{}", number, kPrefixes[index]);
}

}  // namespace tilewright
