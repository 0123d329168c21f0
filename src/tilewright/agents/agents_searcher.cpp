#include "tilewright/agents/agents_searcher.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr double kLeastRows = 200;         // of the best quantile: fewer tell nothing about thirty parameters
constexpr std::size_t kMostRows = 20'000;  // newest samples that drift is judged by

Result<ClusteringOptions> clustering_options(const AgentsOptions& options) {
  ClusteringOptions clustering;
  clustering.linkage = options.linkage;
  if (options.threshold > 0) clustering.threshold = options.threshold;
  if (options.agents > 0) clustering.agents = static_cast<std::size_t>(options.agents);
  if (clustering.threshold && clustering.agents) {
    return invalid("agents.threshold and agents.agents are both given, expected one of them");
  }
  return clustering;
}

Worded worded(AssignmentChoice& choice) {
  return {[&choice] { return text_of(choice); },
          [&choice](const std::string& text) -> Result<Done> {
            TW_TRY(choice, assignment_choice(text));
            return Done{};
          },
          {}};
}

}  // namespace

std::vector<Setting> settings_of(AgentsOptions& options) {
  std::vector<Setting> settings = {
      {"explore", "exploration: random, sobol, or a classical searcher", &options.explore},
      {"explore_samples", "of all problems together", &options.explore_samples, 0, 1e9},
      {"explore_share", "of the budget at most", &options.explore_share, 0, 1},
      {"assign", "clusters, single, per-parameter, by-role, random:K, or a file", worded(options.assign)},
      {"correlation", "pearson, spearman, distance or mutual-information", worded(options.correlation)},
      {"quantile", "best share of the samples that counts; 1 = all, weighted", &options.quantile, 1e-4, 1},
      {"linkage", "average, complete or ward", worded(options.linkage)},
      {"threshold", "distance at which the dendrogram is cut; 0 = by the number of agents", &options.threshold, 0, 1e6},
      {"agents", "how many; 0 = by the best silhouette", &options.agents, 0, 1000},
      {"known_after", "share of the samples after which the team hears what is known, the classic dataflows, say",
       &options.known_after, 0, 1},
      {"joint", "one team for all problems; off: one for each", &options.joint},
      {"drift", "samples per problem between two looks at the correlation; 0 = never", &options.drift, 0, 1e12},
      {"drift_limit", "adjusted Rand index below which the assignment is revised", &options.drift_limit, -1, 1},
  };
  for (Setting& setting : settings_of(options.team)) settings.push_back(std::move(setting));
  return settings;
}

std::string text_of(const AssignmentChoice& choice) {
  if (const auto* rule = std::get_if<AssignmentRule>(&choice)) return std::string(name(*rule));
  if (const auto* random = std::get_if<RandomAgents>(&choice)) return fmt::format("random:{}", random->count);
  if (const auto* file = std::get_if<AssignmentFile>(&choice)) return file->path;
  return std::get<AgentAssignment>(choice).origin;
}

Result<AssignmentChoice> assignment_choice(const std::string& text) {
  if (const auto rule = named<AssignmentRule>(text)) return AssignmentChoice{*rule};
  if (text.starts_with("random:")) {
    const auto count = parse_integer(text.substr(7));
    if (!count || *count < 1) {
      return invalid(fmt::format("assignment '{}': expected random:K with K from 1 to the number of parameters", text));
    }
    return AssignmentChoice{RandomAgents{static_cast<std::size_t>(*count)}};
  }
  std::error_code status;
  if (std::filesystem::is_regular_file(text, status)) return AssignmentChoice{AssignmentFile{text}};
  const std::vector<std::string> names = {"clusters", "single", "per-parameter", "by-role", "random:4"};
  return invalid(
      fmt::format("assignment '{}' is not known{} and is no file, expected clusters, single, per-parameter, by-role, "
                  "random:K or a file",
                  text, did_you_mean(text, names)));
}

Result<std::optional<AgentAssignment>> assignment_by(const AssignmentChoice& choice,
                                                     const std::vector<Parameter>& parameters, std::uint64_t seed) {
  using Made = std::optional<AgentAssignment>;
  const auto given = [&](const AgentAssignment& assignment, const std::string& where) -> Result<Made> {
    TW_TRY([[maybe_unused]] const Done names, check_names(assignment, parameters, where));
    return Made{fitted(assignment, parameters)};
  };
  if (const auto* rule = std::get_if<AssignmentRule>(&choice)) {
    if (*rule == AssignmentRule::Clusters) return Made{};
    if (*rule == AssignmentRule::Single) return Made{assign_single(parameters)};
    return Made{*rule == AssignmentRule::ByRole ? assign_by_role(parameters) : assign_per_parameter(parameters)};
  }
  if (const auto* random = std::get_if<RandomAgents>(&choice)) {
    if (random->count > parameters.size()) {
      return invalid(
          fmt::format("assignment '{}': expected random:K with K from 1 to {}", text_of(choice), parameters.size()));
    }
    return Made{assign_randomly(parameters, random->count, seed)};
  }
  if (const auto* file = std::get_if<AssignmentFile>(&choice)) {
    TW_TRY(const std::string content, read_file(file->path));
    TW_TRY(const AgentAssignment assignment, assignment_from_yaml(content, file->path));
    return given(assignment, file->path);
  }
  return given(std::get<AgentAssignment>(choice), "the assignment");
}

Result<std::unique_ptr<AgentsSearcher>> AgentsSearcher::make(std::vector<const DesignSpace*> spaces,
                                                             const AgentsOptions& options, std::int64_t samples,
                                                             std::uint64_t seed, ThreadPool& threads,
                                                             const SavedTeam* from) {
  std::unique_ptr<AgentsSearcher> searcher(new AgentsSearcher(std::move(spaces), options, seed, threads));
  const std::size_t problems = searcher->spaces_.size();
  searcher->explored_.assign(problems, 0);
  searcher->told_.assign(problems, 0);
  searcher->knows_known_.assign(problems, false);
  searcher->known_at_ = static_cast<std::int64_t>(options.known_after * static_cast<double>(samples));
  searcher->correlation_ = {.dependence = options.correlation, .quantile = options.quantile};
  TW_TRY(searcher->clustering_, clustering_options(options));
  TW_TRY(const auto named, assignment_by(options.assign, all_parameters(searcher->spaces_), seed));
  if (named) {
    searcher->clusters_ = false;
    searcher->story_.assignment = *named;
  }
  if (from != nullptr) {
    const std::vector<Parameter> parameters = all_parameters(searcher->spaces_);
    if (!parameters.empty()) {
      TW_TRY([[maybe_unused]] const Done names, check_names(from->assignment, parameters, "the trained team"));
    }
    searcher->from_ = *from;
    searcher->clusters_ = false;
    searcher->story_.assignment = from->assignment;
  } else {
    const auto share = static_cast<std::int64_t>(options.explore_share * static_cast<double>(samples));
    searcher->explore_each_ = std::min(share, options.explore_samples / static_cast<std::int64_t>(problems));
    if (searcher->clusters_) searcher->explore_each_ = std::max<std::int64_t>(searcher->explore_each_, 1);
  }
  const ExplorationOptions exploration{options.explore, std::max<std::int64_t>(1, searcher->explore_each_), seed};
  TW_TRY(searcher->explorer_, make_explorer(searcher->spaces_, exploration));
  // Options of the learner are checked now, not after the exploration.
  TW_TRY(const auto probe, TeamSearcher::make(searcher->spaces_, assign_single(all_parameters(searcher->spaces_)),
                                              options.team, seed, threads, from));
  searcher->next_look_ = options.drift;
  return searcher;
}

bool AgentsSearcher::is_exploring() const {
  return team_ == nullptr && std::ranges::any_of(explored_, [&](std::int64_t n) { return n < explore_each_; });
}

void AgentsSearcher::ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) {
  if (is_exploring()) {
    std::vector<std::int64_t> left(room.begin(), room.end());
    for (std::size_t problem = 0; problem < left.size(); ++problem) {
      left[problem] = std::min(left[problem], explore_each_ - explored_[problem]);
    }
    explorer_->ask(left, proposals);
    if (!proposals.empty()) return;
  }
  if (team_ == nullptr) begin_team();
  team_->ask(room, proposals);
}

void AgentsSearcher::tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    ++told_[proposals[i].problem];
    if (team_ == nullptr || options_.drift > 0) {
      data_.samples.push_back({proposals[i].problem, proposals[i].point, verdicts[i]});
    }
  }
  if (team_ == nullptr) {
    for (const Proposal& proposal : proposals) ++explored_[proposal.problem];
    story_.explored += static_cast<std::int64_t>(proposals.size());
    return explorer_->tell(proposals, verdicts);
  }
  team_->tell(proposals, verdicts);
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) tell_known(problem);
  if (options_.drift > 0 && *std::ranges::min_element(told_) >= next_look_) look_for_drift();
}

void AgentsSearcher::notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    known_.samples.push_back({proposals[i].problem, proposals[i].point, verdicts[i]});
  }
}

void AgentsSearcher::cluster_parameters() {
  CorrelationOptions correlation = correlation_;
  const double rows = std::max<double>(1, static_cast<double>(data_.samples.size()));
  correlation.quantile = std::min(1.0, std::max(correlation.quantile, kLeastRows / rows));
  story_.clustered = cluster_agents(to_table(data_, spaces_), correlation, clustering_);
  story_.assignment = story_.clustered->assignment;
}

void AgentsSearcher::begin_team() {
  if (clusters_) cluster_parameters();
  auto team = TeamSearcher::make(spaces_, story_.assignment, options_.team,
                                 seed_ + static_cast<std::uint64_t>(story_.revisions), threads_, from_ ? &*from_ : nullptr);
  TW_ASSERT(team);
  team_ = std::move(team).value();
  for (const ExplorationData::Sample& sample : data_.samples) team_->notice(sample.problem, sample.point, sample.verdict);
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    knows_known_[problem] = false;
    tell_known(problem);
  }
  if (options_.drift == 0) data_.samples.clear();
}

// A known point that is good but no neighbour of the best would draw the team's first moves to itself, and its policies with
// them. Late enough, it counts only where the team has found nothing better.
void AgentsSearcher::tell_known(std::size_t problem) {
  if (knows_known_[problem] || told_[problem] < known_at_) return;
  knows_known_[problem] = true;
  for (const ExplorationData::Sample& sample : known_.samples) {
    if (sample.problem == problem) team_->notice(problem, sample.point, sample.verdict);
  }
}

void AgentsSearcher::look_for_drift() {
  next_look_ += options_.drift;
  if (!clusters_) return;
  ExplorationData all = std::move(data_);
  data_ = {};
  const std::size_t first = all.samples.size() - std::min(all.samples.size(), kMostRows);
  data_.samples.assign(all.samples.begin() + static_cast<std::ptrdiff_t>(first), all.samples.end());
  const AgentsStory old = story_;
  cluster_parameters();
  data_ = std::move(all);
  if (adjusted_rand_index(old.clustered->clusters, story_.clustered->clusters) >= options_.drift_limit) {
    story_ = old;
    return;
  }
  ++story_.revisions;
  clusters_ = false;  // begin_team must not cluster again
  begin_team();
  clusters_ = true;
}

std::shared_ptr<const AgentsStory> agents_story(const Searcher& searcher) {
  return std::dynamic_pointer_cast<const AgentsStory>(searcher.story());
}

std::shared_ptr<const Story> AgentsSearcher::story() const {
  auto story = std::make_shared<AgentsStory>(story_);
  if (team_ != nullptr) story->team = team_->saved();
  return story;
}

}  // namespace tilewright
