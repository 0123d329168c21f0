#include "tilewright/base/json.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using Event = nlohmann::json::parse_event_t;

// "m.json:3", where the line of byte `at`, counted from 0, is the third.
std::string at_byte(const std::string& text, const std::string& where, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
  return fmt::format("{}:{}", where, 1 + std::count(text.begin(), end, '\n'));
}

constexpr int kMostNesting = 64;  // copying and writing follow the nesting, and so does the stack

// "parse error at line 1, column 2: syntax error while parsing value - unexpected …" without its beginning.
std::string reason_of(const nlohmann::json::parse_error& failure) {
  const std::string text = failure.what();
  const std::size_t dash = text.find(" - ");
  return printable(text.substr(dash == std::string::npos ? 0 : dash + 3, 120));
}

Error too_deep(const std::string& where) {
  return invalid(fmt::format("{}: is nested deeper than {}, expected at most that", where, kMostNesting));
}

// "[json.exception.out_of_range.406] number overflow parsing '1e999'", the one other thing that is wrong with a text.
Error too_large(const std::string& text, const std::string& where, const nlohmann::json::exception& failure) {
  const std::string sentence = failure.what();
  const std::size_t quote = std::min(sentence.find('\''), sentence.size() - 1);
  const std::string number = sentence.substr(quote + 1, sentence.size() - quote - 2);
  return invalid(fmt::format("{}: {} is too large a number, expected less than 1.8e308",
                             at_byte(text, where, text.find(number)), printable(number.substr(0, 40))));
}

}  // namespace

Result<nlohmann::json> parse_json(const std::string& text, const std::string& where) {
  std::vector<std::set<std::string>> open;  // the keys of every object that has begun and not ended
  std::optional<std::string> repeated;
  bool deep = false;
  const auto watch = [&](int depth, Event event, nlohmann::json& value) {
    deep = deep || depth > kMostNesting;
    if (deep) return false;
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event != Event::key || repeated) return true;
    const auto& key = value.get_ref<const std::string&>();
    if (!open.back().insert(key).second) repeated = key;
    return true;
  };
  try {
    nlohmann::json json = nlohmann::json::parse(text, watch);
    if (deep) return too_deep(where);
    if (!repeated) return json;
    return invalid(fmt::format("{}: '{}' stands twice, expected once", where, printable(repeated->substr(0, 60))));
  } catch (const nlohmann::json::parse_error& failure) {
    if (deep) return too_deep(where);
    return invalid(fmt::format("{}: is not JSON: {}", at_byte(text, where, std::max<std::size_t>(failure.byte, 1) - 1),
                               reason_of(failure)));
  } catch (const nlohmann::json::exception& failure) {
    return too_large(text, where, failure);
  }
}

std::string key_position(const std::string& text, const std::string& where, const std::string& key) {
  const std::string quoted = '"' + key + '"';
  for (std::size_t at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + 1)) {
    const std::size_t after = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (after != std::string::npos && text[after] == ':') return at_byte(text, where, at);
  }
  return where;
}

}  // namespace tilewright
