#include "tilewright/study/comparison_run.hpp"

#include <chrono>
#include <mutex>

#include <time.h>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

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
bool search(SearchLoop& loop, Searcher& searcher, StatusBoard& board) {
  std::int64_t told = 0;
  const auto tell = [&](std::int64_t runs) {
    const std::int64_t samples = samples_of(loop);
    board.add(samples - told, runs);
    told = samples;
  };
  while (!board.is_stopped()) {
    if (!loop.round(searcher)) {
      tell(loop.is_stopped() ? 0 : 1);
      return !loop.is_stopped();
    }
    tell(0);
  }
  return false;
}

std::optional<Error> run_one(const ComparisonPlan& plan, ComparisonRun& run, StatusBoard& board) {
  ThreadPool alone(1);
  const Contender& contender = plan.contenders[run.contender];
  const std::int64_t budget = plan.budgets[run.budget];
  Result<std::unique_ptr<Searcher>> made = make_contender(plan, contender, budget, plan.seed(run.seed), alone);
  if (!made) return made.error();
  const std::vector<const DesignSpace*> spaces = plan.job.spaces();
  SearchLoop loop(spaces, plan.job.options.objective, budget, alone);
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
  alone.stop_when([&board] { return board.is_stopped(); });
  run.done = search(loop, **made, board);
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  run.cpu_seconds = thread_seconds() - cpu_start;
  run.layers = loop.ledgers();
  if (audit) run.audit = audit->summary();
  if (const auto story = agents_story(**made)) run.agents = story->assignment.agents.size();
  return std::nullopt;
}

std::optional<Error> run_target(const ComparisonPlan& plan, std::size_t layer, TargetRun& target, StatusBoard& board) {
  ThreadPool alone(1);
  const std::vector<const DesignSpace*> space = {plan.job.spaces()[layer]};
  // A seed that no contender has: the target must not be a longer run of one of them.
  const SearchRequest request{plan.target->searcher, space, plan.target->samples,
                              Rng(plan.first_seed, "target").fork("layer", layer).key(), plan.contenders.front().settings};
  Result<std::unique_ptr<Searcher>> made = make_searcher(request, alone);
  if (!made) return made.error();
  SearchLoop loop(space, plan.job.options.objective, plan.target->samples, alone);
  alone.stop_when([&board] { return board.is_stopped(); });
  target.done = search(loop, **made, board);
  target.ledger = loop.ledgers().front();
  return std::nullopt;
}

}  // namespace

Result<ComparisonRuns> run_comparison(const ComparisonPlan& plan, RunContext& context) {
  ComparisonRuns result;
  const auto layers = static_cast<std::int64_t>(plan.job.spaces().size());
  std::int64_t samples = 0;
  for (std::size_t seed = 0; seed < static_cast<std::size_t>(plan.seeds); ++seed) {
    for (std::size_t budget = plan.budgets.size(); budget-- > 0;) {
      for (std::size_t contender = 0; contender < plan.contenders.size(); ++contender) {
        ComparisonRun& run = result.runs.emplace_back();
        run.contender = contender;
        run.budget = budget;
        run.seed = seed;
        samples += plan.budgets[budget] * layers;
      }
    }
  }
  if (plan.target) {
    result.targets.resize(plan.job.spaces().size());
    samples += plan.target->samples * layers;
  }
  const std::size_t targets = result.targets.size(), tasks = targets + result.runs.size();
  StatusBoard board(static_cast<std::int64_t>(tasks), samples, context);
  std::vector<std::optional<Error>> errors(tasks);
  const Clock::time_point start = Clock::now();
  context.threads.for_each(tasks, [&](std::size_t task, std::size_t) {
    if (board.is_stopped()) return;
    errors[task] = task < targets ? run_target(plan, task, result.targets[task], board)
                                  : run_one(plan, result.runs[task - targets], board);
  });
  for (const auto& error : errors) {
    if (error) return *error;
  }
  result.interrupted = context.stop.asked();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace tilewright
