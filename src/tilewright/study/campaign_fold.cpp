// What finished tasks say together, in the order of their numbers.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/store/store.hpp"
#include "tilewright/study/campaign_parts.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kResultFormat = "tilewright-campaign-1";
constexpr std::string_view kTimingFormat = "tilewright-timing-1";

std::string study_file(std::size_t study) { return fmt::format("{:04}.json", study + 1); }

struct FoldedStudy {
  bool whole = false;
  std::string checksum;  // of its document
  std::optional<Json> summary;
  std::optional<Error> error;
};

FoldedStudy fold_study(const Campaign& campaign, std::size_t study, const std::map<std::string, Json>& earlier) {
  FoldedStudy folded;
  const fs::path path = campaign.directory / kStudiesFolder / study_file(study);
  if (const auto known = earlier.find(keys_of(campaign, study)); known != earlier.end()) {
    const Result<std::uint64_t> is = file_checksum(path);
    if (is && checksum_text(*is) == known->second.value("document", "")) {
      return {true, known->second["document"].get<std::string>(), known->second["summary"], {}};
    }
  }
  const Result<std::string> document = document_of(campaign, study);
  if (!document) return folded;  // what is not whole is missing, and done again
  folded.checksum = checksum_text(checksum(*document));
  folded.summary = summary_of(campaign.plan.studies[study], Json::parse(*document, nullptr, false));
  const Result<Done> written = write_file(path, *document);
  if (!written) folded.error = written.error();
  folded.whole = true;
  return folded;
}

struct TaskTimes {
  std::vector<std::optional<WorkTime>> times;  // of every task that is done
  explicit TaskTimes(const Campaign& campaign) {
    for (std::size_t task = 0; task < campaign.tasks.size(); ++task) {
      const std::optional<FinishedWork> work = finished(campaign, task);
      times.push_back(work ? std::optional(work->time) : std::nullopt);
    }
  }
};

std::string timing_json(const Campaign& campaign, const TaskTimes& times) {
  Json json{{"format", kTimingFormat}, {"name", campaign.plan.name}};
  double seconds = 0, cpu_seconds = 0;
  std::int64_t retries = 0;
  std::map<std::string, std::size_t> hosts;
  Json tasks = Json::array();
  for (std::size_t task = 0; task < campaign.tasks.size(); ++task) {
    const auto& time = times.times[task];
    if (!time) continue;
    seconds += time->seconds;
    cpu_seconds += time->cpu_seconds;
    retries += time->tries - 1;
    ++hosts[time->host];
    tasks.push_back({{"task", task + 1},
                     {"key", campaign.tasks[task].key},
                     {"seconds", time->seconds},
                     {"cpu_seconds", time->cpu_seconds},
                     {"host", time->host},
                     {"began", time->began},
                     {"tries", time->tries}});
  }
  json["seconds"] = seconds;
  json["cpu_seconds"] = cpu_seconds;
  json["retries"] = retries;
  for (const auto& [host, count] : hosts) json["hosts"][host] = count;
  json["tasks"] = std::move(tasks);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string result_json(const Campaign& campaign, const std::vector<FoldedStudy>& folded,
                        const std::vector<StudyState>& states, std::int64_t points) {
  Json json{{"format", kResultFormat},
            {"version", TILEWRIGHT_VERSION},
            {"name", campaign.plan.name},
            {"plan", checksum_text(checksum(campaign.plan_text))},
            {"tasks", campaign.tasks.size()}};
  std::size_t missing = 0;
  for (const StudyState& state : states) missing += state.tasks - state.done;
  json["missing"] = missing;
  if (campaign.plan.points) json["points"] = points;
  json["standings"] = standings_of(campaign.plan.studies, states);
  json["studies"] = Json::array();
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const PlannedStudy& study = campaign.plan.studies[i];
    Json one{{"number", i + 1}, {"name", title_of(study)}, {"verb", name(study.verb)}, {"arguments", study.arguments}};
    one["tasks"] = states[i].tasks;
    one["done"] = states[i].done;
    one["keys"] = keys_of(campaign, i);
    if (folded[i].whole) {
      one["document"] = folded[i].checksum;
      one["summary"] = *folded[i].summary;
    }
    json["studies"].push_back(std::move(one));
  }
  return sealed(std::move(json), 1);
}

// Made anew of all tasks, so that the same tasks give the same file, whenever they came.
Result<std::int64_t> fold_points(const Campaign& campaign) {
  const fs::path target = campaign.directory / kPointsFile, draft = target.string() + ".draft";
  std::error_code ignored;
  const auto remove_draft = [&] {
    for (const char* tail : {"", "-wal", "-shm"}) fs::remove(draft.string() + tail, ignored);
  };
  remove_draft();
  std::int64_t points = 0;
  {
    TW_TRY(Store into, Store::open(draft));
    std::set<std::string> seen;
    for (const CampaignTask& task : campaign.tasks) {
      const fs::path path = campaign.points_path(task.key);
      if (!has_points(campaign, task) || !seen.insert(task.key).second || !campaign.store.has(task.key) ||
          !fs::exists(path, ignored)) {
        continue;
      }
      TW_TRY(Store from, Store::open_to_read(path));
      TW_TRY(const std::int64_t added, merge(into, from));
      points += added;
    }
    TW_TRY([[maybe_unused]] const Done settled, into.settle());
  }
  TW_TRY([[maybe_unused]] const Done kept, copy_whole(draft, target));
  remove_draft();
  return points;
}

// Drafts of processes that were killed, of tasks that others have done since.
void remove_drafts(const Campaign& campaign) {
  std::error_code ignored;
  std::vector<fs::path> drafts;
  for (auto entry = fs::recursive_directory_iterator(campaign.store.folder(), ignored); !ignored && entry != fs::end(entry);
       entry.increment(ignored)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    if (path.extension() == ".draft" && campaign.store.has(name.substr(0, name.find('.')))) drafts.push_back(path);
  }
  for (const fs::path& draft : drafts) fs::remove(draft, ignored);
}

}  // namespace

std::string keys_of(const Campaign& campaign, std::size_t study) {
  std::string keys;
  for (std::size_t task = campaign.first[study]; task < campaign.first[study + 1]; ++task) keys += campaign.tasks[task].key;
  return checksum_text(checksum(keys));
}

// What an earlier fold wrote of studies whose tasks are the same, by the checksum of their keys.
std::map<std::string, Json> earlier_studies(const Campaign& campaign) {
  std::map<std::string, Json> earlier;
  const Result<std::string> text = read_file(campaign.directory / kResultFile, std::int64_t{1} << 30);
  if (!text) return earlier;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.value("studies", Json()).is_array() || json.value("format", Json()) != kResultFormat ||
      broken_seal(nlohmann::json::parse(*text))) {
    return earlier;
  }
  for (const Json& study : json["studies"]) {
    if (study.contains("summary")) earlier.emplace(study.value("keys", ""), study);
  }
  return earlier;
}

Result<CampaignStatus> fold_campaign(const Campaign& campaign, ThreadPool& threads) {
  std::error_code status;
  fs::create_directories(campaign.directory / kStudiesFolder, status);
  if (status) {
    return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", campaign.directory.string(), status.message())};
  }
  remove_drafts(campaign);
  CampaignStatus result;
  result.name = campaign.plan.name;
  result.studies = campaign.plan.studies;
  result.tasks = campaign.tasks.size();
  result.states.resize(campaign.plan.studies.size());
  const TaskTimes times(campaign);
  for (std::size_t task = 0; task < campaign.tasks.size(); ++task) {
    StudyState& state = result.states[campaign.tasks[task].study];
    ++state.tasks;
    if (!times.times[task]) continue;
    ++state.done;
    ++result.done;
    state.seconds += times.times[task]->seconds;
    result.task_seconds += times.times[task]->seconds;
  }
  const std::map<std::string, Json> earlier = earlier_studies(campaign);
  std::vector<FoldedStudy> folded(campaign.plan.studies.size());
  threads.for_each(folded.size(), [&](std::size_t study, std::size_t) {
    if (result.states[study].done == result.states[study].tasks) folded[study] = fold_study(campaign, study, earlier);
  });
  std::set<std::string> files;
  for (std::size_t study = 0; study < folded.size(); ++study) {
    if (folded[study].error) return *folded[study].error;
    result.states[study].summary = folded[study].summary;
    if (folded[study].whole) files.insert(study_file(study));
  }
  for (const auto& entry : fs::directory_iterator(campaign.directory / kStudiesFolder, status)) {  // of an earlier plan
    if (!files.contains(entry.path().filename().string())) fs::remove(entry.path(), status);
  }
  std::int64_t points = 0;
  if (campaign.plan.points) {
    TW_TRY(points, fold_points(campaign));
  }
  TW_TRY([[maybe_unused]] const Done told,
         write_file(campaign.directory / kResultFile, result_json(campaign, folded, result.states, points)));
  TW_TRY([[maybe_unused]] const Done timed, write_file(campaign.directory / kTimingFile, timing_json(campaign, times)));
  return result;
}

Result<std::size_t> take_tasks(const Campaign& campaign, const fs::path& other) {
  std::error_code status;
  const fs::path folder = fs::is_directory(other / kTasksFolder, status) ? other / kTasksFolder : other;
  if (!fs::is_directory(folder, status)) {
    return Error{ErrorCode::NotFound,
                 fmt::format("{}: no such folder, expected that of a campaign or of its tasks", other.string())};
  }
  const Documents there = Documents::at(folder);
  std::size_t taken = 0;
  for (std::size_t number = 0; number < campaign.tasks.size(); ++number) {
    const CampaignTask& task = campaign.tasks[number];
    if (finished(campaign, number) || !there.find(task.key)) continue;
    const fs::path document = campaign.store.path_of(task.key),
                   points = there.path_of(task.key).replace_extension(".sqlite");
    if (fs::exists(points, status)) {
      TW_TRY([[maybe_unused]] const Done copied, copy_whole(points, campaign.points_path(task.key)));
    }
    TW_TRY([[maybe_unused]] const Done copied, copy_whole(there.path_of(task.key), document));
    ++taken;
  }
  return taken;
}

}  // namespace tilewright
