// Every searcher by name, those that learn included.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/agents/agents_searcher.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright {

const std::vector<SearcherInfo>& all_searchers();

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
  Settings settings;                // of any searcher; those of others are checked too
  const SavedTeam* from = nullptr;  // agents only
};

struct MadeSearcher {
  std::unique_ptr<Searcher> searcher;
  const AgentsSearcher* agents = nullptr;  // when it is one team for all problems
};
Result<MadeSearcher> make_searcher(const SearchRequest& request, ThreadPool& threads);

// Hyper-parameters of a searcher with their values after `settings`.
Result<std::vector<SettingValue>> settings_in_force(std::string_view name, const Settings& settings);

}  // namespace tilewright
