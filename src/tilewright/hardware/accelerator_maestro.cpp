// MAESTRO's hardware file: keys and values as words, between blanks and `, - > ( ) : ;`, with `//` comments. What is not
// given is one processing element, no limits, and a NoC of one hop; each hop costs one cycle.
#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

namespace {

struct Key {
  std::string_view word;
  std::string_view field;  // what fault_of calls it
  void (*set)(Accelerator&, std::int64_t);
};
constexpr Key kKeys[] = {
    {"num_pes", "pes", [](Accelerator& a, std::int64_t value) { a.pes = value; }},
    {"l1_size_cstr", "l1_bytes", [](Accelerator& a, std::int64_t value) { a.l1 = {value}; }},
    {"l2_size_cstr", "l2_bytes", [](Accelerator& a, std::int64_t value) { a.l2 = {value}; }},
    {"noc_bw_cstr", "noc.bandwidth", [](Accelerator& a, std::int64_t value) { a.noc.bandwidth = value; }},
    {"offchip_bw_cstr", "offchip_bandwidth", [](Accelerator& a, std::int64_t value) { a.offchip_bandwidth = value; }},
    {"NoC_NumHops", "noc.hops", [](Accelerator& a, std::int64_t value) { a.noc.hops = value; }},
};

std::string unknown_key(std::string_view word) {
  std::vector<std::string> words;
  for (const Key& key : kKeys) words.emplace_back(key.word);
  return fmt::format("{} is not a known key, expected one of {}{}", in_quotes(word), join(words, ", "),
                     did_you_mean(word, words));
}

}  // namespace

Result<Accelerator> accelerator_from_maestro(const std::string& text, const std::string& where) {
  Accelerator accelerator;
  accelerator.name = std::filesystem::path(where).stem().string();
  const auto error = [&](int line, const std::string& sentence) {
    return invalid(fmt::format("{}:{}: {}", where, line, sentence));
  };
  std::array<int, std::size(kKeys)> lines{};  // where each key was given last
  const std::vector<TextToken> tokens = tokenize(text, " ,->():\t;", "//");
  for (std::size_t index = 0; index < tokens.size(); index += 2) {
    const TextToken& word = tokens[index];
    const auto key = std::ranges::find(kKeys, word.text, &Key::word);
    if (key == std::end(kKeys)) return error(word.line, unknown_key(word.text));
    if (index + 1 == tokens.size())
      return error(last_line(text), fmt::format("the file ends here, expected a number for {}", word.text));
    const TextToken& number = tokens[index + 1];
    const auto value = leading_integer(number.text);
    if (!value)
      return error(number.line, fmt::format("{} is {}, expected at most {}", word.text, in_quotes(number.text), kUnlimited));
    key->set(accelerator, *value);
    lines[static_cast<std::size_t>(key - std::begin(kKeys))] = number.line;
  }
  // Numbers the real program would divide by and stop.
  if (const auto fault = fault_of(accelerator)) {
    const auto key = std::ranges::find(kKeys, fault->field, &Key::field);
    return error(lines[static_cast<std::size_t>(key - std::begin(kKeys))], fmt::format("{} {}", key->word, fault->sentence));
  }
  return accelerator;
}

}  // namespace tilewright
