// Any bytes given to the reader of team.json end in one sentence or in a team whose memory a searcher can draw from.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/agents/team_heads.hpp"
#include "tilewright/agents/team_memory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<SavedTeam> team = team_from_json(text, "fuzz.json");
  if (!team) {
    const std::string& sentence = team.error().message;
    if (!sentence.starts_with("fuzz.json:") || sentence.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const RememberedProblem& problem : team->memory.problems) {
    if (problem.points.empty()) std::abort();
    for (const RememberedPoint& point : problem.points) {
      if (point.choices.size() != team->parameters.size() || point.sizes.size() != point.choices.size()) std::abort();
      for (const std::int32_t choice : point.choices) {
        if (choice < -1 || choice >= static_cast<std::int32_t>(kFineChoices)) std::abort();
      }
    }
  }
  return 0;
}
