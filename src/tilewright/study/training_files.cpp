// The files of a training.
#include <charconv>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/training_parts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kProfileHeader =
    "first_episode,last_episode,phase,calls,wall_seconds,cpu_seconds,bytes,cache_misses,dtlb_misses";

template <typename T>
bool read_number(std::string_view text, T& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

bool is_actor(std::string_view name) {
  constexpr std::string_view kRole = ".actor.";
  const auto at = name.find(kRole);
  if (at == std::string_view::npos) return false;
  std::string_view tensor = name.substr(at + kRole.size());
  for (const std::string_view kind : {"weight", "bias"}) {
    if (tensor.starts_with(kind)) return parse_integer(tensor.substr(kind.size())).has_value();
  }
  return false;
}

}  // namespace

std::string train_record_json(const TrainingStudy& study, const TrainRecord& record) {
  const Json json{{"format", kRunFormat},
                  {"verb", "train"},
                  {"version", TILEWRIGHT_VERSION},
                  {"command", study.command},
                  {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                  {"processor", study.processor},
                  {"episodes", record.episodes},
                  {"checkpoint_every", record.checkpoint_every},
                  {"eval", record.eval},
                  {"settings", to_json(record.settings)},
                  {"inputs", Json::parse(record.inputs)},
                  {"world", to_json(study.spec)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TrainRecord> train_record_from(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kRunFormat || json.value("verb", Json()) != "train" ||
      !json.value("settings", Json()).is_object() || !json.value("episodes", Json()).is_number_integer()) {
    return invalid(fmt::format("{}: does not describe a training run, expected format {}", where, kRunFormat));
  }
  TrainRecord record;
  TW_TRY(record.settings, settings_from_json(json["settings"], where));
  record.episodes = json["episodes"].get<std::int64_t>();
  for (const auto& [name, number] : {std::pair("checkpoint_every", &record.checkpoint_every), {"eval", &record.eval}}) {
    const Json there = json.value(name, Json());
    if (there.is_number_integer() && there >= 0) *number = there.get<std::int64_t>();
  }
  record.inputs = json.value("inputs", Json::array()).dump();
  return record;
}

Result<std::string> read_inputs(const TrainSettings& settings) {
  Json inputs = Json::array();
  if (settings.prey && settings.prey->controller == PreyController::Network) {
    TW_TRY(const std::string content, read_file(settings.prey->file));
    inputs.push_back(
        {{"file", settings.prey->file}, {"bytes", content.size()}, {"checksum", checksum_text(checksum(content))}});
  }
  return inputs.dump();
}

std::string curve_csv(const EnvironmentSpec& spec, const std::vector<CurvePoint>& curve) {
  const std::vector<std::string> teams = team_names(spec);
  std::string text = "episodes,steps,updates,return";
  if (teams.size() > 1) {
    for (const std::string& team : teams) text += ",team:" + csv_cell(team);
  }
  for (const AgentSpec& agent : spec.agents) text += "," + csv_cell(agent.name);
  text += "\n";
  for (const CurvePoint& point : curve) {
    text += fmt::format("{},{},{},{}", point.episodes, point.steps, point.updates, point.mean_return);
    if (teams.size() > 1) text += fmt::format(",{}", fmt::join(team_returns(spec, point.agent_returns), ","));
    text += fmt::format(",{}\n", fmt::join(point.agent_returns, ","));
  }
  return text;
}

std::string profile_csv(const std::vector<ProfileInterval>& intervals) {
  std::string text = fmt::format("{}\n", kProfileHeader);
  for (const ProfileInterval& interval : intervals) {
    for (std::size_t index = 0; index < kPhaseCount; ++index) {
      const PhaseTotals& phase = interval.phases[index];
      text += fmt::format("{},{},{},{},{:.9f},{:.9f},{},{},{}\n", interval.first, interval.last,
                          to_string(static_cast<Phase>(index)), phase.calls, phase.wall_seconds, phase.cpu_seconds,
                          phase.bytes, phase.cache_misses, phase.dtlb_misses);
    }
    text += fmt::format("{},{},all,1,{:.9f},,,,\n", interval.first, interval.last, interval.seconds);
  }
  return text;
}

std::vector<ProfileInterval> read_profile_csv(const std::string& text, std::int64_t episodes) {
  std::vector<ProfileInterval> intervals;
  ProfileInterval interval;
  std::size_t phase = 0;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() != 9 || line == kProfileHeader) continue;
    if (!read_number(cells[0], interval.first) || !read_number(cells[1], interval.last)) return intervals;
    if (cells[2] == "all") {
      if (!read_number(cells[4], interval.seconds) || phase != kPhaseCount) return intervals;
      if (interval.last <= episodes) intervals.push_back(interval);
      phase = 0;
      continue;
    }
    if (phase == kPhaseCount || cells[2] != to_string(static_cast<Phase>(phase))) return intervals;
    PhaseTotals& totals = interval.phases[phase++];
    const bool whole = read_number(cells[3], totals.calls) && read_number(cells[4], totals.wall_seconds) &&
                       read_number(cells[5], totals.cpu_seconds) && read_number(cells[6], totals.bytes) &&
                       read_number(cells[7], totals.cache_misses) && read_number(cells[8], totals.dtlb_misses);
    if (!whole) return intervals;
  }
  return intervals;
}

TensorFile policy_of(const Learner& learner, const TrainSettings& settings) {
  TensorFile all, policy;
  learner.save(all);
  for (auto& [name, tensor] : all.tensors) {
    if (is_actor(name)) policy.tensors[name] = std::move(tensor);
  }
  policy.metadata = {{"format", "tilewright-policy-1"},
                     {"world", *settings.world},
                     {"algorithm", std::string(name(*settings.algorithm))},
                     {"activation", std::string(name(settings.activation.value_or(Activation::Relu)))}};
  return policy;
}

}  // namespace tilewright
