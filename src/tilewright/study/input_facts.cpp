#include "tilewright/study/input_facts.hpp"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string folder_text(const fs::path& folder) {
  std::error_code ignored;
  const fs::path team = fs::is_directory(folder / "team", ignored) ? folder / "team" : folder;
  std::string text;
  for (const char* name : {"team.json", "assignment.yaml", "policies.safetensors"}) {
    const Result<std::uint64_t> is = file_checksum(team / name);
    if (is) text += checksum_text(*is);
  }
  return text;
}

void add(Json& facts, const std::string& word) {
  if (word.empty() || facts.contains(word)) return;
  if (is_zoo_source(word)) {
    std::string text;  // of both kinds: a name tells the kind only to the option it belongs to
    for (const ZooFile& file : zoo_files()) {
      if (file.name == word.substr(4)) text += checksum_text(checksum(file.text));
    }
    if (!text.empty()) facts[word] = text;
    return;
  }
  std::error_code ignored;
  if (fs::is_regular_file(word, ignored)) {
    const Result<std::uint64_t> is = file_checksum(word);
    if (is) facts[word] = checksum_text(*is);
  } else if (fs::is_directory(word, ignored)) {
    const std::string text = folder_text(word);
    if (!text.empty()) facts[word] = text;
  }
}

void add_all(Json& facts, const Json& value) {
  if (value.is_structured()) {
    for (const Json& part : value) add_all(facts, part);
  } else if (value.is_string()) {
    const std::string word = value.get<std::string>();
    add(facts, word);
    if (const auto equals = word.find('='); equals != std::string::npos) add(facts, word.substr(equals + 1));
  }
}

}  // namespace

Json input_facts(const Json& arguments) {
  Json facts = Json::object();
  add_all(facts, arguments);
  return facts;
}

}  // namespace tilewright
