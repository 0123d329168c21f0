// The sums behind the measures of dependence, for the samples of one problem with weights w that add up to 1.
#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/agents/correlation_blocks.hpp"

namespace tilewright {
namespace {

// Distances are n × n: of more samples, evenly spaced ones stand for all.
constexpr std::size_t kMostDistanceSamples = 512;

CorrelationBlock thinned(const CorrelationBlock& block, std::size_t most) {
  CorrelationBlock thin;
  thin.columns.resize(block.columns.size());
  const std::size_t n = block.weights.size();
  double sum = 0;
  for (std::size_t k = 0; k < most; ++k) {
    const std::size_t from = k * n / most;
    thin.weights.push_back(block.weights[from]);
    sum += block.weights[from];
    for (std::size_t a = 0; a < block.columns.size(); ++a) {
      if (!block.columns[a].empty()) thin.columns[a].push_back(block.columns[a][from]);
    }
  }
  for (double& weight : thin.weights) {
    weight /= sum;
    thin.squares += weight * weight;
  }
  return thin;
}

// Four sums side by side: strict floating point would otherwise wait for each addition.
double dot(const double* x, const double* y, std::size_t n) {
  double sums[4] = {};
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += x[j + k] * y[j + k];
  }
  for (; j < n; ++j) sums[0] += x[j] * y[j];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double distance(double x, double y, ParameterKind kind) {
  return kind == ParameterKind::Ordinal ? std::abs(x - y) : x == y ? 0.0 : 1.0;
}

// The weighted mean distance of each sample from all, and of all from all.
struct MeanDistances {
  std::vector<double> of_sample;
  double of_all = 0;
};

MeanDistances mean_distances(const std::vector<double>& column, const std::vector<double>& weights, ParameterKind kind) {
  MeanDistances means{std::vector<double>(column.size(), 0.0), 0};
  for (std::size_t i = 0; i < column.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < column.size(); ++j) sum += weights[j] * distance(column[i], column[j], kind);
    means.of_sample[i] = sum;
    means.of_all += weights[i] * sum;
  }
  return means;
}

// A column as small integers: categories as they are, ordinal values in bins of equal weight unless there are few of them.
struct Classes {
  std::vector<std::size_t> of_sample;
  std::size_t count = 0;  // classes in use
  double entropy = 0;
};

Classes classes_of(const std::vector<double>& column, const std::vector<double>& weights, ParameterKind kind,
                   std::size_t most_bins) {
  std::vector<double> keys = column;
  std::map<double, std::size_t> seen;
  for (const double key : keys) seen.emplace(key, 0);
  if (kind == ParameterKind::Ordinal && seen.size() > most_bins) {
    keys = weighted_ranks(column, weights);
    seen.clear();
    const auto bins = static_cast<double>(most_bins);
    for (double& key : keys) {
      key = std::min(std::floor(key * bins), bins - 1);
      seen.emplace(key, 0);
    }
  }
  Classes classes;
  for (auto& [key, number] : seen) number = classes.count++;
  std::vector<double> share(classes.count, 0.0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    classes.of_sample.push_back(seen[keys[i]]);
    share[classes.of_sample.back()] += weights[i];
  }
  for (const double p : share) classes.entropy -= p > 0 ? p * std::log(p) : 0;
  return classes;
}

double joint_entropy(const Classes& a, const Classes& b, const std::vector<double>& weights, std::vector<double>& cells) {
  cells.assign(a.count * b.count, 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) cells[a.of_sample[i] * b.count + b.of_sample[i]] += weights[i];
  double entropy = 0;
  for (const double p : cells) entropy -= p > 0 ? p * std::log(p) : 0;
  return entropy;
}

}  // namespace

void add_covariances(const CorrelationBlock& block, PairSums& sums) {
  const std::vector<double>& weights = block.weights;
  std::vector<std::vector<double>> centred(block.columns.size());   // x - mean
  std::vector<std::vector<double>> weighted(block.columns.size());  // w (x - mean)
  for (std::size_t a = 0; a < block.columns.size(); ++a) {
    const std::vector<double>& column = block.columns[a];
    if (column.empty() || std::ranges::all_of(column, [&](double x) { return x == column[0]; })) continue;
    const double mean = dot(column.data(), weights.data(), column.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
      centred[a].push_back(column[i] - mean);
      weighted[a].push_back(weights[i] * centred[a].back());
    }
  }
  for (std::size_t a = 0; a < centred.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      if (centred[a].empty() || centred[b].empty()) continue;
      const double covariance = dot(weighted[a].data(), centred[b].data(), weights.size());
      sums.at(a, b) += covariance;
      if (a != b) sums.at(b, a) += covariance;
    }
  }
}

void add_distance_covariances(const CorrelationBlock& whole, const std::vector<Parameter>& parameters, PairSums& sums) {
  const bool is_long = whole.weights.size() > kMostDistanceSamples;
  const CorrelationBlock thin = is_long ? thinned(whole, kMostDistanceSamples) : CorrelationBlock{};
  const CorrelationBlock& block = is_long ? thin : whole;
  const std::vector<double>& weights = block.weights;
  const std::size_t n = weights.size();

  std::vector<std::size_t> present;
  std::vector<MeanDistances> means;
  for (std::size_t a = 0; a < block.columns.size(); ++a) {
    if (block.columns[a].empty()) continue;
    present.push_back(a);
    means.push_back(mean_distances(block.columns[a], weights, parameters[a].kind));
  }
  // One line of all doubly centred distance matrices at a time, from the diagonal on: they are symmetric.
  std::vector<double> centred(present.size() * n), weighted(present.size() * n);
  std::vector<double> totals(present.size() * present.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t p = 0; p < present.size(); ++p) {
      const std::vector<double>& column = block.columns[present[p]];
      const ParameterKind kind = parameters[present[p]].kind;
      for (std::size_t j = i; j < n; ++j) {
        const double entry =
            distance(column[i], column[j], kind) - means[p].of_sample[i] - means[p].of_sample[j] + means[p].of_all;
        centred[p * n + j] = entry;
        weighted[p * n + j] = weights[i] * weights[j] * (i == j ? 1 : 2) * entry;
      }
    }
    for (std::size_t p = 0; p < present.size(); ++p) {
      for (std::size_t q = 0; q <= p; ++q) {
        totals[p * present.size() + q] += dot(&weighted[p * n + i], &centred[q * n + i], n - i);
      }
    }
  }
  for (std::size_t p = 0; p < present.size(); ++p) {
    for (std::size_t q = 0; q <= p; ++q) {
      const double distinct = 1 - block.squares;  // weight of the pairs of two different samples
      const double chance = block.squares * (means[p].of_all / distinct) * (means[q].of_all / distinct);
      const double covariance = totals[p * present.size() + q] - chance;
      sums.at(present[p], present[q]) += covariance;
      if (p != q) sums.at(present[q], present[p]) += covariance;
    }
  }
}

void add_information(const CorrelationBlock& block, const std::vector<Parameter>& parameters, PairSums& information,
                     PairSums& most) {
  // About five samples for each cell of two columns.
  const auto bins = static_cast<std::size_t>(std::clamp(std::sqrt(1 / (5 * block.squares)), 2.0, 8.0));
  std::vector<Classes> classes(block.columns.size());
  for (std::size_t a = 0; a < classes.size(); ++a) {
    if (!block.columns[a].empty()) classes[a] = classes_of(block.columns[a], block.weights, parameters[a].kind, bins);
  }
  std::vector<double> cells;
  for (std::size_t a = 0; a < classes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const Classes &x = classes[a], &y = classes[b];
      if (x.count < 2 || y.count < 2) continue;
      const double chance = block.squares * static_cast<double>((x.count - 1) * (y.count - 1)) / 2;
      const double shared = x.entropy + y.entropy - joint_entropy(x, y, block.weights, cells) - chance;
      const double limit = std::min(x.entropy, y.entropy) - chance;
      if (limit <= 0) continue;  // too few samples to tell anything
      information.at(a, b) += shared;
      information.at(b, a) += shared;
      most.at(a, b) += limit;
      most.at(b, a) += limit;
    }
  }
}

}  // namespace tilewright
