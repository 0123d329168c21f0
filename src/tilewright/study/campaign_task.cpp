// One task: from its number to a document, and its points.
#include <chrono>
#include <ctime>
#include <filesystem>
#include <mutex>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/store/store.hpp"
#include "tilewright/study/campaign_parts.hpp"
#include "tilewright/study/hierarchy_evaluation.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"
#include "tilewright/study/input_facts.hpp"
#include "tilewright/study/mapping.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using MaybeJson = Result<std::optional<Json>>;  // nothing when it was stopped

double cpu_seconds(const RunContext& context) {
  timespec now{};
  clock_gettime(context.threads.thread_count() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// How often the task was begun, this time included: a byte each in a file that lasts until it is done.
std::int64_t count_try(const fs::path& path) {
  std::error_code ignored;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return 1;
  [[maybe_unused]] const auto written = write(file, "x", 1);
  close(file);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(fs::file_size(path, ignored)));
}

// A comparison that neighbouring tasks are parts of is read once.
class OpenComparisons {
 public:
  Result<std::shared_ptr<OpenComparison>> get(const Campaign& campaign, std::size_t study) {
    const std::lock_guard lock(mutex_);
    const PlannedStudy& planned = campaign.plan.studies[study];
    const std::string key = planned.arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (const auto& [known, open] : kept_) {
      if (known == key) return open;
    }
    TW_TRY(const StudyRequest request, request_of(planned));
    TW_TRY(std::unique_ptr<OpenComparison> open, open_comparison(std::get<CompareRequest>(request)));
    if (kept_.size() == kMost) kept_.erase(kept_.begin());
    kept_.emplace_back(key, std::move(open));
    return kept_.back().second;
  }

 private:
  static constexpr std::size_t kMost = 3;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<OpenComparison>>> kept_;
};

OpenComparisons& open_comparisons() {
  static OpenComparisons all;
  return all;
}

// Tasks run side by side on one comparison, each on its own copy of the runs.
MaybeJson do_comparison(const Campaign& campaign, const CampaignTask& task, RunContext& context, WorkTime& time) {
  TW_TRY(const std::shared_ptr<OpenComparison> open, open_comparisons().get(campaign, task.study));
  ComparisonRuns runs = open->runs;
  std::int64_t done = 0;
  const ComparisonWatch watch{
      [&](std::int64_t samples, bool) {
        done += samples;
        context.progress.tell([&] {
          return ProgressState{.title = {}, .done = done, .all = task.units, .unit = "samples", .words = {}, .lines = {}};
        });
      },
      [&] { return context.stop.asked(); }};
  const double cpu = cpu_seconds(context);
  const auto start = Clock::now();
  if (const auto error = run_task(*open->plan, runs, task.part, watch)) return *error;
  time.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  time.cpu_seconds = cpu_seconds(context) - cpu;
  const std::size_t targets = runs.targets.size();
  if (task.part < targets ? !runs.targets[task.part].done : !runs.runs[task.part - targets].done)
    return std::optional<Json>{};
  return std::optional(result_of(runs, task.part));
}

MaybeJson do_study(const MapRequest& request, RunContext& context) {
  TW_TRY(const AnyJob any, read_any_job(request.inputs, request.mapping, context.threads));
  return std::visit(
      [&](const auto& job) -> MaybeJson {
        if (context.directory != nullptr) {
          TW_TRY([[maybe_unused]] const Done begun, context.directory->begin_or_continue(run_json(request, job)));
        }
        TW_TRY(const auto study, map(job, request.search, context));
        if (study.interrupted) return std::optional<Json>{};
        return std::optional(Json::parse(to_json(study)));
      },
      any);
}

MaybeJson do_study(const CodesignOptions& options, RunContext& context) {
  TW_TRY(const CodesignJob job, read_codesign_job(options));
  TW_TRY(const CodesignStudy study, codesign(job, options, context));
  if (study.interrupted) return std::optional<Json>{};
  return std::optional(Json::parse(to_json(study)));
}

MaybeJson do_study(const TrainOptions& options, RunContext& context) {
  TW_TRY(const TrainingStudy study, train(options, context));
  if (study.interrupted) return std::optional<Json>{};
  Json json = Json::parse(to_json(study));
  // How and where it was done is no part of what came out.
  for (const char* part : {"threads", "processor", "continued_from", "seconds", "episodes_per_second", "phases", "counters",
                           "directory", "files"}) {
    json.erase(part);
  }
  return std::optional(std::move(json));
}

MaybeJson do_study(const EvaluationOptions& options, RunContext&) {
  TW_TRY(const AnyEvaluationJob any, read_any_evaluation_job(options));
  return std::visit([](const auto& job) -> MaybeJson { return std::optional(Json::parse(to_json(evaluate(job)))); }, any);
}

MaybeJson do_study(const CompareRequest&, RunContext&) { return std::optional<Json>{}; }  // its parts are the tasks

// In a directory of its own, which a task that was killed goes on in. Evaluations are done before they could be kept.
MaybeJson do_in(const fs::path& work, const StudyRequest& request, RunContext context) {
  if (std::holds_alternative<EvaluationOptions>(request)) return do_study(std::get<EvaluationOptions>(request), context);
  TW_TRY(RunDirectory directory, RunDirectory::open(work));
  context.directory = &directory;
  return std::visit([&](const auto& one) { return do_study(one, context); }, request);
}

Result<bool> put_done(const Campaign& campaign, std::size_t number, const MaybeJson& result, const WorkTime& time) {
  if (!result) return result.error();
  if (!*result) return false;
  TW_TRY(const Json asked, asked_of(campaign, number));
  TW_TRY([[maybe_unused]] const Done put, campaign.store.put(asked, {**result, time}));
  return true;
}

Result<Done> keep_points(const fs::path& store, const fs::path& target) {
  {
    TW_TRY(Store points, Store::open(store));
    TW_TRY([[maybe_unused]] const Done settled, points.settle());
  }
  return copy_whole(store, target);
}

Result<bool> attempt(const Campaign& campaign, std::size_t number, RunContext& context) {
  const CampaignTask& task = campaign.tasks[number];
  const PlannedStudy& study = campaign.plan.studies[task.study];
  std::error_code status;
  const fs::path work = campaign.scratch / task.key, tries = campaign.scratch / (task.key + ".tries");
  fs::create_directories(campaign.scratch, status);
  if (status)
    return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", campaign.scratch.string(), status.message())};
  WorkTime time{.host = host_name(), .began = std::time(nullptr), .tries = count_try(tries)};
  bool done = false;
  if (study.verb == CampaignVerb::Compare) {
    const MaybeJson result = do_comparison(campaign, task, context, time);
    TW_TRY(done, put_done(campaign, number, result, time));
  } else {
    TW_TRY(const StudyRequest request, request_of(study));
    const double cpu = cpu_seconds(context);
    const auto start = Clock::now();
    const MaybeJson result = do_in(work, request, context);
    time.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    time.cpu_seconds = cpu_seconds(context) - cpu;
    if (result && *result && has_points(campaign, task)) {
      TW_TRY([[maybe_unused]] const Done kept, keep_points(work / kStoreFile, campaign.points_path(task.key)));
    }
    TW_TRY(done, put_done(campaign, number, result, time));
  }
  if (done) {
    fs::remove_all(work, status);
    fs::remove(tries, status);
  }
  return done;
}

}  // namespace

bool has_points(const Campaign& campaign, const CampaignTask& task) {
  const CampaignVerb verb = campaign.plan.studies[task.study].verb;
  return campaign.plan.points && (verb == CampaignVerb::Map || verb == CampaignVerb::Codesign);
}

std::optional<FinishedWork> finished(const Campaign& campaign, std::size_t number) {
  const CampaignTask& task = campaign.tasks[number];
  std::error_code ignored;
  if (has_points(campaign, task) && !fs::exists(campaign.points_path(task.key), ignored)) return std::nullopt;
  return campaign.store.find(task.key);
}

Result<Done> copy_whole(const fs::path& source, const fs::path& target) {
  std::error_code status;
  fs::create_directories(target.parent_path(), status);
  const fs::path draft = target.string() + fmt::format(".{}.draft", getpid());
  if (!status) fs::copy_file(source, draft, fs::copy_options::overwrite_existing, status);
  if (!status) {
    const int file = open(draft.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || fsync(file) != 0) status = std::error_code(errno, std::generic_category());
    if (file >= 0) close(file);
  }
  if (!status) fs::rename(draft, target, status);
  if (!status) {
    sync_directory(target.parent_path());
    return Done{};
  }
  std::error_code ignored;
  fs::remove(draft, ignored);
  return Error{ErrorCode::Io, fmt::format("{}: could not be written: {}", target.string(), status.message())};
}

Result<Json> asked_of(const Campaign& campaign, std::size_t number) {
  const CampaignTask& task = campaign.tasks[number];
  const PlannedStudy& study = campaign.plan.studies[task.study];
  if (study.verb == CampaignVerb::Compare) {
    TW_TRY(const std::shared_ptr<OpenComparison> open, open_comparisons().get(campaign, task.study));
    return comparison_asked(*open, task.part);
  }
  return plain_asked(study, campaign.plan.points);
}

Result<bool> try_task(const Campaign& campaign, std::size_t number, RunContext& context) {
  const CampaignTask& task = campaign.tasks[number];
  try {
    WorkTime time;
    if (campaign.plan.studies[task.study].verb == CampaignVerb::Compare) {
      TW_TRY(const std::optional<Json> result, do_comparison(campaign, task, context, time));
      return result.has_value();
    }
    TW_TRY(const StudyRequest request, request_of(campaign.plan.studies[task.study]));
    TW_TRY(const std::optional<Json> result, std::visit([&](const auto& one) { return do_study(one, context); }, request));
    return result.has_value();
  } catch (const Stopped&) {
    return false;
  }
}

Result<bool> do_task(const Campaign& campaign, std::size_t number, RunContext& context) {
  if (finished(campaign, number)) return true;
  try {
    Result<bool> done = attempt(campaign, number, context);
    if (!done && finished(campaign, number)) return true;  // somebody else was faster
    return done;
  } catch (const Stopped&) {
    return false;
  }
}

}  // namespace tilewright
