// The words of an enum, told once beside it:
//
//   template <> struct Names<Model> {
//     static constexpr std::string_view kWhat = "model";
//     static constexpr NameTable<Model, 2> kTable = {{{Model::Sound, "sound"}, {Model::Exact, "exact"}}};
//   };
//
// gives name(Model::Sound) == "sound", named<Model>("exact") and, of a misspelt word, the sentence with the nearest one.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

template <typename Enum, std::size_t Count>
using NameTable = std::array<std::pair<Enum, std::string_view>, Count>;

template <typename Enum>
struct Names;

template <typename Enum>
concept Named = requires {
  Names<Enum>::kTable;
};

// "model 'soundd' is not known (did you mean 'sound'?), expected one of sound, exact".
Error unknown_name(std::string_view what, std::string_view word, const std::vector<std::string>& names);

template <Named Enum>
constexpr std::string_view name(Enum value) {
  for (const auto& [known, word] : Names<Enum>::kTable) {
    if (known == value) return word;
  }
  return "?";
}

template <Named Enum>
std::vector<std::string> names() {
  std::vector<std::string> words;
  for (const auto& [known, word] : Names<Enum>::kTable) words.emplace_back(word);
  return words;
}

template <Named Enum>
Result<Enum> named(std::string_view word) {
  for (const auto& [known, its] : Names<Enum>::kTable) {
    if (its == word) return known;
  }
  return unknown_name(Names<Enum>::kWhat, word, names<Enum>());
}

}  // namespace tilewright
