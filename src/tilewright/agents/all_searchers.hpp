// Every searcher by name, those that learn included: the one place where searchers are made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/agents/agents_searcher.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright {

// Those that search any space; and with them those that search one machine for several layers (codesign).
const std::vector<SearcherInfo>& all_searchers();
const std::vector<SearcherInfo>& codesign_searchers();

// A single agent with one policy over all parameters, each problem by itself: the baseline of the papers.
struct RlOptions {
  std::int64_t batch = 16;  // samples between two updates
  LearningOptions learning = {.learning_rate = 3e-3, .entropy_bonus = 0.02};
};
std::vector<Setting> settings_of(RlOptions& options);

struct SearchRequest {
  std::string name = "agents";
  std::vector<const DesignSpace*> spaces;
  std::int64_t samples = 1'000;  // per problem
  std::uint64_t seed = 1;
  Settings settings;                            // of any searcher; those of others are checked too
  const SavedTeam* from = nullptr;              // agents only
  const AgentAssignment* assignment = nullptr;  // agents only: instead of agents.assign
  std::vector<double> counts = {};              // dcoc-network only: how often the network has each problem
};

// The settings of a request, with those that its spaces call for where none are given. For machines with memory levels
// alone, `agents` begin with settings made from the budget, because evaluations there cost less than an update of six
// proposals, and budgets are a hundred times larger:
//
//   agents.batch     samples / 400, so that all problems have 128 at most between two updates; 6 at least, as elsewhere
//   agents.patience  samples / 20, 300 at least, as elsewhere
//   agents.critic    none
Settings completed_settings(const SearchRequest& request);

// An Error when there is no such searcher, when a setting of any searcher is wrong, or when the searcher cannot work on the
// spaces. `threads` outlives it.
Result<std::unique_ptr<Searcher>> make_searcher(const SearchRequest& request, ThreadPool& threads);

// Hyper-parameters of a searcher with their values after `settings`. Those of dcoc-network are called dcoc.
Result<std::vector<SettingValue>> settings_in_force(std::string_view name, const Settings& settings);

}  // namespace tilewright
