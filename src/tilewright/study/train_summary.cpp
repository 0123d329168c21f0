#include "tilewright/study/train_summary.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/study/training_parts.hpp"

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

double seconds(const TrainingStudy& study) {
  double total = 0;
  for (const ProfileInterval& interval : study.intervals) total += interval.seconds;
  return total;
}

// Of the episodes whose time is known: a killed process takes what it had not yet written with it.
double episodes_per_second(const TrainingStudy& study) {
  std::int64_t episodes = 0;
  for (const ProfileInterval& interval : study.intervals) episodes += interval.last - interval.first;
  const double total = seconds(study);
  return total > 0 ? static_cast<double>(episodes) / total : 0;
}

std::string title_of(const TrainingStudy& study) {
  const std::size_t agents = study.spec.agent_count();
  return fmt::format("{}, {}, {} agent{}", *study.settings.world, name(*study.settings.algorithm), agents,
                     agents == 1 ? "" : "s");
}

std::string why_no_updates(const TrainingStudy& study) {
  if (study.updates > 0) return "";
  if (study.settings.warm_up) {
    return fmt::format("no update yet: {} steps were taken, and the first update comes after {} (--warm-up)",
                       with_thousands(study.state.steps), with_thousands(*study.settings.warm_up));
  }
  return fmt::format("no update yet: {} steps were taken, and an update takes {} (--rollout)",
                     with_thousands(study.state.steps), with_thousands(*study.settings.rollout));
}

std::string to_json(const TrainingStudy& study) {
  const TrainState& state = study.state;
  const RecentReturns recent = recent_returns(state, *study.settings.curve_every);
  Json json{{"format", "tilewright-train-1"},
            {"version", TILEWRIGHT_VERSION},
            {"threads", study.threads},
            {"processor", study.processor},
            {"settings", to_json(study.settings)},
            {"episodes", state.episodes},
            {"episodes_asked", study.episodes},
            {"continued_from", study.first_episode},
            {"interrupted", study.interrupted},
            {"steps", state.steps},
            {"updates", study.updates},
            {"seconds", seconds(study)},
            {"episodes_per_second", episodes_per_second(study)},
            {"return", returns_as_json(study.spec, recent.agents, recent.episodes)}};
  if (study.eval_episodes > 0) {
    json["greedy_return"] = returns_as_json(study.spec, study.eval_returns, study.eval_episodes);
  }
  json["losses"] = {{"critic", study.losses.critic}, {"actor", study.losses.actor}};
  json["curve"] = Json::array();
  for (const CurvePoint& point : curve_so_far(state, study.updates)) {
    json["curve"].push_back({{"episodes", point.episodes}, {"updates", point.updates}, {"return", point.mean_return}});
  }
  json["phases"] = phases_as_json(study.totals);
  json["counters"] = {{"counted", study.totals.has_counters}, {"why_not", study.totals.why_no_counters}};
  json["directory"] = study.directory;
  json["files"] = study.files;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // the directory may be no UTF-8
}

}  // namespace tilewright
