#include "tilewright/study/train_summary.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/study/train_world.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

Json phases_as_json(const ProfileTotals& totals) {
  Json json = Json::array();
  for (std::size_t index = 0; index < kPhaseCount; ++index) {
    const PhaseTotals& phase = totals.phases[index];
    Json item{{"phase", to_string(static_cast<Phase>(index))},
              {"calls", phase.calls},
              {"wall_seconds", phase.wall_seconds},
              {"cpu_seconds", phase.cpu_seconds},
              {"bytes", phase.bytes}};
    if (totals.has_counters) {
      item["cache_misses"] = phase.cache_misses;
      item["dtlb_misses"] = phase.dtlb_misses;
    }
    json.push_back(item);
  }
  return json;
}

// Total, teams and agents of one set of mean returns.
Json returns_as_json(const EnvironmentSpec& spec, const std::vector<double>& agents, std::int64_t episodes) {
  Json json{{"episodes", episodes}, {"total", sum(agents)}, {"teams", Json::object()}, {"agents", Json::object()}};
  const std::vector<std::string> teams = team_names(spec);
  const std::vector<double> by_team = team_returns(spec, agents);
  for (std::size_t team = 0; team < teams.size(); ++team) json["teams"][teams[team]] = by_team[team];
  for (std::size_t agent = 0; agent < agents.size(); ++agent) json["agents"][spec.agents[agent].name] = agents[agent];
  return json;
}

std::string returns_as_text(std::string_view label, const EnvironmentSpec& spec, const std::vector<double>& agents,
                            const std::string& over) {
  std::string text = fmt::format("  {:<16}{:>10.4g}  {}\n", label, sum(agents), over);
  const std::vector<std::string> teams = team_names(spec);
  if (teams.size() < 2) return text;
  const std::vector<double> by_team = team_returns(spec, agents);
  for (std::size_t team = 0; team < teams.size(); ++team) {
    text += fmt::format("    {:<14}{:>10.4g}\n", teams[team], by_team[team]);
  }
  return text;
}

}  // namespace

std::array<PhaseTotals, kPhaseCount> difference(const ProfileTotals& after, const ProfileTotals& before) {
  std::array<PhaseTotals, kPhaseCount> result;
  for (std::size_t index = 0; index < kPhaseCount; ++index) {
    const PhaseTotals &a = after.phases[index], &b = before.phases[index];
    result[index] = {a.calls - b.calls, a.wall_seconds - b.wall_seconds, a.cpu_seconds - b.cpu_seconds,
                     a.bytes - b.bytes, a.cache_misses - b.cache_misses, a.dtlb_misses - b.dtlb_misses};
  }
  return result;
}

ProfileTotals sum_of(const std::vector<ProfileInterval>& intervals) {
  ProfileTotals totals;
  for (const ProfileInterval& interval : intervals) {
    for (std::size_t index = 0; index < kPhaseCount; ++index) {
      const PhaseTotals& part = interval.phases[index];
      PhaseTotals& phase = totals.phases[index];
      phase.calls += part.calls;
      phase.wall_seconds += part.wall_seconds;
      phase.cpu_seconds += part.cpu_seconds;
      phase.bytes += part.bytes;
      phase.cache_misses += part.cache_misses;
      phase.dtlb_misses += part.dtlb_misses;
    }
  }
  return totals;
}

RecentReturns recent_returns(const TrainState& state, std::int64_t curve_every) {
  constexpr std::int64_t kMost = 1'000;
  const std::int64_t enough = std::min(kMost, state.episodes / 10);
  RecentReturns recent{state.interval_episodes, 0, state.interval_returns};
  for (auto point = state.curve.rbegin(); point != state.curve.rend(); ++point) {
    if (recent.episodes > state.interval_episodes && recent.episodes >= enough) break;
    recent.episodes += curve_every;
    for (std::size_t agent = 0; agent < recent.agents.size(); ++agent) {
      recent.agents[agent] += point->agent_returns[agent] * static_cast<double>(curve_every);
    }
  }
  for (double& value : recent.agents) {
    value /= static_cast<double>(std::max<std::int64_t>(1, recent.episodes));
    recent.total += value;
  }
  return recent;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return printable(trim(line.substr(line.find(':') + 1)));
  }
  return "an unknown processor";
}

double seconds(const TrainSummary& summary) {
  double total = 0;
  for (const ProfileInterval& interval : summary.intervals) total += interval.seconds;
  return total;
}

// Of the episodes whose time is known: a killed process takes what it had not yet written with it.
double episodes_per_second(const TrainSummary& summary) {
  std::int64_t episodes = 0;
  for (const ProfileInterval& interval : summary.intervals) episodes += interval.last - interval.first;
  const double total = seconds(summary);
  return total > 0 ? static_cast<double>(episodes) / total : 0;
}

std::string title_of(const TrainSummary& summary) {
  const std::size_t agents = summary.spec.agent_count();
  return fmt::format("{}, {}, {} agent{}", *summary.settings.world, *summary.settings.algorithm, agents,
                     agents == 1 ? "" : "s");
}

std::string why_no_updates(const TrainSummary& summary) {
  if (summary.updates > 0) return "";
  if (summary.settings.warm_up) {
    return fmt::format("no update yet: {} steps were taken, and the first update comes after {} (--warm-up)",
                       with_thousands(summary.state.steps), with_thousands(*summary.settings.warm_up));
  }
  return fmt::format("no update yet: {} steps were taken, and an update takes {} (--rollout)",
                     with_thousands(summary.state.steps), with_thousands(*summary.settings.rollout));
}

std::string summary_as_text(const TrainSummary& summary) {
  const TrainState& state = summary.state;
  std::string text = fmt::format("{}, seed {}\n\n", title_of(summary), *summary.settings.seed);
  const RecentReturns recent = recent_returns(state, *summary.settings.curve_every);
  std::string over =
      fmt::format("mean over the last {} of {} episodes", with_thousands(recent.episodes), with_thousands(state.episodes));
  if (state.curve.size() > 1) {
    over +=
        fmt::format("; first {}: {:.4g}", with_thousands(*summary.settings.curve_every), state.curve.front().mean_return);
  }
  text += returns_as_text("return", summary.spec, recent.agents, over);
  if (summary.eval_episodes > 0) {
    text += returns_as_text("greedy return", summary.spec, summary.eval_returns,
                            fmt::format("mean over {} episodes", with_thousands(summary.eval_episodes)));
  }
  text +=
      fmt::format("  {:<16}{:>10}  {} episodes/s, {} steps, {} updates\n", "time", fmt::format("{:.4g} s", seconds(summary)),
                  with_prefix(episodes_per_second(summary)), with_thousands(state.steps), with_thousands(summary.updates));
  if (const std::string why = why_no_updates(summary); !why.empty()) text += "  " + why + "\n";
  text += "\n" + profile_table(summary.totals);
  if (!summary.totals.why_no_counters.empty()) text += summary.totals.why_no_counters + "\n";
  return text;
}

std::string summary_as_json(const TrainSummary& summary) {
  const TrainState& state = summary.state;
  const RecentReturns recent = recent_returns(state, *summary.settings.curve_every);
  Json json{{"format", "tilewright-train-1"},
            {"version", TILEWRIGHT_VERSION},
            {"threads", summary.threads},
            {"processor", summary.processor},
            {"settings", to_json(summary.settings)},
            {"episodes", state.episodes},
            {"episodes_asked", summary.episodes},
            {"continued_from", summary.first_episode},
            {"interrupted", summary.interrupted},
            {"steps", state.steps},
            {"updates", summary.updates},
            {"seconds", seconds(summary)},
            {"episodes_per_second", episodes_per_second(summary)},
            {"return", returns_as_json(summary.spec, recent.agents, recent.episodes)}};
  if (summary.eval_episodes > 0) {
    json["greedy_return"] = returns_as_json(summary.spec, summary.eval_returns, summary.eval_episodes);
  }
  json["losses"] = {{"critic", summary.losses.critic}, {"actor", summary.losses.actor}};
  json["curve"] = Json::array();
  for (const CurvePoint& point : curve_so_far(state, summary.updates)) {
    json["curve"].push_back({{"episodes", point.episodes}, {"updates", point.updates}, {"return", point.mean_return}});
  }
  json["phases"] = phases_as_json(summary.totals);
  json["counters"] = {{"counted", summary.totals.has_counters}, {"why_not", summary.totals.why_no_counters}};
  json["directory"] = summary.directory;
  json["files"] = summary.files;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // the directory may be no UTF-8
}

}  // namespace tilewright
