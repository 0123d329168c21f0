#include "tilewright/agents/stability.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

struct Comparison {
  double index = 0;  // adjusted Rand
  double agents = 0;
};

double agent_count(const std::vector<std::size_t>& clusters) {
  return clusters.empty() ? 0 : static_cast<double>(*std::ranges::max_element(clusters) + 1);
}

StabilityRow summary(std::string varied, std::string to, const std::vector<Comparison>& comparisons) {
  std::vector<double> indices;
  StabilityRow row{std::move(varied), std::move(to), 0, 0, 0, comparisons.size(), 0};
  for (const Comparison& comparison : comparisons) {
    indices.push_back(comparison.index);
    row.mean += comparison.index;
    row.agents += comparison.agents;
  }
  row.mean /= static_cast<double>(comparisons.size());
  row.agents /= static_cast<double>(comparisons.size());
  row.low = percentile(indices, 0.05);
  row.high = percentile(indices, 0.95);
  return row;
}

// How often each row is drawn when every problem's rows are drawn as often as there are, with replacement.
std::vector<double> resample(const std::vector<std::vector<std::size_t>>& rows_of_problems, std::size_t rows, Rng& rng) {
  std::vector<double> counts(rows, 0.0);
  for (const std::vector<std::size_t>& of_problem : rows_of_problems) {
    const auto size = static_cast<std::int64_t>(of_problem.size());
    for (std::int64_t i = 0; i < size; ++i) ++counts[of_problem[static_cast<std::size_t>(rng.below(size))]];
  }
  return counts;
}

// 1 for a random share of every problem's rows, two of them at least, 0 for the others.
std::vector<double> subset(const std::vector<std::vector<std::size_t>>& rows_of_problems, std::size_t rows, double share,
                           Rng& rng) {
  std::vector<double> chosen(rows, 0.0);
  for (std::vector<std::size_t> left : rows_of_problems) {
    const auto size = static_cast<double>(left.size());
    const std::size_t count = std::min(left.size(), std::max<std::size_t>(2, static_cast<std::size_t>(share * size)));
    for (std::size_t n = 0; n < count; ++n) {
      std::swap(left[n], left[n + static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(left.size() - n)))]);
      chosen[left[n]] = 1;
    }
  }
  return chosen;
}

class Study {
 public:
  Study(const AgentsQuestion& question, const ExplorationData& data, ThreadPool& threads, std::int64_t& samples)
      : question_(question), data_(data), threads_(threads), samples_(samples), table_(to_table(data, question.spaces)) {
    rows_.resize(question.spaces.size());
    for (std::size_t row = 0; row < table_.rows; ++row) rows_[table_.problems[row]].push_back(row);
    clusters_ = clusters_of(table_, question.correlation, question.clustering);
  }

  void bootstrap(std::size_t resamples) {
    const Rng root(question_.exploration.seed, "stability/bootstrap");
    repeat("bootstrap", "", resamples, [&](std::size_t n) {
      Rng rng = root.fork("resample", n);
      const std::vector<double> counts = resample(rows_, table_.rows, rng);
      return compared(clusters_of(table_, question_.correlation, question_.clustering, counts));
    });
  }

  void fewer_samples(const std::vector<double>& shares, std::size_t times) {
    for (const double share : shares) {
      const std::string to = fmt::format("{:.3g} %", 100 * share);
      const Rng root(question_.exploration.seed, "stability/samples/" + to);
      repeat("samples", to, times, [&](std::size_t n) {
        Rng rng = root.fork("subset", n);
        const std::vector<double> chosen = subset(rows_, table_.rows, share, rng);
        return compared(clusters_of(table_, question_.correlation, question_.clustering, chosen));
      });
    }
  }

  Result<Done> seeds(std::size_t count) {
    std::vector<Comparison> comparisons;
    for (std::size_t n = 1; n <= count; ++n) {
      ExplorationOptions exploration = question_.exploration;
      exploration.seed += n;
      TW_TRY(const Comparison comparison, explored(exploration));
      comparisons.push_back(comparison);
    }
    if (count > 0) rows.push_back(summary("seed", "", comparisons));
    return Done{};
  }

  void layers() {
    std::vector<std::size_t> usable;
    for (std::size_t problem = 0; problem < rows_.size(); ++problem) {
      const auto feasible = std::ranges::count_if(rows_[problem], [&](std::size_t row) { return table_.goodness[row] > 0; });
      if (feasible >= 2 && question_.spaces[problem]->parameters().size() >= 2) usable.push_back(problem);
    }
    if (question_.spaces.size() < 2) return;
    repeat("layer", "", usable.size(), [&](std::size_t n) { return of_layer(usable[n]); });
  }

  Result<Done> objectives(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      TW_TRY(Objective objective, objective_named(name));
      objective.limits = question_.objective.limits;
      if (objective == question_.objective) continue;
      const ExplorationTable table = to_table(rescored(data_, objective), question_.spaces);
      rows.push_back(
          summary("objective", name, {compared(clusters_of(table, question_.correlation, question_.clustering))}));
    }
    // Every sample as good as any other: what remains is the shape of the space.
    ExplorationTable table = table_;
    std::ranges::fill(table.goodness, 1.0);
    CorrelationOptions correlation = question_.correlation;
    correlation.quantile = 1;
    correlation.contrast = false;
    rows.push_back(summary("objective", "none", {compared(clusters_of(table, correlation, question_.clustering))}));
    return Done{};
  }

  Result<Done> policies(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      ExplorationOptions exploration = question_.exploration;
      if (name == exploration.policy) continue;
      exploration.policy = name;
      TW_TRY(const Comparison comparison, explored(exploration));
      rows.push_back(summary("exploration", name, {comparison}));
    }
    return Done{};
  }

  void measures() {
    for (const Dependence dependence : all_dependences()) {
      CorrelationOptions correlation = question_.correlation;
      if (dependence == correlation.dependence) continue;
      correlation.dependence = dependence;
      rows.push_back(summary("measure", std::string(name_of(dependence)),
                             {compared(clusters_of(table_, correlation, question_.clustering))}));
    }
  }

  void contrast() {
    CorrelationOptions correlation = question_.correlation;
    correlation.contrast = !correlation.contrast;
    rows.push_back(summary("contrast", correlation.contrast ? "on" : "off",
                           {compared(clusters_of(table_, correlation, question_.clustering))}));
  }

  void linkages() {
    for (const Linkage linkage : all_linkages()) {
      ClusteringOptions clustering = question_.clustering;
      if (linkage == clustering.linkage) continue;
      clustering.linkage = linkage;
      rows.push_back(summary("linkage", std::string(name_of(linkage)),
                             {compared(clusters_of(table_, question_.correlation, clustering))}));
    }
  }

  void quantiles(const std::vector<double>& quantiles) {
    for (const double quantile : quantiles) {
      CorrelationOptions correlation = question_.correlation;
      if (quantile == correlation.quantile) continue;
      correlation.quantile = quantile;
      rows.push_back(summary("quantile", fmt::format("{}", quantile),
                             {compared(clusters_of(table_, correlation, question_.clustering))}));
    }
  }

  std::vector<StabilityRow> rows;

 private:
  static std::vector<std::size_t> clusters_of(const ExplorationTable& table, const CorrelationOptions& correlation,
                                              const ClusteringOptions& clustering, std::span<const double> weights = {}) {
    return cluster_agents(table, correlation, clustering, weights).clusters;
  }

  Comparison compared(const std::vector<std::size_t>& clusters) const {
    return {adjusted_rand_index(clusters_, clusters), agent_count(clusters)};
  }

  void repeat(const std::string& varied, const std::string& to, std::size_t count,
              const std::function<Comparison(std::size_t)>& once) {
    if (count == 0) return;
    std::vector<Comparison> comparisons(count);
    threads_.for_each(count, [&](std::size_t n, std::size_t) { comparisons[n] = once(n); });
    rows.push_back(summary(varied, to, comparisons));
  }

  Result<Comparison> explored(const ExplorationOptions& exploration) {
    TW_TRY(const ExplorationData data, explore(question_.spaces, question_.objective, exploration, threads_));
    samples_ += static_cast<std::int64_t>(data.samples.size());
    const ExplorationTable table = to_table(data, question_.spaces);
    return compared(clusters_of(table, question_.correlation, question_.clustering));
  }

  // A layer is clustered as if there were no other, so that parameters it lacks play no part.
  Comparison of_layer(std::size_t problem) const {
    ExplorationData alone;
    for (const std::size_t row : rows_[problem]) {
      alone.samples.push_back(data_.samples[row]);
      alone.samples.back().problem = 0;
    }
    const ExplorationTable table = to_table(alone, {question_.spaces[problem]});
    const std::vector<std::size_t> clusters = clusters_of(table, question_.correlation, question_.clustering);
    std::vector<std::size_t> expected;
    for (const Parameter& parameter : table.parameters) {
      const auto place = std::ranges::find(table_.parameters, parameter.name, &Parameter::name);
      expected.push_back(clusters_[static_cast<std::size_t>(place - table_.parameters.begin())]);
    }
    return {adjusted_rand_index(expected, clusters), agent_count(clusters)};
  }

  const AgentsQuestion& question_;
  const ExplorationData& data_;
  ThreadPool& threads_;
  std::int64_t& samples_;
  ExplorationTable table_;
  std::vector<std::vector<std::size_t>> rows_;  // of each problem
  std::vector<std::size_t> clusters_;
};

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

Result<std::vector<StabilityRow>> stability(const AgentsQuestion& question, const ExplorationData& data,
                                            const StabilityOptions& options, ThreadPool& threads, std::int64_t& samples) {
  Study study(question, data, threads, samples);
  study.bootstrap(options.resamples);
  study.fewer_samples(options.shares, options.resamples);
  TW_TRY([[maybe_unused]] const Done seeds, study.seeds(options.seeds));
  study.layers();
  TW_TRY([[maybe_unused]] const Done objectives, study.objectives(options.objectives));
  TW_TRY([[maybe_unused]] const Done policies, study.policies(options.policies));
  study.measures();
  study.contrast();
  study.linkages();
  study.quantiles(options.quantiles);
  return std::move(study.rows);
}

}  // namespace tilewright
