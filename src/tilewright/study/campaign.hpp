// Many studies as one thing: a plan is cut into numbered pure tasks, each with a key of all it depends on; a task is done
// once, by whomever, and what it found is kept under its key; results are folded in the order of the numbers.
//
//   TW_TRY(const Campaign campaign, open_campaign(plan_text, "plan.yaml", {.directory = "runs/small"}));
//   TW_TRY(const CampaignEnd end, run_campaign(campaign, local_engine, context, watch));
//
// A directory of a campaign:
//
//   plan.yaml, tasks.json    the plan, and the tasks it was cut into
//   tasks/                   finished tasks (store/documents.hpp) with their points, unless they are kept elsewhere
//   work/                    what tasks under way have; a task that was killed goes on from there
//   studies/0001.json        the document of every study, as its own verb writes it, without times
//   result.json              standings and a line for each study: the same bytes for any threads, workers and failures
//   points.sqlite            every evaluated point, in the order of the tasks
//   timing.json              where, when and how long
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/store/documents.hpp"
#include "tilewright/study/campaign_plan.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright {

inline constexpr const char* kPlanFile = "plan.yaml";
inline constexpr const char* kTasksFolder = "tasks";
inline constexpr const char* kWorkFolder = "work";
inline constexpr const char* kStudiesFolder = "studies";
inline constexpr const char* kResultFile = "result.json";
inline constexpr const char* kPointsFile = "points.sqlite";
inline constexpr const char* kTimingFile = "timing.json";

struct CampaignTask {
  std::size_t study = 0;
  std::size_t part = 0;    // of a comparison: one of its runs; 0 of all others
  std::int64_t units = 0;  // samples over all layers, episodes: what its time grows with
  std::string key;
};

struct Campaign {
  CampaignPlan plan;
  std::string plan_text;
  std::filesystem::path directory;
  std::filesystem::path scratch;  // for tasks under way
  Documents store;
  std::vector<CampaignTask> tasks;  // task N is tasks[N - 1]
  std::vector<std::size_t> first;   // task of every study, and the end of the last

  std::filesystem::path points_path(const std::string& key) const;
};

struct CampaignPlaces {
  std::filesystem::path directory;
  std::string store = {};    // a folder shared by campaigns; empty = tasks/ of the directory
  std::string scratch = {};  // for tasks under way; empty = work/ of the directory
};

// An Error when anything is wrong that can be known before the first task, with the line of the plan. Writes plan.yaml and
// tasks.json where `keep`.
Result<Campaign> open_campaign(const std::string& plan_text, const std::string& where, const CampaignPlaces& places,
                               bool keep = true);
// The campaign in a directory.
Result<Campaign> open_campaign(const CampaignPlaces& places);

// Everything a task depends on; its key is made of that.
Result<nlohmann::ordered_json> asked_of(const Campaign& campaign, std::size_t task);

// Does a task, unless it is done, and keeps what it found. False when the context stopped it: what it has then is kept, too.
Result<bool> do_task(const Campaign& campaign, std::size_t task, RunContext& context);

// How a campaign stands, for those who watch.
struct StudyState {
  std::size_t done = 0, tasks = 0;
  double seconds = 0;                             // of the tasks that are done
  std::optional<nlohmann::ordered_json> summary;  // of the document, once it is there
};
struct TaskFailure {
  std::size_t task = 0;
  std::string sentence;
};
struct CampaignStatus {
  std::string name;
  std::vector<PlannedStudy> studies;
  std::vector<StudyState> states;
  std::size_t done = 0, tasks = 0, found = 0;  // found: done before this process began
  double elapsed = 0;                          // seconds of this process
  double task_seconds = 0;                     // of all tasks that are done
  std::vector<TaskFailure> failures;
  bool ended = false;
};
using CampaignWatch = std::function<Result<Done>(const CampaignStatus&)>;

// Has tasks done, in any order and anywhere: here by calling do_task, elsewhere by `tilewright campaign task N`; says of
// each how it went. What an engine knows of tasks is their numbers.
using TaskEnd = std::function<void(std::size_t task, const Result<bool>& done)>;
using CampaignEngine = std::function<Result<Done>(const Campaign& campaign, const std::vector<std::size_t>& tasks,
                                                  RunContext& context, const TaskEnd& on_end)>;
// On the context's threads.
Result<Done> local_engine(const Campaign& campaign, const std::vector<std::size_t>& tasks, RunContext& context,
                          const TaskEnd& on_end);

// Has an engine do what is missing, and folds. Failed tasks do not keep others from being done.
Result<CampaignStatus> run_campaign(const Campaign& campaign, const CampaignEngine& engine, RunContext& context,
                                    const CampaignWatch& watch = {});

// Takes finished tasks of copies over: folders of tasks, or directories of campaigns. How many were new.
Result<std::size_t> take_tasks(const Campaign& campaign, const std::filesystem::path& other);

// Writes studies/, result.json, points.sqlite and timing.json of what is there. Idempotent.
Result<CampaignStatus> fold_campaign(const Campaign& campaign, ThreadPool& threads);

// Studies that differ in nothing but their seed, together: medians with their intervals, as result.json has them.
nlohmann::ordered_json standings_of(const std::vector<PlannedStudy>& studies, const std::vector<StudyState>& states);

// What a campaign would take.
struct CampaignForecast {
  std::size_t studies = 0, tasks = 0, done = 0;
  std::size_t threads = 1;
  double seconds = 0;       // of the tasks that are missing, on so many threads
  double bytes = 0;         // of documents and points, those that are there included
  std::int64_t points = 0;  // at most
  std::size_t kinds = 0;    // of tasks, by verb and searcher
  std::size_t tried = 0;    // of these, measured now, for a moment each; the rates of the others are of finished tasks
};
Result<CampaignForecast> forecast(const Campaign& campaign, RunContext& context);

}  // namespace tilewright
