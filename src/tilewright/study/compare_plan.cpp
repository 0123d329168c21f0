#include "tilewright/study/compare_plan.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 4> kOnlyWhenAsked = {"exhaustive", "autotvm", "chameleon", "dcoc"};

constexpr std::string_view kTeamName = "agents+team";

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) parts.emplace_back(trim(part));
  return parts;
}

Result<std::vector<Contender>> read_searches(const CompareArguments& arguments, const Settings& settings) {
  std::vector<std::string> known = {std::string(kTeamName)};
  std::vector<std::string> names;
  for (const SearcherInfo& info : all_searchers()) {
    known.emplace_back(info.name);
    // Only small spaces can be searched exhaustively, and those with a surrogate are made for hundreds of samples: for those
    // who ask.
    const bool asked_for = std::ranges::find(kOnlyWhenAsked, info.name) != kOnlyWhenAsked.end();
    if (arguments.searches.empty() && !asked_for) names.emplace_back(info.name);
  }
  if (!arguments.searches.empty()) names = words(arguments.searches);
  const bool has_team = std::ranges::find(names, kTeamName) != names.end();
  if (!arguments.from.empty() && !has_team) names.insert(names.begin(), std::string(kTeamName));
  std::vector<Contender> contenders;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      return Error{ErrorCode::NotFound, fmt::format("--searches: searcher '{}' is not known{}, expected some of {}",
                                                    printable(name), did_you_mean(name, known), join(known, ", "))};
    }
    if (std::ranges::find(contenders, name, &Contender::label) != contenders.end()) {
      return invalid(fmt::format("--searches has {} twice, expected every searcher once", name));
    }
    if (name == kTeamName && arguments.from.empty()) {
      return invalid(fmt::format("--searches has {}, which needs the folder of a trained team: --from DIR", kTeamName));
    }
    Contender contender{name, name, settings};
    if (name == kTeamName) {
      contender.searcher = "agents";
      contender.has_team = true;
    }
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

Result<std::vector<Contender>> read_ablation(const CompareArguments& arguments, const Settings& settings) {
  const std::string& name = arguments.ablate;
  if (!arguments.searches.empty()) return invalid("--searches and --ablate are both given, expected one of them");
  if (!arguments.from.empty()) return invalid("--from and --ablate are both given, expected one of them");
  Contender random = variant("random, as many", settings, "assign", "single");
  random.source = AssignmentSource::RandomAsMany;
  if (name == "assignment") {
    auto contenders = variants(settings, "assign", {"clusters", "single", "per-parameter", "by-role"});
    contenders.push_back(std::move(random));
    return contenders;
  }
  if (name == "learner") {
    auto contenders = variants(settings, "learner", {"ippo", "mappo", "maddpg", "masac"});
    contenders.push_back(variant("off", settings, "learn", "false"));
    return contenders;
  }
  if (name == "critic") {
    auto contenders = variants(settings, "critic", {"own", "none", "central"});
    for (Contender& contender : contenders) contender.settings.insert_or_assign("agents.learner", "ippo");
    return contenders;
  }
  if (name == "explore") return variants(settings, "explore", {"random", "sobol", "genetic"});
  if (name == "transfer") {
    if (arguments.transfer_from.empty()) {
      return invalid("--ablate transfer needs the network whose agents are taken over: --transfer-from NETWORK");
    }
    std::vector<Contender> contenders = {variant("own clusters", settings, "assign", "clusters")};
    Contender other = variant(fmt::format("of {}", arguments.transfer_from), settings, "assign", "single");
    other.source = AssignmentSource::OtherNetwork;
    contenders.push_back(std::move(other));
    contenders.push_back(std::move(random));
    return contenders;
  }
  const std::vector<std::string> names = {"assignment", "learner", "critic", "explore", "transfer"};
  return invalid(fmt::format("--ablate is '{}', which is not known{}, expected one of {}", printable(name),
                             did_you_mean(name, names), join(names, ", ")));
}

Result<std::vector<std::int64_t>> read_budgets(const CompareArguments& arguments) {
  std::vector<std::int64_t> budgets;
  if (!arguments.budgets.empty()) {
    for (const std::string& word : words(arguments.budgets)) {
      const auto budget = parse_integer(word);
      if (!budget || *budget < 1 || *budget > kMostSamples) {
        return invalid(fmt::format("--budgets has '{}', expected numbers of samples like 500,2000, at most {}",
                                   printable(word), kMostSamples));
      }
      budgets.push_back(*budget);
    }
    std::ranges::sort(budgets);
    budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  }
  if (arguments.samples) {
    if (*arguments.samples < 1 || *arguments.samples > kMostSamples) {
      return invalid(fmt::format("--samples is {}, expected 1 to {}", *arguments.samples, kMostSamples));
    }
    if (!budgets.empty() && budgets.back() > *arguments.samples) {
      return invalid(
          fmt::format("--budgets has {}, expected at most the {} of --samples", budgets.back(), *arguments.samples));
    }
    if (budgets.empty() || budgets.back() < *arguments.samples) budgets.push_back(*arguments.samples);
  }
  if (budgets.empty()) budgets = {2'000};
  return budgets;
}

Result<CompareTarget> read_target(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto samples = colon == std::string::npos ? std::nullopt : parse_integer(std::string_view(text).substr(colon + 1));
  if (!samples || *samples < 1 || *samples > kMostSamples) {
    return invalid(fmt::format("--targets is '{}', expected SEARCHER:SAMPLES like random:100000, at most {} samples",
                               printable(text), kMostSamples));
  }
  return CompareTarget{text.substr(0, colon), *samples};
}

// Runs agents up to the moment they are made of clusters.
Result<AgentAssignment> clusters_of(const MappingJob& job, const Settings& settings, std::int64_t budget, std::uint64_t seed,
                                    ThreadPool& threads) {
  SearchRequest request{"agents", job.spaces(), budget, seed, settings};
  request.settings.insert_or_assign("agents.assign", "clusters");
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_searcher(request, threads));
  if (!agents_story(*searcher)) return invalid("agents.joint is off, so there is no one assignment, expected it on");
  SearchLoop loop(job.spaces(), job.objective, budget, threads);
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
Result<Done> check_contenders(const ComparePlan& plan) {
  ThreadPool threads(1);
  for (const Contender& contender : plan.contenders) {
    SearchRequest request{contender.searcher, plan.job.spaces(), plan.budgets.front(), plan.first_seed, contender.settings};
    if (contender.has_team) request.from = &*plan.team;
    TW_TRY(const std::unique_ptr<Searcher> made, make_searcher(request, threads));
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

Result<ComparePlan> plan_comparison(const CompareArguments& arguments) {
  ComparePlan plan;
  Settings settings;
  for (const std::string& text : arguments.set) {
    TW_TRY(const Done added, add_setting(settings, text));
  }
  if (arguments.ablate.empty()) {
    if (!arguments.transfer_from.empty()) return invalid("--transfer-from is for --ablate transfer, which is not given");
    TW_TRY(plan.contenders, read_searches(arguments, settings));
  } else {
    TW_TRY(plan.contenders, read_ablation(arguments, settings));
  }
  TW_TRY(plan.budgets, read_budgets(arguments));
  if (arguments.seeds < 1 || arguments.seeds > 10'000) {
    return invalid(fmt::format("--seeds is {}, expected 1 to 10000", arguments.seeds));
  }
  plan.seeds = arguments.seeds;
  plan.first_seed = arguments.seed;
  if (!arguments.targets.empty()) {
    TW_TRY(plan.target, read_target(arguments.targets));
  }
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  TW_TRY(plan.job, read_mapping_job(arguments.mapping, threads));
  if (!arguments.from.empty()) {
    TW_TRY(plan.team, read_team(team_folder(arguments.from)));
  }
  if (!arguments.transfer_from.empty()) {
    MappingArguments other = arguments.mapping;
    other.network = arguments.transfer_from;
    other.layer.clear();
    if (!lower(other.network).ends_with(".onnx")) other.dims.clear();  // they are of the network that is compared on
    TW_TRY(plan.elsewhere, read_mapping_job(other, threads));
  }
  TW_TRY(const Done checked, check_contenders(plan));
  return plan;
}

Result<std::unique_ptr<Searcher>> make_contender(const ComparePlan& plan, const Contender& contender, std::int64_t budget,
                                                 std::uint64_t seed, ThreadPool& threads) {
  SearchRequest request{contender.searcher, plan.job.spaces(), budget, seed, contender.settings};
  if (contender.has_team) request.from = &*plan.team;
  if (contender.source == AssignmentSource::RandomAsMany) {
    TW_TRY(const AgentAssignment clusters, clusters_of(plan.job, contender.settings, budget, seed, threads));
    request.settings.insert_or_assign("agents.assign", fmt::format("random:{}", clusters.agents.size()));
  } else if (contender.source == AssignmentSource::OtherNetwork) {
    TW_TRY(const AgentAssignment clusters, clusters_of(*plan.elsewhere, contender.settings, budget, seed, threads));
    request.assignment = &clusters;
    return make_searcher(request, threads);
  }
  return make_searcher(request, threads);
}

}  // namespace tilewright
