#include <set>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/compile_result.hpp"
#include "tilewright/vta/schedule_json.hpp"

namespace tilewright {

Result<vta::ScheduleChoice> read_schedules(const std::string& file, const QuantisedNetwork& network) {
  TW_TRY(const std::string text, read_file(file));
  TW_TRY(const vta::Schedules schedules, vta::schedules_from_json(text, file));
  std::vector<std::string> names;
  for (const QuantisedStep& step : network.steps) {
    if (step.kind == StepKind::Product && !step.is_average) names.push_back(step.layer.name);
  }
  const std::set<std::string> known(names.begin(), names.end());
  for (const auto& [name, schedule] : schedules) {
    if (known.contains(name)) continue;
    return invalid(fmt::format("{}: layer '{}' is none of {}, expected one of its {} layers{}", file,
                               printable(name.substr(0, 60)), network.name, names.size(), did_you_mean(name, names)));
  }
  return vta::ScheduleChoice([schedules](const Layer& layer) -> std::optional<vta::Schedule> {
    const auto found = schedules.find(layer.name);
    return found == schedules.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace tilewright
