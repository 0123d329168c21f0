// Any line given to `evaluate --cases` gives exactly one line of JSON back, whatever the machine and its model.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "tilewright/study/level_cases.hpp"

namespace {

using tilewright::hierarchy::Judge;

// A machine in a file of this computer is not what is tried here.
bool names_a_file(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  return json.is_object() && json.contains("hw") && json["hw"].is_string() &&
         !json["hw"].get<std::string>().starts_with("zoo:");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  std::string line(reinterpret_cast<const char*>(data), size);
  line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
  if (names_a_file(line)) return 0;
  (void)LevelCases::has_levels(line);
  for (const Judge judge : {Judge::Hierarchy, Judge::Timeloop}) {
    LevelCases cases(judge);
    std::string out;
    cases.answer(line, out);
    if (out.empty() || out.front() != '{' || out.find('\n') != out.size() - 1) std::abort();
  }
  return 0;
}
