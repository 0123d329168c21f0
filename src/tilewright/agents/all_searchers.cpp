#include "tilewright/agents/all_searchers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/agents/chameleon.hpp"
#include "tilewright/agents/dcoc.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// One searcher of a single problem for each problem.
class Apart final : public Searcher {
 public:
  explicit Apart(std::vector<std::unique_ptr<Searcher>> searchers) : searchers_(std::move(searchers)) {}

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override {
    for (std::size_t problem = 0; problem < searchers_.size(); ++problem) {
      if (room[problem] == 0) continue;
      const std::size_t first = proposals.size();
      searchers_[problem]->ask(room.subspan(problem, 1), proposals);
      for (std::size_t i = first; i < proposals.size(); ++i) proposals[i].problem = problem;
    }
  }

  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    share(proposals, verdicts, &Searcher::tell);
  }

  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    share(proposals, verdicts, &Searcher::notice);
  }

 private:
  using Listen = void (Searcher::*)(std::span<const Proposal>, std::span<const Verdict>);

  void share(std::span<const Proposal> proposals, std::span<const Verdict> verdicts, Listen listen) {
    for (std::size_t first = 0, last = 0; first < proposals.size(); first = last) {
      const std::size_t problem = proposals[first].problem;
      while (last < proposals.size() && proposals[last].problem == problem) ++last;
      std::vector<Proposal> own(proposals.begin() + static_cast<std::ptrdiff_t>(first),
                                proposals.begin() + static_cast<std::ptrdiff_t>(last));
      for (Proposal& proposal : own) proposal.problem = 0;
      (searchers_[problem].get()->*listen)(own, verdicts.subspan(first, last - first));
    }
  }

  std::vector<std::unique_ptr<Searcher>> searchers_;
};

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

std::uint64_t seed_of(std::uint64_t seed, std::size_t problem) { return Rng(seed, "problem").fork("", problem).key(); }

Result<MadeSearcher> make_rl(const SearchRequest& request, ThreadPool& threads) {
  RlOptions options;
  TW_TRY(const Done applied, apply_settings(request.settings, "rl", settings_of(options)));
  std::vector<std::unique_ptr<Searcher>> searchers;
  for (std::size_t problem = 0; problem < request.spaces.size(); ++problem) {
    const std::vector<const DesignSpace*> space = {request.spaces[problem]};
    TW_TRY(searchers.emplace_back(), TeamSearcher::make(space, assign_single(all_parameters(space)), team_of(options),
                                                        seed_of(request.seed, problem), threads));
  }
  return MadeSearcher{std::make_unique<Apart>(std::move(searchers)), nullptr};
}

Result<MadeSearcher> make_agents(const SearchRequest& request, ThreadPool& threads) {
  AgentsOptions options;
  TW_TRY(const Done applied, apply_settings(request.settings, "agents", settings_of(options)));
  if (options.joint) {
    TW_TRY(std::unique_ptr<AgentsSearcher> searcher,
           AgentsSearcher::make(request.spaces, options, request.samples, request.seed, threads, request.from));
    const AgentsSearcher* agents = searcher.get();
    return MadeSearcher{std::move(searcher), agents};
  }
  std::vector<std::unique_ptr<Searcher>> searchers;
  for (std::size_t problem = 0; problem < request.spaces.size(); ++problem) {
    TW_TRY(searchers.emplace_back(), AgentsSearcher::make({request.spaces[problem]}, options, request.samples,
                                                          seed_of(request.seed, problem), threads, request.from));
  }
  return MadeSearcher{std::make_unique<Apart>(std::move(searchers)), nullptr};
}

Result<std::unique_ptr<PointSearcher>> make_surrogate_searcher(const SearchRequest& request, std::size_t problem,
                                                               ThreadPool& threads) {
  const DesignSpace& space = *request.spaces[problem];
  const std::uint64_t seed = seed_of(request.seed, problem);
  if (request.name == "chameleon") {
    ChameleonOptions options;
    TW_TRY(const Done applied, apply_settings(request.settings, "chameleon", settings_of(options)));
    return std::unique_ptr<PointSearcher>(make_chameleon(space, options, seed, threads));
  }
  DcocOptions options;
  TW_TRY(const Done applied, apply_settings(request.settings, "dcoc", settings_of(options)));
  return std::unique_ptr<PointSearcher>(std::make_unique<DcocSearcher>(space, options, seed, threads));
}

template <typename Options>
Result<std::vector<SettingValue>> values_in_force(std::string_view name, const Settings& settings) {
  Options options;
  TW_TRY(const Done applied, apply_settings(settings, name, settings_of(options)));
  return values_of(settings_of(options));
}

}  // namespace

std::vector<Setting> settings_of(RlOptions& options) {
  LearningOptions& learning = options.learning;
  return {
      {"batch", "samples between two updates", &options.batch, 1, 100'000},
      {"learner", "ippo, maddpg or masac", &learning.learner, 0, 1, {"ippo", "maddpg", "masac"}},
      {"critic", "none or own", &learning.critic, 0, 1, {"none", "own"}},
      {"hidden", "width of both hidden layers", &learning.hidden, 1, 4096},
      {"learning_rate", "of policy and critic", &learning.learning_rate, 0, 1},
      {"entropy_bonus", "weight of the policy's entropy", &learning.entropy_bonus, 0, 10},
      {"epochs", "passes over the samples of an update", &learning.epochs, 1, 1000},
      {"minibatches", "per pass", &learning.minibatches, 1, 1000},
  };
}

const std::vector<SearcherInfo>& all_searchers() {
  static const std::vector<SearcherInfo> infos = [] {
    std::vector<SearcherInfo> all = {
        {"agents", "a team of agents, each with a cluster of correlated parameters, on all layers together"},
        {"rl", "a single agent with one policy over all parameters, each layer by itself"}};
    all.insert(all.end(), classical_searchers().begin(), classical_searchers().end());
    all.push_back({"dcoc", "agents for machine, threads and tiles on a surrogate, with Confidence Sampling"});
    all.push_back({"chameleon", "one agent on a surrogate, with adaptive k-means sampling"});
    return all;
  }();
  return infos;
}

Result<std::vector<SettingValue>> settings_in_force(std::string_view name, const Settings& settings) {
  if (name == "agents") return values_in_force<AgentsOptions>(name, settings);
  if (name == "rl") return values_in_force<RlOptions>(name, settings);
  if (name == "dcoc") return values_in_force<DcocOptions>(name, settings);
  if (name == "chameleon") return values_in_force<ChameleonOptions>(name, settings);
  return classical_settings(name, settings);
}

Result<MadeSearcher> make_searcher(const SearchRequest& request, ThreadPool& threads) {
  std::vector<std::string> names;
  for (const SearcherInfo& info : all_searchers()) names.emplace_back(info.name);
  if (std::ranges::find(names, request.name) == names.end()) {
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
  if (request.name == "agents") return make_agents(request, threads);
  if (request.name == "rl") return make_rl(request, threads);
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  for (std::size_t problem = 0; problem < request.spaces.size(); ++problem) {
    if (request.name == "dcoc" || request.name == "chameleon") {
      TW_TRY(searchers.emplace_back(), make_surrogate_searcher(request, problem, threads));
      continue;
    }
    TW_TRY(searchers.emplace_back(), make_classical_searcher(request.name, *request.spaces[problem], request.samples,
                                                             seed_of(request.seed, problem), request.settings));
  }
  return MadeSearcher{each_alone(std::move(searchers)), nullptr};
}

}  // namespace tilewright
