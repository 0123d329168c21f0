// What a comparison consists of: contenders, budgets and seeds, all checked before the first sample.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/study/any_job.hpp"
#include "tilewright/study/comparison_best.hpp"
#include "tilewright/study/comparison_options.hpp"

namespace tilewright {

// Where a variant of agents has its assignment from, when that is not a setting.
enum class AssignmentSource {
  AsSet,
  RandomAsMany,  // random, of as many agents as clusters would choose with the same seed and budget
  OtherNetwork,  // clusters of the other network, explored with the same seed and budget
};

// A searcher that comes from the caller: made anew for every run, on the run's own thread. It is called by its name in
// ComparisonOptions::searches, and judged under the same ledger and audit as ours.
struct OwnSearcher {
  std::string name;
  std::function<Result<std::unique_ptr<Searcher>>(const SearchRequest& request, ThreadPool& threads)> make;
};

struct Contender {
  std::string label;     // "gamma", "assignment single"
  std::string searcher;  // as make_searcher knows it
  Settings settings;
  bool has_team = false;  // begins with the plan's team
  AssignmentSource source = AssignmentSource::AsSet;
  std::function<Result<std::unique_ptr<Searcher>>(const SearchRequest& request, ThreadPool& threads)> make =
      {};  // of OwnSearcher
};

struct ComparisonPlan {
  const DesignJob& job;
  std::vector<Contender> contenders = {};  // the first is compared with every other
  std::vector<std::int64_t> budgets = {};  // ascending
  std::int64_t seeds = 1;
  std::uint64_t first_seed = 1;
  std::optional<ComparisonTarget> target = {};
  std::optional<SavedTeam> team = {};      // of `from`
  std::string team_facts = {};             // what its files are
  std::optional<AnyJob> elsewhere = {};    // the network whose clusters are taken over
  std::vector<std::string> unsuited = {};  // why searchers that nobody asked for do not join: each a sentence
  std::vector<KnownBest> earlier = {};     // what is known of the layers from other comparisons

  std::uint64_t seed(std::size_t run) const { return first_seed + run; }
};

// An Error when anything is wrong that can be known before searching, the settings of every contender included. The job
// outlives the plan.
Result<ComparisonPlan> plan_comparison(const DesignJob& job, const ComparisonOptions& options, ThreadPool& threads,
                                       const std::vector<OwnSearcher>& own = {});

// The searcher of one run. `threads` outlives it.
Result<std::unique_ptr<Searcher>> make_contender(const ComparisonPlan& plan, const Contender& contender, std::int64_t budget,
                                                 std::uint64_t seed, ThreadPool& threads);

}  // namespace tilewright
