#include "tilewright/hierarchy/timeloop_keys.hpp"

#include <algorithm>

namespace tilewright::hierarchy {

const Yaml* find_key(const Yaml& node, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const Yaml::Field& field : node.fields) {
      const bool same = std::ranges::equal(field.first, name, {}, [](char c) { return c == '-' ? '_' : c; });
      if (same) return &field.second;
    }
  }
  return nullptr;
}

Result<std::vector<std::string>> words_of(const Yaml& node, std::string_view what) {
  std::vector<std::string> words;
  if (node.kind == Yaml::Kind::Null) return words;
  const auto take = [&](const std::string& text) {
    std::string word;
    for (const char c : text + " ") {
      if (c != ' ' && c != ',' && c != '\t' && c != '\n') {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::move(word));
        word.clear();
      }
    }
  };
  if (node.kind != Yaml::Kind::List) {
    TW_TRY(const std::string text, node.as_text(what));
    take(text);
    return words;
  }
  for (const Yaml& item : node.items) {
    TW_TRY(const std::string text, item.as_text(what));
    take(text);
  }
  return words;
}

}  // namespace tilewright::hierarchy
