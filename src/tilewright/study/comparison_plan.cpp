#include "tilewright/study/comparison_plan.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/study/input_facts.hpp"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 4> kOnlyWhenAsked = {"exhaustive", "autotvm", "chameleon", "dcoc"};

constexpr std::string_view kTeamName = "agents+team";

// All but those for who asks, and those that cannot work on the spaces.
std::vector<std::string> default_searches(ComparisonPlan& plan) {
  ThreadPool threads(1);
  std::vector<std::string> names;
  for (const SearcherInfo& info : all_searchers()) {
    // Only small spaces can be searched exhaustively, and those with a surrogate are made for hundreds of samples.
    if (std::ranges::find(kOnlyWhenAsked, info.name) != kOnlyWhenAsked.end()) continue;
    const SearchRequest request{
        .name = std::string(info.name), .spaces = plan.job.spaces(), .samples = plan.budgets.front(), .settings = {}};
    const Result<std::unique_ptr<Searcher>> made = make_searcher(request, threads);
    if (made) {
      names.emplace_back(info.name);
    } else {
      plan.unsuited.push_back(fmt::format("{} is left out: {}.", info.name, made.error().message));
    }
  }
  return names;
}

// Names of ours, and of the caller's. An Error when one means two.
Result<std::vector<std::string>> known_searches(const std::vector<OwnSearcher>& own) {
  std::vector<std::string> known = {std::string(kTeamName)};
  for (const SearcherInfo& info : all_searchers()) known.emplace_back(info.name);
  for (const OwnSearcher& searcher : own) {
    if (std::ranges::find(known, searcher.name) != known.end()) {
      return invalid(
          fmt::format("there is a searcher '{}' already, expected another name for yours", printable(searcher.name)));
    }
    known.push_back(searcher.name);
  }
  return known;
}

Result<std::vector<Contender>> read_searches(const ComparisonOptions& options, const Settings& settings,
                                             const std::vector<OwnSearcher>& own, ComparisonPlan& plan) {
  TW_TRY(const std::vector<std::string> known, known_searches(own));
  std::vector<std::string> names = options.searches.empty() ? default_searches(plan) : options.searches;
  const bool has_team = std::ranges::find(names, kTeamName) != names.end();
  if (!options.from.empty() && !has_team) names.insert(names.begin(), std::string(kTeamName));
  std::vector<Contender> contenders;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      return Error{ErrorCode::NotFound, fmt::format("--searches: searcher '{}' is not known{}, expected some of {}",
                                                    printable(name), did_you_mean(name, known), join(known, ", "))};
    }
    if (std::ranges::find(contenders, name, &Contender::label) != contenders.end()) {
      return invalid(fmt::format("--searches has {} twice, expected every searcher once", name));
    }
    if (name == kTeamName && options.from.empty()) {
      return invalid(fmt::format("--searches has {}, which needs the folder of a trained team: --from DIR", kTeamName));
    }
    Contender contender{name, name, settings};
    if (name == kTeamName) {
      contender.searcher = "agents";
      contender.has_team = true;
    }
    if (const auto mine = std::ranges::find(own, name, &OwnSearcher::name); mine != own.end()) contender.make = mine->make;
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

Contender variant(std::string label, const Settings& settings, std::string_view setting, std::string_view value) {
  Contender contender{std::move(label), "agents", settings};
  contender.settings.insert_or_assign(fmt::format("agents.{}", setting), std::string(value));
  return contender;
}

std::vector<Contender> variants(const Settings& settings, std::string_view setting, const std::vector<std::string>& values) {
  std::vector<Contender> contenders;
  for (const std::string& value : values) contenders.push_back(variant(value, settings, setting, value));
  return contenders;
}

Result<std::vector<Contender>> read_ablation(const ComparisonOptions& options, const Settings& settings) {
  if (!options.searches.empty()) return invalid("--searches and --ablate are both given, expected one of them");
  if (!options.from.empty()) return invalid("--from and --ablate are both given, expected one of them");
  Contender random = variant("random, as many", settings, "assign", "single");
  random.source = AssignmentSource::RandomAsMany;
  if (*options.ablate == Ablation::Assignment) {
    auto contenders = variants(settings, "assign", {"clusters", "single", "per-parameter", "by-role"});
    contenders.push_back(std::move(random));
    return contenders;
  }
  if (*options.ablate == Ablation::Learner) {
    auto contenders = variants(settings, "learner", {"ippo", "mappo", "maddpg", "masac"});
    contenders.push_back(variant("off", settings, "learn", "false"));
    return contenders;
  }
  if (*options.ablate == Ablation::Critic) {
    auto contenders = variants(settings, "critic", {"own", "none", "central"});
    for (Contender& contender : contenders) contender.settings.insert_or_assign("agents.learner", "ippo");
    return contenders;
  }
  if (*options.ablate == Ablation::Explore) return variants(settings, "explore", {"random", "sobol", "genetic"});
  if (options.transfer_from.empty()) {
    return invalid("--ablate transfer needs the network whose agents are taken over: --transfer-from NETWORK");
  }
  std::vector<Contender> contenders = {variant("own clusters", settings, "assign", "clusters")};
  Contender other = variant(fmt::format("of {}", options.transfer_from), settings, "assign", "single");
  other.source = AssignmentSource::OtherNetwork;
  contenders.push_back(std::move(other));
  contenders.push_back(std::move(random));
  return contenders;
}

Result<std::vector<std::int64_t>> read_budgets(const ComparisonOptions& options) {
  std::vector<std::int64_t> budgets = options.budgets;
  std::ranges::sort(budgets);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  if (options.samples) {
    if (*options.samples < 1 || *options.samples > kMostSamples) {
      return invalid(fmt::format("--samples is {}, expected 1 to {}", *options.samples, kMostSamples));
    }
    if (!budgets.empty() && budgets.back() > *options.samples) {
      return invalid(
          fmt::format("--budgets has {}, expected at most the {} of --samples", budgets.back(), *options.samples));
    }
    if (budgets.empty() || budgets.back() < *options.samples) budgets.push_back(*options.samples);
  }
  if (budgets.empty()) budgets = {2'000};
  return budgets;
}

// Runs agents up to the moment they are made of clusters.
Result<AgentAssignment> clusters_of(const DesignJob& job, const Settings& settings, std::int64_t budget, std::uint64_t seed,
                                    ThreadPool& threads) {
  SearchRequest request{"agents", job.spaces(), budget, seed, settings};
  request.settings.insert_or_assign("agents.assign", "clusters");
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_searcher(request, threads));
  if (!agents_story(*searcher)) return invalid("agents.joint is off, so there is no one assignment, expected it on");
  SearchLoop loop(job.spaces(), job.options.objective, budget, threads);
  while (agents_story(*searcher)->assignment.agents.empty() && loop.round(*searcher)) continue;
  // A budget that ends with the exploration leaves no agents.
  const auto story = agents_story(*searcher);
  return story->assignment.agents.empty() ? assign_single(all_parameters(job.spaces())) : story->assignment;
}

// The folder itself, or the one that a run of map has made in its directory.
std::filesystem::path team_folder(const std::filesystem::path& given) {
  std::error_code ignored;
  return std::filesystem::exists(given / "team" / "team.json", ignored) ? given / "team" : given;
}

// Makes every searcher once and drops it: what is wrong shows now, not in the last hour.
Result<Done> check_contenders(const ComparisonPlan& plan) {
  ThreadPool threads(1);
  for (const Contender& contender : plan.contenders) {
    SearchRequest request{contender.searcher, plan.job.spaces(), plan.budgets.front(), plan.first_seed, contender.settings};
    if (contender.has_team) request.from = &*plan.team;
    TW_TRY(const std::unique_ptr<Searcher> made,
           contender.make ? contender.make(request, threads) : make_searcher(request, threads));
    if (contender.source != AssignmentSource::AsSet && !agents_story(*made)) {
      return invalid("agents.joint is off, so there is no one assignment to compare, expected it on");
    }
  }
  if (plan.target) {
    const SearchRequest request{plan.target->searcher, plan.job.spaces(), plan.target->samples, plan.first_seed,
                                plan.contenders.front().settings};
    TW_TRY(const std::unique_ptr<Searcher> made, make_searcher(request, threads));
  }
  return Done{};
}

}  // namespace

Result<ComparisonPlan> plan_comparison(const DesignJob& job, const ComparisonOptions& options, ThreadPool& threads,
                                       const std::vector<OwnSearcher>& own) {
  ComparisonPlan plan{.job = job};
  Settings settings;
  for (const std::string& text : options.settings) {
    TW_TRY(const Done added, add_setting(settings, text));
  }
  TW_TRY(plan.budgets, read_budgets(options));
  if (!options.ablate) {
    if (!options.transfer_from.empty()) return invalid("--transfer-from is for --ablate transfer, which is not given");
    TW_TRY(plan.contenders, read_searches(options, settings, own, plan));
  } else {
    TW_TRY(plan.contenders, read_ablation(options, settings));
  }
  if (options.seeds < 1 || options.seeds > 10'000) {
    return invalid(fmt::format("--seeds is {}, expected 1 to 10000", options.seeds));
  }
  plan.seeds = options.seeds;
  plan.first_seed = options.seed;
  plan.target = options.target;
  if (!options.from.empty()) {
    TW_TRY(plan.team, read_team(team_folder(options.from)));
    plan.team_facts = input_facts({options.from}).value(options.from, "");
  }
  if (!options.transfer_from.empty()) {
    MappingInputs other = job.inputs;
    other.network = options.transfer_from;
    if (!lower(other.network).ends_with(".onnx")) other.dims.clear();  // they are of the network that is compared on
    MappingOptions all = job.options;
    all.layer.clear();
    TW_TRY(plan.elsewhere, read_any_job(other, all, threads));
  }
  TW_TRY(const Done checked, check_contenders(plan));
  return plan;
}

Result<std::unique_ptr<Searcher>> make_contender(const ComparisonPlan& plan, const Contender& contender, std::int64_t budget,
                                                 std::uint64_t seed, ThreadPool& threads) {
  SearchRequest request{contender.searcher, plan.job.spaces(), budget, seed, contender.settings};
  if (contender.make) return contender.make(request, threads);
  if (contender.has_team) request.from = &*plan.team;
  if (contender.source == AssignmentSource::RandomAsMany) {
    TW_TRY(const AgentAssignment clusters, clusters_of(plan.job, contender.settings, budget, seed, threads));
    request.settings.insert_or_assign("agents.assign", fmt::format("random:{}", clusters.agents.size()));
  } else if (contender.source == AssignmentSource::OtherNetwork) {
    TW_TRY(const AgentAssignment clusters, clusters_of(common(*plan.elsewhere), contender.settings, budget, seed, threads));
    request.assignment = &clusters;
    return make_searcher(request, threads);
  }
  return make_searcher(request, threads);
}

}  // namespace tilewright
