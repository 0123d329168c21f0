// Who does the tasks that are missing, and how it stands meanwhile.
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/campaign_parts.hpp"
#include "tilewright/study/stop_heard.hpp"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

// Told of tasks as they end, from any thread; tells progress and those who watch.
class Scoreboard {
 public:
  Scoreboard(const Campaign& campaign, RunContext& context, const CampaignWatch& watch)
      : campaign_(campaign), context_(context), watch_(watch) {
    status_.name = campaign.plan.name;
    status_.studies = campaign.plan.studies;
    status_.states.resize(campaign.plan.studies.size());
    status_.tasks = campaign.tasks.size();
    for (const CampaignTask& task : campaign.tasks) ++status_.states[task.study].tasks;
  }

  // The numbers of the tasks that nobody has done yet; of those with one key, the first.
  std::vector<std::size_t> look() {
    std::vector<std::size_t> missing;
    for (std::size_t task = 0; task < campaign_.tasks.size(); ++task) {
      const std::optional<FinishedWork> work = finished(campaign_, task);
      if (work) {
        count(task, work->time.seconds);
        continue;
      }
      std::vector<std::size_t>& alike = alike_[campaign_.tasks[task].key];
      if (alike.empty()) missing.push_back(task);
      alike.push_back(task);
    }
    const std::map<std::string, nlohmann::ordered_json> earlier = earlier_studies(campaign_);
    for (std::size_t study = 0; study < status_.states.size(); ++study) {
      if (status_.states[study].done < status_.states[study].tasks) continue;
      const auto known = earlier.find(keys_of(campaign_, study));
      if (known != earlier.end()) {
        status_.states[study].summary = known->second["summary"];
      } else {
        status_.states[study].summary = summary(study);
      }
    }
    status_.found = status_.done;
    return missing;
  }

  // What one found is what all with its key were asked for.
  void end(std::size_t task, const Result<bool>& done) {
    std::vector<std::size_t> whole;  // studies
    {
      const std::lock_guard lock(mutex_);
      const std::optional<FinishedWork> work = done && *done ? finished(campaign_, task) : std::nullopt;
      for (const std::size_t one : alike_.at(campaign_.tasks[task].key)) {
        const std::size_t study = campaign_.tasks[one].study;
        if (!done) {
          status_.failures.push_back({one, fmt::format("task {} ({}): {}", one + 1, title_of(campaign_.plan.studies[study]),
                                                       done.error().message)});
        } else if (*done && count(one, work ? work->time.seconds : 0)) {
          whole.push_back(study);
        }
      }
    }
    std::vector<std::optional<nlohmann::ordered_json>> found;  // takes time of its own
    for (const std::size_t study : whole) found.push_back(summary(study));
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < whole.size(); ++i) status_.states[whole[i]].summary = std::move(found[i]);
    context_.progress.tell([&] { return state(); });
    if (watch_ && !trouble_ && Clock::now() >= next_) {
      show();
      // Showing a long campaign must not become the work.
      const auto took = Clock::now() - shown_;
      next_ = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(2), 20 * took);
    }
  }

  void show() {
    shown_ = Clock::now();
    status_.elapsed = std::chrono::duration<double>(shown_ - start_).count();
    if (!watch_) return;
    const Result<Done> watched = watch_(status_);
    if (!watched) trouble_ = watched.error();
  }

  CampaignStatus& status() { return status_; }
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  // Whether its study is whole now.
  bool count(std::size_t task, double seconds) {
    ++status_.done;
    status_.task_seconds += seconds;
    StudyState& state = status_.states[campaign_.tasks[task].study];
    state.seconds += seconds;
    return ++state.done == state.tasks;
  }

  std::optional<nlohmann::ordered_json> summary(std::size_t study) const {
    const Result<std::string> document = document_of(campaign_, study);
    if (!document) return std::nullopt;
    return summary_of(campaign_.plan.studies[study], nlohmann::ordered_json::parse(*document, nullptr, false));
  }

  ProgressState state() const {
    return {.title = status_.name,
            .done = static_cast<std::int64_t>(status_.done),
            .all = static_cast<std::int64_t>(status_.tasks),
            .unit = "tasks",
            .words = status_.failures.empty() ? "" : fmt::format("{} failed", status_.failures.size()),
            .lines = {}};
  }

  const Campaign& campaign_;
  RunContext& context_;
  const CampaignWatch& watch_;
  std::mutex mutex_;
  CampaignStatus status_;
  std::map<std::string, std::vector<std::size_t>> alike_;  // missing tasks, by key
  std::optional<Error> trouble_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(2), shown_ = start_;
};

}  // namespace

Result<Done> local_engine(const Campaign& campaign, const std::vector<std::size_t>& tasks, RunContext& context,
                          const TaskEnd& on_end) {
  // Where there are fewer tasks than threads, the tasks themselves have several.
  const std::size_t each = std::max<std::size_t>(1, context.threads.thread_count() / std::max<std::size_t>(1, tasks.size()));
  context.threads.for_each(tasks.size(), [&](std::size_t item, std::size_t) {
    if (context.stop.asked()) return;
    ThreadPool threads(each);
    RunContext alone{.threads = threads, .stop = context.stop};
    on_end(tasks[item], do_task(campaign, tasks[item], alone));
  });
  return Done{};
}

Result<CampaignStatus> run_campaign(const Campaign& campaign, const CampaignEngine& engine, RunContext& context,
                                    const CampaignWatch& watch) {
  TW_TRY([[maybe_unused]] const Done kept, write_file(campaign.directory / kPlanFile, campaign.plan_text));
  Scoreboard board(campaign, context, watch);
  const std::vector<std::size_t> missing = board.look();
  board.show();
  if (!missing.empty() && !board.trouble()) {
    TW_TRY([[maybe_unused]] const Done ran,
           engine(campaign, missing, context, [&](std::size_t task, const Result<bool>& done) { board.end(task, done); }));
  }
  if (board.trouble()) return *board.trouble();
  TW_TRY(CampaignStatus folded, fold_campaign(campaign, context.threads));
  CampaignStatus& status = board.status();
  std::ranges::sort(status.failures, {}, &TaskFailure::task);
  status.states = std::move(folded.states);
  status.done = folded.done;
  status.task_seconds = folded.task_seconds;
  status.ended = true;
  board.show();
  if (board.trouble()) return *board.trouble();
  return status;
}

}  // namespace tilewright
