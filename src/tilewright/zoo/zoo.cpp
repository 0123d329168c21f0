#include "tilewright/zoo/zoo.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {

std::vector<std::string> zoo_names(std::string_view kind) {
  std::vector<std::string> names;
  for (const ZooFile& file : zoo_files()) {
    if (file.kind == kind) names.emplace_back(file.name);
  }
  return names;
}

namespace {

// Names are told apart by their letters and digits only.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : lower(name)) {
    if (c != '_' && c != '-' && c != '.') letters += c;
  }
  return letters;
}

}  // namespace

std::string zoo_hint(std::string_view kind, std::string_view source) {
  const std::vector<std::string> names = zoo_names(kind);
  std::optional<std::string> near = nearest(source, names);
  for (const std::string& name : names) {
    if (plain(name) == plain(source)) near = name;
  }
  return near ? fmt::format(" (did you mean 'zoo:{}'?)", *near) : "";
}

Result<std::string> zoo_text(std::string_view kind, std::string_view name) {
  for (const ZooFile& file : zoo_files()) {
    if (file.kind == kind && plain(file.name) == plain(name)) return std::string(file.text);
  }
  const std::vector<std::string> names = zoo_names(kind);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = fmt::format(" (there are: {})", join(names, ", "));
  return Error{ErrorCode::NotFound, fmt::format("zoo:{}: no such entry in zoo/{}{}", name, kind, hint)};
}

}  // namespace tilewright
