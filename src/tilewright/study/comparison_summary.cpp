#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/comparison.hpp"

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-9;  // relative: equal designs may be added up in different orders
constexpr double kTargetFactors[] = {1.10, 1.02, 1.01};
constexpr double kCurvePointsPerDecade = 12;

double final_value(const Ledger& ledger) { return ledger.best ? ledger.best->score[0] : kInfinity; }

double value_at(const Ledger& ledger, double samples) {
  double value = kInfinity;
  for (const Improvement& improvement : ledger.improvements) {
    if (static_cast<double>(improvement.sample) > samples) break;
    value = improvement.score[0];
  }
  return value;
}

double samples_to(const Ledger& ledger, double target) {
  for (const Improvement& improvement : ledger.improvements) {
    if (improvement.score[0] <= target * (1 + kTie)) return static_cast<double>(improvement.sample);
  }
  return kInfinity;
}

class Summary {
 public:
  Summary(const ComparisonPlan& plan, const ComparisonRuns& runs, ComparisonStudy& result)
      : plan_(plan), runs_(runs), result_(result) {}

  void make() {
    result_.layers = compared_layers(plan_, runs_, result_.objective);
    for (std::size_t layer = 0; layer < result_.layers.size(); ++layer) {
      if (result_.layers[layer].best) counted_.push_back(layer);
    }
    add_targets();
    add_curve_samples();
    add_rows();
    for (std::size_t c = 0; c < plan_.contenders.size(); ++c) add_contender(c);
    for (std::size_t c = 1; c < plan_.contenders.size(); ++c) add_first_wins(c);
  }

 private:
  void add_targets() {
    for (const double factor : kTargetFactors) result_.targets.push_back(fmt::format("{:.2f}×", factor));
    if (std::ranges::any_of(result_.layers, [](const ComparedLayer& layer) { return layer.target.has_value(); })) {
      result_.targets.emplace_back("T1");
    }
  }

  void add_curve_samples() {
    const auto most = static_cast<double>(plan_.budgets.back());
    for (int step = 0;; ++step) {
      const double samples = std::round(std::pow(10.0, step / kCurvePointsPerDecade));
      if (samples >= most) break;
      if (result_.curve_samples.empty() || samples > result_.curve_samples.back()) result_.curve_samples.push_back(samples);
    }
    result_.curve_samples.push_back(most);
  }

  double factor(std::size_t layer, double value) const { return value / result_.layers[layer].best->value; }

  void add_rows() {
    for (std::size_t contender = 0; contender < plan_.contenders.size(); ++contender) {
      for (std::size_t budget = 0; budget < plan_.budgets.size(); ++budget) {
        for (const ComparisonRun* run : finished(contender, budget)) {
          for (std::size_t layer = 0; layer < run->layers.size(); ++layer) {
            const Ledger& ledger = run->layers[layer];
            const double value = final_value(ledger);
            result_.rows.push_back({contender, budget, layer, plan_.seed(run->seed), ledger.samples, ledger.valid,
                                    ledger.repeated, value, result_.layers[layer].best ? factor(layer, value) : kInfinity});
          }
        }
      }
    }
  }

  std::vector<const ComparisonRun*> finished(std::size_t contender, std::size_t budget) const {
    std::vector<const ComparisonRun*> runs;
    for (const ComparisonRun& run : runs_.runs) {
      if (run.contender == contender && run.budget == budget && run.done) runs.push_back(&run);
    }
    return runs;
  }

  template <typename ValueOf>
  double mean_factor(const ComparisonRun& run, const ValueOf& value_of) const {
    std::vector<double> factors;
    for (const std::size_t layer : counted_) factors.push_back(factor(layer, value_of(run.layers[layer])));
    return geometric_mean(factors);
  }

  Standing standing(std::size_t contender, std::size_t budget) const {
    Standing standing;
    const std::vector<const ComparisonRun*> runs = finished(contender, budget);
    if (runs.empty() || counted_.empty()) return standing;
    const std::string stream = fmt::format("{} {}", plan_.contenders[contender].label, plan_.budgets[budget]);
    for (const ComparisonRun* run : runs) standing.factors.push_back(mean_factor(*run, final_value));
    standing.factor = median_interval(standing.factors, stream);
    for (std::size_t layer = 0; layer < result_.layers.size(); ++layer) {
      std::vector<double> factors;
      for (const ComparisonRun* run : runs) {
        if (result_.layers[layer].best) factors.push_back(factor(layer, final_value(run->layers[layer])));
      }
      standing.layers.push_back(factors.empty() ? Interval{kInfinity, kInfinity, kInfinity}
                                                : median_interval(factors, fmt::format("{} {}", stream, layer)));
    }
    return standing;
  }

  double target_value(std::size_t target, std::size_t layer) const {
    if (target < std::size(kTargetFactors)) return kTargetFactors[target] * result_.layers[layer].best->value;
    return result_.layers[layer].target.value_or(kInfinity);
  }

  Reach reach(const std::vector<const ComparisonRun*>& runs, std::size_t target, const std::string& label) const {
    Reach reach;
    std::vector<double> needed;  // runs × layers
    for (const ComparisonRun* run : runs) {
      for (const std::size_t layer : counted_) needed.push_back(samples_to(run->layers[layer], target_value(target, layer)));
    }
    const std::size_t layers = counted_.size(), counts[] = {runs.size()};
    std::vector<double> drawn;
    reach.samples = bootstrap(
        counts,
        [&](const std::vector<std::vector<std::size_t>>& chosen) {
          drawn.clear();
          for (const std::size_t run : chosen[0]) {
            for (std::size_t i = 0; i < layers; ++i) drawn.push_back(needed[run * layers + i]);
          }
          return median(drawn);
        },
        fmt::format("{} {}", label, result_.targets[target]));
    const auto reached = std::ranges::count_if(needed, [](double samples) { return std::isfinite(samples); });
    reach.share = static_cast<double>(reached) / static_cast<double>(needed.size());
    for (std::size_t i = 0; i < layers; ++i) {
      std::vector<double> of_layer;
      for (std::size_t run = 0; run < runs.size(); ++run) of_layer.push_back(needed[run * layers + i]);
      if (std::isfinite(median(of_layer))) ++reach.layers;
    }
    return reach;
  }

  void add_contender(std::size_t index) {
    const Contender& contender = plan_.contenders[index];
    ComparedContender& compared = result_.contenders.emplace_back();
    compared.label = contender.label;
    compared.searcher = contender.searcher;
    if (const auto settings = settings_in_force(contender.searcher, contender.settings)) {
      for (const SettingValue& setting : *settings) compared.settings.emplace_back(setting.name, setting.value);
    }
    for (std::size_t budget = 0; budget < plan_.budgets.size(); ++budget) {
      compared.standings.push_back(standing(index, budget));
    }
    double samples = 0, valid = 0, repeated = 0;
    for (const ComparisonRow& row : result_.rows) {
      if (row.contender != index) continue;
      samples += static_cast<double>(row.samples);
      valid += static_cast<double>(row.valid);
      repeated += static_cast<double>(row.repeated);
    }
    if (samples > 0) {
      compared.invalid = 1 - valid / samples;
      compared.repeated = repeated / samples;
    }
    const std::vector<const ComparisonRun*> runs = finished(index, plan_.budgets.size() - 1);
    if (runs.empty()) return;
    compared.audit = runs.front()->audit;
    add_times(compared, runs);
    if (counted_.empty()) return;
    for (std::size_t target = 0; target < result_.targets.size(); ++target) {
      compared.reaches.push_back(reach(runs, target, contender.label));
    }
    for (const double at : result_.curve_samples) {
      std::vector<double> factors;
      for (const ComparisonRun* run : runs) {
        factors.push_back(mean_factor(*run, [&](const Ledger& ledger) { return value_at(ledger, at); }));
      }
      compared.curve.push_back(median_interval(factors, fmt::format("{} curve {}", contender.label, at)));
    }
  }

  static void add_times(ComparedContender& compared, const std::vector<const ComparisonRun*>& runs) {
    const auto count = static_cast<double>(runs.size());
    double samples = 0;
    for (const ComparisonRun* run : runs) {
      compared.seconds += run->seconds / count;
      compared.cpu_seconds += run->cpu_seconds / count;
      compared.agents += static_cast<double>(run->agents) / count;
      for (const Ledger& ledger : run->layers) samples += static_cast<double>(ledger.samples) / count;
    }
    compared.samples_per_second = samples / std::max(compared.cpu_seconds, 1e-9);
  }

  void add_first_wins(std::size_t index) {
    const auto values = [&](std::size_t contender, std::size_t budget) {
      std::vector<double> all;  // runs × layers
      for (const ComparisonRun* run : finished(contender, budget)) {
        for (const std::size_t layer : counted_) all.push_back(final_value(run->layers[layer]));
      }
      return all;
    };
    for (std::size_t budget = 0; budget < plan_.budgets.size(); ++budget) {
      const std::vector<double> first = values(0, budget), other = values(index, budget);
      if (first.empty() || other.empty()) continue;
      result_.contenders[index].standings[budget].first_wins =
          improvement_interval(first, other, counted_.size(), kTie,
                               fmt::format("wins {} {}", plan_.contenders[index].label, plan_.budgets[budget]));
    }
  }

  const ComparisonPlan& plan_;
  const ComparisonRuns& runs_;
  ComparisonStudy& result_;
  std::vector<std::size_t> counted_;  // layers with a valid mapping
};

}  // namespace

ComparisonStudy summarise(const ComparisonPlan& plan, const ComparisonRuns& runs) {
  const MappingOptions& options = plan.job.options;
  ComparisonStudy result;
  result.network = plan.job.network_name;
  result.hardware = plan.job.machine_name;
  result.model = model_text(options.model, options);
  std::vector<std::string> space;
  for (const auto& [fact, value] : space_facts(options)) space.push_back(fmt::format("{} {}", value, fact));
  result.space = options.space == SpaceKind::Archgym ? "archgym" : join(space, ", ");
  result.objective = objective_text(options.objective);
  if (options.objective.form == Objective::Form::Single) {
    result.unit = unit_of(options.objective.terms[0].metric);
    result.inverted = options.objective.terms[0].metric == Metric::Throughput;
  }
  result.budgets = plan.budgets;
  result.seeds = plan.seeds;
  result.first_seed = plan.first_seed;
  if (plan.target) result.target = text_of(*plan.target);
  result.unsuited = plan.unsuited;
  result.partial = runs.interrupted;
  result.runs = runs.runs.size();
  result.finished_runs = static_cast<std::size_t>(std::ranges::count_if(runs.runs, &ComparisonRun::done));
  result.seconds = runs.seconds;
  result.coverage = plan.job.coverage;
  Summary(plan, runs, result).make();
  result.best = plan.earlier;
  for (const ComparedLayer& layer : result.layers) {
    if (!layer.best) continue;
    const KnownBest& best = *layer.best;
    // Of equal ones the first of this comparison, whatever an earlier part of it had written.
    const auto equal = std::ranges::find_if(result.best, [&](const KnownBest& other) {
      return other.problem == best.problem && other.objective == best.objective && other.value == best.value;
    });
    if (equal != result.best.end()) {
      *equal = best;
    } else {
      keep_better(result.best, best);
    }
  }
  return result;
}

Result<ComparisonStudy> compare(const ComparisonPlan& plan, RunContext& context) {
  TW_TRY(const ComparisonRuns runs, run_comparison(plan, context));
  return summarise(plan, runs);
}

}  // namespace tilewright
