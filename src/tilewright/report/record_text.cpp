#include "tilewright/report/record_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {

std::string record_text(const StudyRecord& study, const SampleTotals& totals, std::string_view classics) {
  const auto percent = [&](std::int64_t part) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, totals.samples));
  };
  std::string text =
      fmt::format("{} samples: {:.1f} % valid, {:.1f} % proposed before{}\n", with_thousands(totals.samples),
                  percent(totals.valid), percent(totals.repeated),
                  totals.classics > 0 ? fmt::format("; {} {} tried first", with_thousands(totals.classics), classics) : "");
  if (study.agents) {
    const AgentsStory& story = *study.agents;
    text += fmt::format("{} agents: {}{}{}\n", story.assignment.agents.size(), story.assignment.origin,
                        story.explored > 0 ? fmt::format(", {} samples explored first", with_thousands(story.explored)) : "",
                        story.revisions > 0 ? fmt::format(", revised {} times", story.revisions) : "");
  }
  return text + to_text(study.coverage) + "\n";
}

}  // namespace tilewright
