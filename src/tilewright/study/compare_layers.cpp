#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/compare_result.hpp"

namespace tilewright {
namespace {

std::string design_text(const DesignSpace& space, PointView point) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < point.size(); ++i) {
    parts.push_back(fmt::format("{}={}", space.parameters()[i].name, space.value_name(i, point[i])));
  }
  return join(parts, " ");
}

}  // namespace

std::string objective_text(const Objective& objective) {
  std::string text = name_of(objective);
  const auto add = [&](std::string_view name, const std::optional<double>& limit) {
    if (limit) text += fmt::format(" {}<={}", name, *limit);
  };
  add("latency", objective.limits.latency);
  add("energy", objective.limits.energy);
  add("area", objective.limits.area);
  add("power", objective.limits.power);
  return text;
}

std::vector<ComparedLayer> compared_layers(const ComparePlan& plan, const CompareRuns& runs,
                                           const std::vector<KnownBest>& earlier, const std::string& objective) {
  const bool has_targets = !runs.targets.empty() && std::ranges::all_of(runs.targets, &TargetRun::done);
  std::vector<ComparedLayer> layers;
  for (std::size_t p = 0; p < plan.job.problems.size(); ++p) {
    const MappingProblem& problem = plan.job.problems[p];
    const DesignSpace& space = *problem.space;
    ComparedLayer& layer = layers.emplace_back();
    layer.name = problem.name;
    layer.count = problem.count;
    layer.parameters = space.parameters().size();
    layer.log10_size = space.log10_size();
    KnownBest entry{fmt::format("{:016x}", space.problem_key()), objective, problem.name, 0, "", 0, 0, 0, ""};
    if (const KnownBest* known = find_best(earlier, entry.problem, objective)) {
      layer.best = *known;
      layer.best_is_earlier = true;
    }
    const auto consider = [&](const Ledger& ledger, const std::string& label, std::uint64_t seed, std::int64_t budget) {
      if (!ledger.best || (layer.best && layer.best->value <= ledger.best->score[0])) return;
      entry.value = ledger.best->score[0];
      entry.searcher = label;
      entry.seed = seed;
      entry.budget = budget;
      entry.sample = ledger.improvements.back().sample;
      entry.design = design_text(space, ledger.best->point);
      layer.best = entry;
      layer.best_is_earlier = false;
    };
    // Runs that were stopped have found what they have found.
    for (const CompareRun& run : runs.runs) {
      if (run.layers.empty()) continue;
      consider(run.layers[p], plan.contenders[run.contender].label, plan.seed(run.seed), plan.budgets[run.budget]);
    }
    if (runs.targets.empty()) continue;
    const Ledger& target = runs.targets[p].ledger;
    consider(target, fmt::format("target {}", plan.target->searcher), plan.first_seed, plan.target->samples);
    if (has_targets && target.best) layer.target = target.best->score[0];
  }
  return layers;
}

}  // namespace tilewright
