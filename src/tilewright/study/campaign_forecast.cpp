// How long and how much: rates of finished tasks, and of those that are tried for a moment.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "tilewright/study/campaign_parts.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kTrySeconds = 1.5;      // of each kind of task
constexpr double kAllTriesSeconds = 30;  // of all kinds together
constexpr double kDocumentBytes = 20e3;  // where none of the kind is there yet
constexpr double kPointBytes = 90;       // of a design, its eight numbers and its checksum in a store

struct Kind {
  double units = 0, seconds = 0;  // of those that are known
  double documents = 0, bytes = 0;
  std::optional<std::size_t> example;  // a missing task
};

// By verb and whoever spends the time.
std::string kind_of(const Campaign& campaign, const CampaignTask& task) {
  const PlannedStudy& study = campaign.plan.studies[task.study];
  std::string kind(name(study.verb));
  for (const char* option : {"search", "searches", "algorithm", "hardware"}) {
    const auto value = study.arguments.find(option);
    if (value != study.arguments.end() && value->is_string()) kind += " " + value->get<std::string>();
  }
  if (study.verb != CampaignVerb::Compare) return kind;
  return kind + " " + std::to_string(task.part % 8);  // neighbours are different searchers
}

// A task on one thread, ended after a moment: units and seconds.
void try_out(const Campaign& campaign, Kind& kind, const StopToken& stop) {
  std::atomic<bool> enough = false;
  double done = 0;
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  ThreadPool alone(1);
  RunContext context{.threads = alone, .stop = StopToken(&enough)};
  double until = 0;
  context.progress.show = [&](const ProgressState& state) {
    done = static_cast<double>(state.done);
    until = seconds();
    if (until > kTrySeconds || stop.asked()) enough = true;
  };
  const CampaignTask& task = campaign.tasks[*kind.example];
  const Result<bool> whole = try_task(campaign, *kind.example, context);
  if (!whole) return;
  kind.units += *whole ? static_cast<double>(task.units) : done;
  kind.seconds += *whole ? seconds() : until;
}

}  // namespace

Result<CampaignForecast> forecast(const Campaign& campaign, RunContext& context) {
  CampaignForecast result;
  result.studies = campaign.plan.studies.size();
  result.tasks = campaign.tasks.size();
  result.threads = context.threads.thread_count();
  std::map<std::string, Kind> kinds;
  std::vector<std::size_t> missing;
  std::set<std::string> alike;
  std::error_code status;
  for (std::size_t task = 0; task < campaign.tasks.size(); ++task) {
    const CampaignTask& one = campaign.tasks[task];
    Kind& kind = kinds[kind_of(campaign, one)];
    const bool first = alike.insert(one.key).second;  // a key is done once
    if (first && campaign.plan.points && campaign.plan.studies[one.study].verb != CampaignVerb::Compare &&
        campaign.plan.studies[one.study].verb != CampaignVerb::Train &&
        campaign.plan.studies[one.study].verb != CampaignVerb::Evaluate) {
      result.points += one.units;
    }
    if (const std::optional<FinishedWork> work = finished(campaign, task)) {
      ++result.done;
      kind.units += static_cast<double>(one.units);
      kind.seconds += work->time.seconds;
      ++kind.documents;
      kind.bytes += static_cast<double>(fs::file_size(campaign.store.path_of(one.key), status));
    } else if (first) {
      missing.push_back(task);
      if (!kind.example) kind.example = task;
    }
  }
  result.kinds = kinds.size();
  const Clock::time_point start = Clock::now();
  double units = 0, seconds = 0;
  for (auto& [name, kind] : kinds) {
    const bool late = std::chrono::duration<double>(Clock::now() - start).count() > kAllTriesSeconds;
    if (kind.seconds == 0 && kind.example && !late && !context.stop.asked()) {
      try_out(campaign, kind, context.stop);
      ++result.tried;
    }
    units += kind.units;
    seconds += kind.seconds;
  }
  double work = 0, longest = 0;
  for (const std::size_t task : missing) {
    const Kind& kind = kinds[kind_of(campaign, campaign.tasks[task])];
    const bool known = kind.units > 0 && kind.seconds > 0;
    const double rate = known ? kind.seconds / kind.units : units > 0 ? seconds / units : 0;
    const double one = rate * static_cast<double>(campaign.tasks[task].units);
    work += one;
    longest = std::max(longest, one);
  }
  result.seconds = std::max(work / static_cast<double>(result.threads), longest);
  for (const auto& task : campaign.tasks) {
    const Kind& kind = kinds[kind_of(campaign, task)];
    result.bytes += 2 * (kind.documents > 0 ? kind.bytes / kind.documents : kDocumentBytes);  // in tasks/ and in studies/
  }
  result.bytes += 2 * kPointBytes * static_cast<double>(result.points);
  return result;
}

}  // namespace tilewright
