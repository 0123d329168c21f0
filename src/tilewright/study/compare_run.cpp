#include "tilewright/study/compare_run.hpp"

#include <chrono>
#include <mutex>

#include <time.h>

#include "tilewright/study/stop_signal.hpp"

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

class StatusBoard {
 public:
  StatusBoard(std::int64_t runs, std::int64_t samples, const OnStatus& on_status) : on_status_(on_status) {
    status_.all_runs = runs;
    status_.all_samples = samples;
  }
  void add(std::int64_t samples, std::int64_t runs) {
    const std::lock_guard lock(mutex_);
    status_.samples += samples;
    status_.runs += runs;
    on_status_(status_);
  }

 private:
  std::mutex mutex_;
  CompareStatus status_;
  const OnStatus& on_status_;
};

// False when it was stopped.
bool search(SearchLoop& loop, Searcher& searcher, StatusBoard& board) {
  std::int64_t told = 0;
  const auto tell = [&](std::int64_t runs) {
    const std::int64_t samples = samples_of(loop);
    board.add(samples - told, runs);
    told = samples;
  };
  while (!stop_asked()) {
    if (!loop.round(searcher)) {
      tell(loop.is_stopped() ? 0 : 1);
      return !loop.is_stopped();
    }
    tell(0);
  }
  return false;
}

std::optional<Error> run_one(const ComparePlan& plan, CompareRun& run, StatusBoard& board) {
  ThreadPool alone(1);
  const Contender& contender = plan.contenders[run.contender];
  const std::int64_t budget = plan.budgets[run.budget];
  Result<std::unique_ptr<Searcher>> made = make_contender(plan, contender, budget, plan.seed(run.seed), alone);
  if (!made) return made.error();
  const std::vector<const DesignSpace*> spaces = plan.job.spaces();
  SearchLoop loop(spaces, plan.job.objective, budget, alone);
  std::optional<ProposalAudit> audit;
  if (run.seed == 0 && run.budget + 1 == plan.budgets.size()) {
    audit.emplace(spaces);
    loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict& verdict) {
      audit->see(proposal, verdict);
    };
  }
  const Clock::time_point start = Clock::now();
  const double cpu_start = thread_seconds();
  loop.begin(**made, plan.job.known());
  alone.stop_when(stop_asked);
  run.done = search(loop, **made, board);
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  run.cpu_seconds = thread_seconds() - cpu_start;
  run.layers = loop.ledgers();
  if (audit) run.audit = audit->summary();
  if (const auto story = agents_story(**made)) run.agents = story->assignment.agents.size();
  return std::nullopt;
}

std::optional<Error> run_target(const ComparePlan& plan, std::size_t layer, TargetRun& target, StatusBoard& board) {
  ThreadPool alone(1);
  const std::vector<const DesignSpace*> space = {plan.job.problems[layer].space.get()};
  // A seed that no contender has: the target must not be a longer run of one of them.
  const SearchRequest request{plan.target->searcher, space, plan.target->samples,
                              Rng(plan.first_seed, "target").fork("layer", layer).key(), plan.contenders.front().settings};
  Result<std::unique_ptr<Searcher>> made = make_searcher(request, alone);
  if (!made) return made.error();
  SearchLoop loop(space, plan.job.objective, plan.target->samples, alone);
  alone.stop_when(stop_asked);
  target.done = search(loop, **made, board);
  target.ledger = loop.ledgers().front();
  return std::nullopt;
}

}  // namespace

Result<CompareRuns> run_comparison(const ComparePlan& plan, std::size_t threads, const OnStatus& on_status) {
  CompareRuns result;
  const auto layers = static_cast<std::int64_t>(plan.job.problems.size());
  std::int64_t samples = 0;
  for (std::size_t seed = 0; seed < static_cast<std::size_t>(plan.seeds); ++seed) {
    for (std::size_t budget = plan.budgets.size(); budget-- > 0;) {
      for (std::size_t contender = 0; contender < plan.contenders.size(); ++contender) {
        CompareRun& run = result.runs.emplace_back();
        run.contender = contender;
        run.budget = budget;
        run.seed = seed;
        samples += plan.budgets[budget] * layers;
      }
    }
  }
  if (plan.target) {
    result.targets.resize(plan.job.problems.size());
    samples += plan.target->samples * layers;
  }
  const std::size_t targets = result.targets.size(), tasks = targets + result.runs.size();
  StatusBoard board(static_cast<std::int64_t>(tasks), samples, on_status);
  std::vector<std::optional<Error>> errors(tasks);
  const Clock::time_point start = Clock::now();
  ThreadPool pool(threads);
  pool.for_each(tasks, [&](std::size_t task, std::size_t) {
    if (stop_asked()) return;
    errors[task] = task < targets ? run_target(plan, task, result.targets[task], board)
                                  : run_one(plan, result.runs[task - targets], board);
  });
  for (const auto& error : errors) {
    if (error) return *error;
  }
  result.interrupted = stop_asked();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace tilewright
