#include "tilewright/study/comparison_run.hpp"

#include <chrono>
#include <mutex>
#include <optional>

#include <time.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/store/documents.hpp"
#include "tilewright/study/comparison_record.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::int64_t samples_of(const SearchLoop& loop) {
  std::int64_t samples = 0;
  for (const Ledger& ledger : loop.ledgers()) samples += ledger.samples;
  return samples;
}

// How far all runs are together, told one at a time.
class StatusBoard {
 public:
  StatusBoard(std::int64_t runs, std::int64_t samples, const RunContext& context) : all_runs_(runs), context_(context) {
    state_.all = samples;
    state_.unit = "samples";
  }
  void add(std::int64_t samples, std::int64_t runs) {
    const std::lock_guard lock(mutex_);
    state_.done += samples;
    runs_ += runs;
    context_.progress.tell([&] {
      state_.words = fmt::format("{} of {} runs done", with_thousands(runs_), with_thousands(all_runs_));
      return state_;
    });
  }
  bool is_stopped() const { return context_.stop.asked(); }

 private:
  std::mutex mutex_;
  std::int64_t runs_ = 0, all_runs_;
  ProgressState state_ = {};
  const RunContext& context_;
};

// False when it was stopped.
bool search(SearchLoop& loop, Searcher& searcher, const ComparisonWatch& watch) {
  std::int64_t told = 0;
  const auto tell = [&](bool is_end) {
    const std::int64_t samples = samples_of(loop);
    watch.advance(samples - told, is_end);
    told = samples;
  };
  while (!watch.is_stopped()) {
    if (!loop.round(searcher)) {
      tell(!loop.is_stopped());
      return !loop.is_stopped();
    }
    tell(false);
  }
  return false;
}

std::optional<Error> run_one(const ComparisonPlan& plan, ComparisonRun& run, const ComparisonWatch& watch) {
  ThreadPool alone(1);
  const Contender& contender = plan.contenders[run.contender];
  const std::int64_t budget = plan.budgets[run.budget];
  Result<std::unique_ptr<Searcher>> made = make_contender(plan, contender, budget, plan.seed(run.seed), alone);
  if (!made) return made.error();
  const std::vector<const DesignSpace*> spaces = plan.job.spaces();
  SearchLoop loop(spaces, plan.job.options.objective, budget, alone);
  std::optional<ProposalAudit> audit;
  if (run.audited) {
    audit.emplace(spaces);
    loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict& verdict) {
      audit->see(proposal, verdict);
    };
  }
  const Clock::time_point start = Clock::now();
  const double cpu_start = thread_seconds();
  loop.begin(**made, plan.job.known());
  alone.stop_when(watch.is_stopped);
  run.done = search(loop, **made, watch);
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  run.cpu_seconds = thread_seconds() - cpu_start;
  run.layers = loop.ledgers();
  if (audit) run.audit = audit->summary();
  if (const auto story = agents_story(**made)) run.agents = story->assignment.agents.size();
  return std::nullopt;
}

std::optional<Error> run_target(const ComparisonPlan& plan, std::size_t layer, TargetRun& target,
                                const ComparisonWatch& watch) {
  ThreadPool alone(1);
  const std::vector<const DesignSpace*> space = {plan.job.spaces()[layer]};
  // A seed that no contender has: the target must not be a longer run of one of them.
  const SearchRequest request{plan.target->searcher, space, plan.target->samples,
                              Rng(plan.first_seed, "target").fork("layer", layer).key(), plan.contenders.front().settings};
  Result<std::unique_ptr<Searcher>> made = make_searcher(request, alone);
  if (!made) return made.error();
  SearchLoop loop(space, plan.job.options.objective, plan.target->samples, alone);
  alone.stop_when(watch.is_stopped);
  target.done = search(loop, **made, watch);
  target.ledger = loop.ledgers().front();
  return std::nullopt;
}

// Runs that are there already, and those that end now.
class Shelf {
 public:
  Shelf(const ComparisonPlan& plan, std::optional<Documents> documents)
      : plan_(plan), documents_(std::move(documents)), common_(documents_ ? common_facts(plan) : Json()) {}

  bool take(ComparisonRuns& runs, std::size_t task) const {
    if (!documents_) return false;
    const std::optional<FinishedWork> work = documents_->find(asked_of(plan_, runs, task, common_));
    if (!work || !take_result(runs, task, work->result)) return false;
    if (task >= runs.targets.size()) {
      ComparisonRun& run = runs.runs[task - runs.targets.size()];
      run.seconds = work->time.seconds;
      run.cpu_seconds = work->time.cpu_seconds;
    }
    return true;
  }

  std::optional<Error> keep(const ComparisonRuns& runs, std::size_t task) const {
    if (!documents_) return std::nullopt;
    WorkTime time;
    if (task >= runs.targets.size()) {
      const ComparisonRun& run = runs.runs[task - runs.targets.size()];
      if (!run.done) return std::nullopt;
      time.seconds = run.seconds;
      time.cpu_seconds = run.cpu_seconds;
    } else if (!runs.targets[task].done) {
      return std::nullopt;
    }
    const Result<Done> put = documents_->put(asked_of(plan_, runs, task, common_), {result_of(runs, task), time});
    if (!put) return put.error();
    return std::nullopt;
  }

 private:
  using Json = nlohmann::ordered_json;
  const ComparisonPlan& plan_;
  std::optional<Documents> documents_;
  Json common_;
};

Result<std::optional<Documents>> open_documents(const RunContext& context) {
  std::optional<Documents> documents;
  if (context.directory == nullptr) return documents;
  TW_TRY(Documents opened, Documents::open(context.directory->path() / kRunsFolder));
  documents.emplace(std::move(opened));
  return documents;
}

}  // namespace

std::optional<Error> run_task(const ComparisonPlan& plan, ComparisonRuns& runs, std::size_t task,
                              const ComparisonWatch& watch) {
  return task < runs.targets.size() ? run_target(plan, task, runs.targets[task], watch)
                                    : run_one(plan, runs.runs[task - runs.targets.size()], watch);
}

Result<ComparisonRuns> run_comparison(const ComparisonPlan& plan, RunContext& context) {
  ComparisonRuns result = planned_runs(plan);
  TW_TRY(std::optional<Documents> documents, open_documents(context));
  const Shelf shelf(plan, std::move(documents));
  const std::size_t tasks = task_count(result);
  std::int64_t samples = 0;
  for (std::size_t task = 0; task < tasks; ++task) samples += samples_of_task(plan, result, task);
  StatusBoard board(static_cast<std::int64_t>(tasks), samples, context);
  const ComparisonWatch watch{
      [&board](std::int64_t spent, bool is_end) { board.add(spent, is_end ? 1 : 0); },
      [&board] { return board.is_stopped(); },
  };
  std::vector<std::optional<Error>> errors(tasks);
  const Clock::time_point start = Clock::now();
  context.threads.for_each(tasks, [&](std::size_t task, std::size_t) {
    if (board.is_stopped()) return;
    if (shelf.take(result, task)) return board.add(samples_of_task(plan, result, task), 1);
    errors[task] = run_task(plan, result, task, watch);
    if (!errors[task]) errors[task] = shelf.keep(result, task);
  });
  for (const auto& error : errors) {
    if (error) return *error;
  }
  result.interrupted = context.stop.asked();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace tilewright
