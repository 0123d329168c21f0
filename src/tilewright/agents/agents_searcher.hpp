// Mapping by many agents (arXiv 2507.16249), from the first sample to the last: explore, correlate, cluster, learn.
//
//   1. exploration   samples of every problem, charged like all others
//   2. correlation   of the parameters, where it matters for the objective
//   3. clustering    parameters that depend on each other go to the same agent
//   4. learning      one team on all problems together (team_searcher.hpp)
//   5. drift         on request, 2 and 3 again on what has been seen since; a new assignment makes a new team, which keeps
//   the
//                    best points
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/agents/clustering.hpp"
#include "tilewright/agents/correlation.hpp"
#include "tilewright/agents/exploration.hpp"
#include "tilewright/agents/team_searcher.hpp"

namespace tilewright {

// How parameters come to agents: by a rule, at random, or as somebody says.
enum class AssignmentRule : std::uint8_t { Clusters, Single, PerParameter, ByRole };
template <>
struct Names<AssignmentRule> {
  static constexpr std::string_view kWhat = "assignment";
  static constexpr NameTable<AssignmentRule, 4> kTable = {{{AssignmentRule::Clusters, "clusters"},
                                                           {AssignmentRule::Single, "single"},
                                                           {AssignmentRule::PerParameter, "per-parameter"},
                                                           {AssignmentRule::ByRole, "by-role"}}};
};
struct RandomAgents {
  std::size_t count = 1;
};
struct AssignmentFile {
  std::string path;
};
using AssignmentChoice = std::variant<AssignmentRule, RandomAgents, AssignmentFile, AgentAssignment>;
// "clusters", "single", "per-parameter", "by-role", "random:K", or a file. One that is in memory is called by its origin,
// and has no way back.
std::string text_of(const AssignmentChoice& choice);
Result<AssignmentChoice> assignment_choice(const std::string& text);
// The assignment of these parameters; nothing where it is left to clusters.
Result<std::optional<AgentAssignment>> assignment_by(const AssignmentChoice& choice,
                                                     const std::vector<Parameter>& parameters, std::uint64_t seed);

struct AgentsOptions {
  std::string explore = "random";         // random, sobol, or a classical searcher: a name, as their list is open
  std::int64_t explore_samples = 20'000;  // of all problems together, as in the paper
  double explore_share = 0.0625;          // of the budget at most
  AssignmentChoice assign = AssignmentRule::Clusters;
  Dependence correlation = Dependence::Pearson;
  double quantile = 0.1;  // best share of the samples that counts; 1 = all, weighted
  Linkage linkage = Linkage::Average;
  double threshold = 0;      // distance at which the dendrogram is cut; 0 = by the number of agents
  std::int64_t agents = 0;   // how many; 0 = by the best silhouette
  double known_after = 0.3;  // share of a problem's budget after which the team hears what is known
  bool joint = true;         // one team for all problems; off: one for each
  std::int64_t drift = 0;    // samples per problem between two looks at the correlation; 0 = never
  double drift_limit = 0.5;  // adjusted Rand index below which the assignment is revised
  TeamOptions team;
};
std::vector<Setting> settings_of(AgentsOptions& options);

// What is known about the agents of a run.
struct AgentsStory final : Story {
  std::optional<ClusteredAgents> clustered;  // when the assignment came from clusters
  AgentAssignment assignment;
  std::int64_t explored = 0;  // samples, of all problems
  std::int64_t revisions = 0;
  std::optional<SavedTeam> team;  // as far as it has learned; nothing before there is one
};

// The story of a searcher that is one team for all problems; null for any other.
std::shared_ptr<const AgentsStory> agents_story(const Searcher& searcher);

class AgentsSearcher final : public Searcher {
 public:
  // `samples` is the budget per problem. An Error when an option is wrong.
  static Result<std::unique_ptr<AgentsSearcher>> make(std::vector<const DesignSpace*> spaces, const AgentsOptions& options,
                                                      std::int64_t samples, std::uint64_t seed, ThreadPool& threads,
                                                      const SavedTeam* from = nullptr);

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override;
  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;
  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;

  std::shared_ptr<const Story> story() const override;  // an AgentsStory

 private:
  AgentsSearcher(std::vector<const DesignSpace*> spaces, AgentsOptions options, std::uint64_t seed, ThreadPool& threads)
      : spaces_(std::move(spaces)), options_(std::move(options)), seed_(seed), threads_(threads) {}

  bool is_exploring() const;
  void cluster_parameters();
  void begin_team();
  void tell_known(std::size_t problem);
  void look_for_drift();

  std::vector<const DesignSpace*> spaces_;
  AgentsOptions options_;
  std::uint64_t seed_;
  ThreadPool& threads_;
  CorrelationOptions correlation_;
  ClusteringOptions clustering_;
  bool clusters_ = true;  // whether the assignment comes from them
  std::int64_t explore_each_ = 0;
  std::int64_t known_at_ = 0;  // samples of a problem after which the team hears what is known of it
  std::vector<std::int64_t> explored_, told_;
  std::unique_ptr<Searcher> explorer_;
  ExplorationData data_;
  ExplorationData known_;          // before the first ask: for the team, not for what correlates
  std::vector<bool> knows_known_;  // the team, by problem
  std::optional<SavedTeam> from_;
  AgentsStory story_;
  std::unique_ptr<TeamSearcher> team_;
  std::int64_t next_look_ = 0;
};

}  // namespace tilewright
