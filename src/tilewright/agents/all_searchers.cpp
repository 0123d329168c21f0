#include "tilewright/agents/all_searchers.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "tilewright/agents/chameleon.hpp"
#include "tilewright/agents/dcoc.hpp"
#include "tilewright/agents/network_codesign.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/space/hierarchy_space.hpp"

namespace tilewright {
namespace {

using Made = Result<std::unique_ptr<Searcher>>;
using Values = Result<std::vector<SettingValue>>;

struct Kind {
  SearcherInfo info;
  std::function<Made(const SearchRequest&, ThreadPool&)> make;
  std::function<Values(const Settings&)> values;
};

std::uint64_t seed_of(std::uint64_t seed, std::size_t problem) { return Rng(seed, "problem").fork("", problem).key(); }

// One searcher per problem: make(space, seed).
template <typename Make>
Made one_each(const SearchRequest& request, const Make& make) {
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  for (std::size_t problem = 0; problem < request.spaces.size(); ++problem) {
    TW_TRY(searchers.emplace_back(), make(*request.spaces[problem], seed_of(request.seed, problem)));
  }
  return each_alone(std::move(searchers));
}

using MadeOne = Result<std::unique_ptr<PointSearcher>>;

template <typename Options>
Result<Options> options_from(std::string_view name, const Settings& settings) {
  Options options;
  TW_TRY([[maybe_unused]] const Done applied, apply_settings(settings, name, settings_of(options)));
  return options;
}

template <typename Options>
std::function<Values(const Settings&)> values_in_force(std::string_view name) {
  return [name](const Settings& settings) -> Values {
    TW_TRY(Options options, options_from<Options>(name, settings));
    return values_of(settings_of(options));
  };
}

TeamOptions team_of(const RlOptions& options) {
  TeamOptions team;
  team.batch = options.batch;
  team.construction = 1;
  team.exchange = 0;
  team.elites = 0;
  team.observe_point = false;
  team.learning = options.learning;
  return team;
}

Made make_rl(const SearchRequest& request, ThreadPool& threads) {
  TW_TRY(const RlOptions options, options_from<RlOptions>("rl", request.settings));
  return one_each(request, [&](const DesignSpace& space, std::uint64_t seed) -> MadeOne {
    TW_TRY(auto team,
           TeamSearcher::make({&space}, assign_single(all_parameters({&space})), team_of(options), seed, threads));
    return of_one_problem(std::move(team));
  });
}

Made make_agents(const SearchRequest& request, ThreadPool& threads) {
  TW_TRY(AgentsOptions options, options_from<AgentsOptions>("agents", request.settings));
  if (request.assignment != nullptr) options.assign = *request.assignment;
  if (options.joint) {
    TW_TRY(auto team, AgentsSearcher::make(request.spaces, options, request.samples, request.seed, threads, request.from));
    return std::unique_ptr<Searcher>(std::move(team));
  }
  return one_each(request, [&](const DesignSpace& space, std::uint64_t seed) -> MadeOne {
    TW_TRY(auto team, AgentsSearcher::make({&space}, options, request.samples, seed, threads, request.from));
    return of_one_problem(std::move(team));
  });
}

Made make_dcoc(const SearchRequest& request, ThreadPool& threads) {
  TW_TRY(const DcocOptions options, options_from<DcocOptions>("dcoc", request.settings));
  return one_each(request, [&](const DesignSpace& space, std::uint64_t seed) -> MadeOne {
    return std::unique_ptr<PointSearcher>(std::make_unique<DcocSearcher>(space, options, seed, threads));
  });
}

Made make_dcoc_network(const SearchRequest& request, ThreadPool& threads) {
  TW_TRY(const DcocOptions options, options_from<DcocOptions>("dcoc", request.settings));
  std::vector<const CodesignSpace*> spaces;
  for (const DesignSpace* space : request.spaces) spaces.push_back(dynamic_cast<const CodesignSpace*>(space));
  const bool searches_machine = std::ranges::all_of(
      spaces, [](const CodesignSpace* space) { return space != nullptr && space->hardware_parameters() > 0; });
  if (!searches_machine || request.counts.size() != spaces.size()) {
    return invalid("dcoc-network searches one machine for the layers of a network, expected codesign without --machine");
  }
  return std::unique_ptr<Searcher>(
      std::make_unique<NetworkCodesign>(spaces, request.counts, options, request.samples, request.seed, threads));
}

Made make_chameleons(const SearchRequest& request, ThreadPool& threads) {
  TW_TRY(const ChameleonOptions options, options_from<ChameleonOptions>("chameleon", request.settings));
  return one_each(request, [&](const DesignSpace& space, std::uint64_t seed) -> MadeOne {
    return make_chameleon(space, options, seed, threads);
  });
}

Kind classical(const SearcherInfo& info) {
  const auto make = [name = info.name](const SearchRequest& request, ThreadPool&) {
    return one_each(request, [&](const DesignSpace& space, std::uint64_t seed) {
      return make_classical_searcher(name, space, request.samples, seed, request.settings);
    });
  };
  return {info, make, [name = info.name](const Settings& settings) { return classical_settings(name, settings); }};
}

bool have_levels(const std::vector<const DesignSpace*>& spaces) {
  const auto has = [](const DesignSpace* space) { return dynamic_cast<const HierarchySpace*>(space) != nullptr; };
  return !spaces.empty() && std::ranges::all_of(spaces, has);
}

// Of agents on machines with memory levels.
constexpr std::int64_t kUpdates = 400;             // over the whole budget
constexpr std::int64_t kMostBetweenUpdates = 128;  // proposals of all problems
constexpr std::int64_t kRenewals = 20;             // at most, over the whole budget

constexpr std::string_view kNetworkWide = "dcoc-network";

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> made = {
        {{"agents", "a team of agents, each with a cluster of correlated parameters, on all layers together"},
         make_agents,
         values_in_force<AgentsOptions>("agents")},
        {{"rl", "a single agent with one policy over all parameters, each layer by itself"},
         make_rl,
         values_in_force<RlOptions>("rl")}};
    for (const SearcherInfo& info : classical_searchers()) made.push_back(classical(info));
    made.push_back({{"dcoc", "agents for machine, threads and tiles on a surrogate, with Confidence Sampling"},
                    make_dcoc,
                    values_in_force<DcocOptions>("dcoc")});
    made.push_back({{"chameleon", "one agent on a surrogate, with adaptive k-means sampling"},
                    make_chameleons,
                    values_in_force<ChameleonOptions>("chameleon")});
    made.push_back({{kNetworkWide, "dcoc with one machine for all layers, by successive halving over machines"},
                    make_dcoc_network,
                    values_in_force<DcocOptions>("dcoc")});
    return made;
  }();
  return all;
}

std::vector<SearcherInfo> infos(bool with_network_wide) {
  std::vector<SearcherInfo> all;
  for (const Kind& kind : kinds()) {
    if (with_network_wide || kind.info.name != kNetworkWide) all.push_back(kind.info);
  }
  return all;
}

}  // namespace

std::vector<Setting> settings_of(RlOptions& options) {
  LearningOptions& learning = options.learning;
  return {
      {"batch", "samples between two updates", &options.batch, 1, 100'000},
      {"learner", "ippo, maddpg or masac", one_of(learning.learner, {Algorithm::Ippo, Algorithm::Maddpg, Algorithm::Masac})},
      {"critic", "none or own", one_of(learning.critic, {Critic::None, Critic::Own})},
      {"hidden", "width of both hidden layers", &learning.hidden, 1, 4096},
      {"learning_rate", "of policy and critic", &learning.learning_rate, 0, 1},
      {"entropy_bonus", "weight of the policy's entropy", &learning.entropy_bonus, 0, 10},
      {"epochs", "passes over the samples of an update", &learning.epochs, 1, 1000},
      {"minibatches", "per pass", &learning.minibatches, 1, 1000},
  };
}

const std::vector<SearcherInfo>& all_searchers() {
  static const std::vector<SearcherInfo> all = infos(false);
  return all;
}

const std::vector<SearcherInfo>& codesign_searchers() {
  static const std::vector<SearcherInfo> all = infos(true);
  return all;
}

Settings completed_settings(const SearchRequest& request) {
  Settings settings = request.settings;
  if (!have_levels(request.spaces)) return settings;
  const TeamOptions plain;
  const std::int64_t most = std::max(plain.batch, kMostBetweenUpdates / std::ssize(request.spaces));
  const std::int64_t batch = std::clamp(request.samples / kUpdates, plain.batch, most);
  settings.try_emplace("agents.batch", std::to_string(batch));
  settings.try_emplace("agents.patience", std::to_string(std::max(plain.patience, request.samples / kRenewals)));
  settings.try_emplace("agents.critic", "none");
  return settings;
}

Result<std::vector<SettingValue>> settings_in_force(std::string_view name, const Settings& settings) {
  const auto kind = std::ranges::find(kinds(), name, [](const Kind& one) { return one.info.name; });
  return kind != kinds().end() ? kind->values(settings) : std::vector<SettingValue>{};
}

Result<std::unique_ptr<Searcher>> make_searcher(const SearchRequest& request, ThreadPool& threads) {
  std::vector<std::string> names;
  for (const SearcherInfo& info : all_searchers()) names.emplace_back(info.name);
  const auto kind = std::ranges::find(kinds(), request.name, [](const Kind& one) { return one.info.name; });
  if (kind == kinds().end()) {
    return Error{ErrorCode::NotFound,
                 fmt::format("searcher '{}' is not known{}, expected one of {}", printable(request.name),
                             did_you_mean(request.name, names), join(names, ", "))};
  }
  for (const auto& [key, value] : request.settings) {
    const std::string searcher = key.substr(0, key.find('.'));
    if (std::ranges::find(names, searcher) != names.end()) continue;
    return invalid(fmt::format("--set {}={}: searcher '{}' is not known{}, expected one of {}", key, value,
                               printable(searcher), did_you_mean(searcher, names), join(names, ", ")));
  }
  for (const std::string& name : names) {
    TW_TRY([[maybe_unused]] const auto checked, settings_in_force(name, request.settings));
  }
  if (request.from != nullptr && request.name != "agents") {
    return invalid(fmt::format("--from gives a trained team to agents, but --search is {}", request.name));
  }
  SearchRequest completed = request;
  completed.settings = completed_settings(request);
  return kind->make(completed, threads);
}

}  // namespace tilewright
