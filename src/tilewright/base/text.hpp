// Small text helpers shared by readers and printers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// The whole of `text` as an integer; nothing if anything else is in it or it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);
// Likewise as a finite number.
std::optional<double> parse_real(std::string_view text);

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string lower(std::string_view text);

// True for UTF-8 whose every character may stand in a text: no surrogates, no code points that Unicode keeps free for ever.
bool is_text(std::string_view bytes);

// The choice that is spelled most like `word`, or nothing when none is near (more than a third of the letters differ).
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> choices);

// " (did you mean 'conv2_1'?)", or "" when nothing is near: ends an error sentence.
std::string did_you_mean(std::string_view word, std::span<const std::string> choices);

// `text` with control characters and bytes that are not UTF-8 shown as '?', for terminals and tables.
std::string printable(std::string_view text);

// A word for a shell: as it is where that is safe, else in quotes.
std::string shell_word(std::string_view word);

// 3725 -> "1:02:05", 65 -> "1:05".
std::string clock_text(double seconds);

// 1234567 -> "1,234,567".
std::string with_thousands(std::int64_t number);

// 1814073344 -> "1.814 G"; three decimals at most, for people.
std::string with_prefix(double number);

}  // namespace tilewright
