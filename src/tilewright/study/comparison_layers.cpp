#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/comparison.hpp"

namespace tilewright {
namespace {

constexpr double kFewDistinct = 0.5;  // share of different points below which a searcher mostly repeats itself
constexpr std::int64_t kFewSeeds = 5;

std::string design_text(const DesignSpace& space, PointView point) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < point.size(); ++i) {
    parts.push_back(fmt::format("{}={}", space.parameters()[i].name, space.value_name(i, point[i])));
  }
  return join(parts, " ");
}

}  // namespace

std::string title_of(const ComparisonStudy& result) {
  return fmt::format("{} on {}, {}", result.network, result.hardware, result.objective);
}

double shown_value(const ComparisonStudy& result, double value) { return result.inverted ? 1 / value : value; }

std::vector<std::string> remarks_of(const ComparisonStudy& result) {
  std::vector<std::string> remarks;
  if (result.partial) {
    remarks.emplace_back(
        "The comparison was stopped: this is what had been finished by then, with fewer seeds than asked for.");
  }
  remarks.insert(remarks.end(), result.unsuited.begin(), result.unsuited.end());
  for (const ComparedContender& contender : result.contenders) {
    if (!contender.audit) continue;
    const AuditSummary& audit = *contender.audit;
    if (!audit.never_moved.empty()) {
      remarks.push_back(fmt::format("{} never moves {}: it searches a part of the space only.", contender.label,
                                    join(audit.never_moved, ", ")));
    }
    if (audit.distinct < kFewDistinct * audit.proposals) {
      remarks.push_back(fmt::format("{} mostly repeats itself: {:.0f} distinct points among the first {:.0f}.",
                                    contender.label, audit.distinct, audit.proposals));
    }
  }
  for (const ComparedContender& contender : result.contenders) {
    if (contender.standings.empty() || contender.standings.back().factors.empty()) continue;
    if (!std::isfinite(contender.standings.back().factor.value)) {
      remarks.push_back(fmt::format("{} finds no valid mapping of some layer with the median seed.", contender.label));
    }
  }
  const auto missing = std::ranges::count_if(result.layers, [](const ComparedLayer& layer) { return !layer.best; });
  if (missing > 0) {
    remarks.push_back(
        fmt::format("Of {} layers, {} have no known valid mapping and are left out.", result.layers.size(), missing));
  }
  if (result.seeds < kFewSeeds) {
    remarks.push_back(fmt::format("Intervals of {} {} say little: 5 or more are needed.", result.seeds,
                                  result.seeds == 1 ? "seed" : "seeds"));
  }
  return remarks;
}

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

std::vector<ComparedLayer> compared_layers(const ComparisonPlan& plan, const ComparisonRuns& runs,
                                           const std::string& objective) {
  const bool has_targets = !runs.targets.empty() && std::ranges::all_of(runs.targets, &TargetRun::done);
  std::vector<ComparedLayer> layers;
  const std::vector<const DesignProblem*> problems = plan.job.design_problems();
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const DesignProblem& problem = *problems[p];
    const DesignSpace& space = *problem.space;
    ComparedLayer& layer = layers.emplace_back();
    layer.name = problem.name;
    layer.count = problem.count;
    layer.parameters = space.parameters().size();
    layer.log10_size = space.log10_size();
    KnownBest entry{fmt::format("{:016x}", space.problem_key()), objective, problem.name, 0, "", 0, 0, 0, ""};
    const KnownBest* known = find_best(plan.earlier, entry.problem, objective);
    bool known_is_ours = false;  // found by a run of this very comparison, before it was stopped or asked for again
    const auto consider = [&](const Ledger& ledger, const std::string& label, std::uint64_t seed, std::int64_t budget) {
      if (!ledger.best) return;
      const bool better = !layer.best || ledger.best->score[0] < layer.best->value;
      if (!better && (known == nullptr || ledger.best->score[0] != known->value)) return;
      entry.value = ledger.best->score[0];
      entry.searcher = label;
      entry.seed = seed;
      entry.budget = budget;
      entry.sample = ledger.improvements.back().sample;
      entry.design = design_text(space, ledger.best->point);
      if (better) layer.best = entry;
      if (known != nullptr && entry == *known) known_is_ours = true;
    };
    // Runs that were stopped have found what they have found.
    for (const ComparisonRun& run : runs.runs) {
      if (run.layers.empty()) continue;
      consider(run.layers[p], plan.contenders[run.contender].label, plan.seed(run.seed), plan.budgets[run.budget]);
    }
    if (!runs.targets.empty()) {
      const Ledger& target = runs.targets[p].ledger;
      consider(target, fmt::format("target {}", plan.target->searcher), plan.first_seed, plan.target->samples);
      if (has_targets && target.best) layer.target = target.best->score[0];
    }
    if (known != nullptr && !known_is_ours && (!layer.best || known->value <= layer.best->value)) {
      layer.best = *known;
      layer.best_is_earlier = true;
    }
  }
  return layers;
}

}  // namespace tilewright
