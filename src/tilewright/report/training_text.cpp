#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/training.hpp"
#include "tilewright/study/train_summary.hpp"

namespace tilewright {
namespace {

std::string returns_as_text(std::string_view label, const EnvironmentSpec& spec, const std::vector<double>& agents,
                            const std::string& over) {
  double total = 0;
  for (const double value : agents) total += value;
  std::string text = fmt::format("  {:<16}{:>10.4g}  {}\n", label, total, over);
  const std::vector<std::string> teams = team_names(spec);
  if (teams.size() < 2) return text;
  const std::vector<double> by_team = team_returns(spec, agents);
  for (std::size_t team = 0; team < teams.size(); ++team) {
    text += fmt::format("    {:<14}{:>10.4g}\n", teams[team], by_team[team]);
  }
  return text;
}

}  // namespace

std::string to_text(const TrainingStudy& study) {
  const TrainState& state = study.state;
  std::string text = fmt::format("{}, seed {}\n\n", title_of(study), *study.settings.seed);
  const RecentReturns recent = recent_returns(state, *study.settings.curve_every);
  std::string over =
      fmt::format("mean over the last {} of {} episodes", with_thousands(recent.episodes), with_thousands(state.episodes));
  if (state.curve.size() > 1) {
    over += fmt::format("; first {}: {:.4g}", with_thousands(*study.settings.curve_every), state.curve.front().mean_return);
  }
  text += returns_as_text("return", study.spec, recent.agents, over);
  if (study.eval_episodes > 0) {
    text += returns_as_text("greedy return", study.spec, study.eval_returns,
                            fmt::format("mean over {} episodes", with_thousands(study.eval_episodes)));
  }
  text +=
      fmt::format("  {:<16}{:>10}  {} episodes/s, {} steps, {} updates\n", "time", fmt::format("{:.4g} s", seconds(study)),
                  with_prefix(episodes_per_second(study)), with_thousands(state.steps), with_thousands(study.updates));
  if (const std::string why = why_no_updates(study); !why.empty()) text += "  " + why + "\n";
  text += "\n" + profile_table(study.totals);
  if (!study.totals.why_no_counters.empty()) text += study.totals.why_no_counters + "\n";
  return text;
}

std::string to_text(const std::vector<TrainChoices>& choices) {
  std::string text;
  for (const TrainChoices& part : choices) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", part.title);
    for (const TrainChoice& choice : part.choices) text += fmt::format("  {:<24} {}\n", choice.name, choice.summary);
  }
  return text;
}

Result<Done> write_files(const TrainingStudy& study, const std::filesystem::path& directory) {
  TW_TRY(const Done json, write_file(directory / "summary.json", to_json(study)));
  return write_file(directory / "report.html", to_html(study));
}

}  // namespace tilewright
