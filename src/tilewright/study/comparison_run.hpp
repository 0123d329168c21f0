// The runs of a comparison: every contender with every budget and seed, in parallel, each on one thread by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tilewright/search/proposal_audit.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/study/comparison_plan.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright {

struct ComparisonRun {
  std::size_t contender = 0;
  std::size_t budget = 0;  // index
  std::size_t seed = 0;    // index
  bool audited = false;    // the first seed with the largest budget is
  bool done = false;       // all samples spent, or nothing left to try
  double seconds = 0;      // wall time
  double cpu_seconds = 0;  // of its thread
  std::size_t agents = 0;  // when the contender is a team
  std::vector<Ledger> layers;
  std::optional<AuditSummary> audit;
};

// The search that gives a layer its target T1.
struct TargetRun {
  bool done = false;
  Ledger ledger;
};

struct ComparisonRuns {
  std::vector<ComparisonRun> runs;  // seed by seed, so that what is there after a stop is balanced
  std::vector<TargetRun> targets;   // one per layer, or none
  bool interrupted = false;
  double seconds = 0;
};

// One of the tasks of comparison_record.hpp, on one thread. `advance` is told of samples as they are spent, and of the end
// of the task; `is_stopped` is asked now and then.
struct ComparisonWatch {
  std::function<void(std::int64_t samples, bool is_end)> advance;
  std::function<bool()> is_stopped;
};
std::optional<Error> run_task(const ComparisonPlan& plan, ComparisonRuns& runs, std::size_t task,
                              const ComparisonWatch& watch);

inline constexpr const char* kRunsFolder = "runs";  // of the context's directory

// On the context's threads. Ends early when it is stopped: runs under way then are there but not done. Finished runs are
// kept in the context's directory, where there is one, and those that are there already are not done again.
Result<ComparisonRuns> run_comparison(const ComparisonPlan& plan, RunContext& context);

}  // namespace tilewright
