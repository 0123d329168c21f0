#include "tilewright/base/csv.hpp"

namespace tilewright {
namespace {

bool begins_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
}

}  // namespace

std::string csv_cell(std::string_view name) {
  std::string text = begins_formula(name) ? "'" : "";
  for (const char c : name) text += c == '\n' || c == '\r' ? ' ' : c;
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::optional<std::vector<std::string>> csv_names(std::string_view line) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      names.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      names.emplace_back();
    } else {
      names.back() += line[i];
    }
  }
  if (quoted) return std::nullopt;
  for (std::string& name : names) {
    if (name.starts_with('\'') && begins_formula(std::string_view(name).substr(1))) name.erase(0, 1);
  }
  return names;
}

}  // namespace tilewright
