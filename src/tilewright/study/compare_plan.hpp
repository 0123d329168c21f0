// What a comparison consists of: contenders, budgets and seeds, all checked before the first sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/study/compare_command.hpp"

namespace tilewright {

// Where a variant of agents has its assignment from, when that is not a setting.
enum class AssignmentSource {
  AsSet,
  RandomAsMany,  // random, of as many agents as clusters would choose with the same seed and budget
  OtherNetwork,  // clusters of the other network, explored with the same seed and budget
};

struct Contender {
  std::string label;     // "gamma", "assignment single"
  std::string searcher;  // as make_searcher knows it
  Settings settings;
  bool has_team = false;  // begins with the team of --from
  AssignmentSource source = AssignmentSource::AsSet;
};

struct CompareTarget {
  std::string searcher;
  std::int64_t samples = 0;
};

struct ComparePlan {
  MappingJob job;
  std::vector<Contender> contenders;  // the first is compared with every other
  std::vector<std::int64_t> budgets;  // ascending
  std::int64_t seeds = 1;
  std::uint64_t first_seed = 1;
  std::optional<CompareTarget> target;
  std::optional<SavedTeam> team;        // of --from
  std::optional<MappingJob> elsewhere;  // of --transfer-from

  std::uint64_t seed(std::size_t run) const { return first_seed + run; }
};

// An Error when anything is wrong that can be known before searching, the settings of every contender included.
Result<ComparePlan> plan_comparison(const CompareArguments& arguments);

// The searcher of one run. `threads` outlives it.
Result<std::unique_ptr<Searcher>> make_contender(const ComparePlan& plan, const Contender& contender, std::int64_t budget,
                                                 std::uint64_t seed, ThreadPool& threads);

}  // namespace tilewright
