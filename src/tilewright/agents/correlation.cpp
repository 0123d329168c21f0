#include "tilewright/agents/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "tilewright/agents/correlation_blocks.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// What is taken of one problem's rows, given best first: row and weight.
std::vector<std::pair<std::size_t, double>> best_share(const std::vector<std::size_t>& rows, const ExplorationTable& table,
                                                       std::optional<double> quantile, std::span<const double> weights) {
  const auto weight = [&](std::size_t row) { return weights.empty() ? 1.0 : weights[row]; };
  double total = 0;
  for (const std::size_t row : rows) total += weight(row);
  std::vector<std::pair<std::size_t, double>> taken;
  double sum = 0;
  for (const std::size_t row : rows) {
    if (quantile && table.goodness[row] <= 0) break;
    if (quantile && *quantile < 1 && sum >= *quantile * total) break;
    if (weight(row) <= 0) continue;
    taken.emplace_back(row, quantile && *quantile >= 1 ? weight(row) * table.goodness[row] : weight(row));
    sum += weight(row);
  }
  return taken;
}

double pooled_ratio(const PairSums& sums, const PairSums& own_a, std::size_t a, std::size_t b) {
  const double scale = std::sqrt(own_a.at(a, b)) * std::sqrt(own_a.at(b, a));
  return scale > 0 ? sums.at(a, b) / scale : 0;
}

// own.at(a, b): the sum of c_p(a, a) over the problems that have both a and b.
PairSums own_sums(const std::vector<CorrelationBlock>& blocks, const std::vector<PairSums>& of_blocks, std::size_t count) {
  PairSums own(count);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (blocks[i].columns[a].empty() || blocks[i].columns[b].empty()) continue;
        own.at(a, b) += blocks[i].mass * std::max(of_blocks[i].at(a, a), 0.0);
      }
    }
  }
  return own;
}

PairSums pooled(const std::vector<CorrelationBlock>& blocks, const std::vector<PairSums>& of_blocks, std::size_t count) {
  PairSums sums(count);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t k = 0; k < sums.values.size(); ++k) sums.values[k] += blocks[i].mass * of_blocks[i].values[k];
  }
  return sums;
}

// Off the diagonal, below it, with the signs of pearson and spearman.
PairSums signed_dependence(std::vector<CorrelationBlock> blocks, const std::vector<Parameter>& parameters,
                           Dependence dependence) {
  const std::size_t count = parameters.size();
  std::vector<PairSums> sums(blocks.size(), PairSums(count));
  std::vector<PairSums> most;
  if (dependence == Dependence::MutualInformation) most = sums;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    switch (dependence) {
      case Dependence::Spearman:
        for (std::vector<double>& column : blocks[i].columns) {
          if (!column.empty()) column = weighted_ranks(column, blocks[i].weights);
        }
        [[fallthrough]];
      case Dependence::Pearson:
        add_covariances(blocks[i], sums[i]);
        break;
      case Dependence::Distance:
        add_distance_covariances(blocks[i], parameters, sums[i]);
        break;
      case Dependence::MutualInformation:
        add_information(blocks[i], parameters, sums[i], most[i]);
        break;
    }
  }
  const PairSums total = pooled(blocks, sums, count);
  const bool informative = dependence == Dependence::MutualInformation;
  const PairSums scale = informative ? pooled(blocks, most, count) : own_sums(blocks, sums, count);
  PairSums result(count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double value = 0;
      if (informative) {
        value = scale.at(a, b) > 0 ? std::max(total.at(a, b) / scale.at(a, b), 0.0) : 0;
      } else if (dependence == Dependence::Distance) {
        value = std::sqrt(std::max(pooled_ratio(total, scale, a, b), 0.0));
      } else {
        value = pooled_ratio(total, scale, a, b);
      }
      result.at(a, b) = std::clamp(value, -1.0, 1.0);
    }
  }
  return result;
}

}  // namespace

const std::vector<Dependence>& all_dependences() {
  static const std::vector<Dependence> all = {Dependence::Pearson, Dependence::Spearman, Dependence::Distance,
                                              Dependence::MutualInformation};
  return all;
}

std::vector<CorrelationBlock> correlation_blocks(const ExplorationTable& table, std::optional<double> quantile,
                                                 std::span<const double> weights) {
  std::size_t problems = 0;
  for (const std::size_t problem : table.problems) problems = std::max(problems, problem + 1);
  std::vector<std::vector<std::size_t>> rows(problems);
  for (std::size_t row = 0; row < table.rows; ++row) rows[table.problems[row]].push_back(row);

  const std::size_t count = table.parameters.size();
  std::vector<CorrelationBlock> blocks;
  for (std::vector<std::size_t>& of_problem : rows) {
    std::ranges::stable_sort(of_problem, std::greater{}, [&](std::size_t row) { return table.goodness[row]; });
    auto taken = best_share(of_problem, table, quantile, weights);
    if (taken.size() < 2) continue;
    std::ranges::sort(taken);
    CorrelationBlock block;
    block.columns.resize(count);
    for (const auto& [row, weight] : taken) block.mass += weight;
    for (const auto& [row, weight] : taken) {
      block.weights.push_back(weight / block.mass);
      block.squares += block.weights.back() * block.weights.back();
      for (std::size_t column = 0; column < count; ++column) {
        const double value = table.values[row * count + column];
        if (!std::isnan(value)) block.columns[column].push_back(value);
      }
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<double> weighted_ranks(const std::vector<double>& values, const std::vector<double>& weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  double below = 0;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    double equal = 0;
    for (; end < order.size() && values[order[end]] == values[order[first]]; ++end) equal += weights[order[end]];
    for (; first < end; ++first) ranks[order[first]] = below + equal / 2;
    below += equal;
  }
  return ranks;
}

CorrelationMatrix correlate(const ExplorationTable& table, const CorrelationOptions& options,
                            std::span<const double> weights) {
  const std::size_t count = table.parameters.size();
  const PairSums chosen =
      signed_dependence(correlation_blocks(table, options.quantile, weights), table.parameters, options.dependence);
  PairSums everywhere(count);
  if (options.contrast) {
    everywhere = signed_dependence(correlation_blocks(table, std::nullopt, weights), table.parameters, options.dependence);
  }
  CorrelationMatrix matrix;
  matrix.values.assign(count * count, 0.0);
  for (std::size_t a = 0; a < count; ++a) {
    matrix.names.push_back(table.parameters[a].name);
    matrix.values[a * count + a] = 1;
    for (std::size_t b = 0; b < a; ++b) {
      const double value = std::abs(chosen.at(a, b) - everywhere.at(a, b));
      matrix.values[a * count + b] = matrix.values[b * count + a] = std::min(value, 1.0);
    }
  }
  return matrix;
}

}  // namespace tilewright
