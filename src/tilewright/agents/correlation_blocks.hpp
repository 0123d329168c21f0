// The samples of each problem that a correlation is taken from, and the sums over one problem that its measures are made of.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tilewright/agents/correlation.hpp"

namespace tilewright {

struct CorrelationBlock {
  double mass = 0;                           // sum of the weights before they were scaled
  std::vector<double> weights;               // of its samples; their sum is 1
  double squares = 0;                        // sum of the squared weights
  std::vector<std::vector<double>> columns;  // parameter × sample; empty where the problem does not have the parameter
};

// Without a quantile: all samples alike, infeasible ones too.
std::vector<CorrelationBlock> correlation_blocks(const ExplorationTable& table, std::optional<double> quantile,
                                                 std::span<const double> weights);

// Sums of one problem, parameters × parameters; 0 where it lacks one of the two.
struct PairSums {
  explicit PairSums(std::size_t parameters) : count(parameters), values(parameters * parameters, 0.0) {}
  double& at(std::size_t a, std::size_t b) { return values[a * count + b]; }
  double at(std::size_t a, std::size_t b) const { return values[a * count + b]; }
  std::size_t count;
  std::vector<double> values;
};

// Covariances of the columns.
void add_covariances(const CorrelationBlock& block, PairSums& sums);
// Distance covariances, less what chance gives.
void add_distance_covariances(const CorrelationBlock& block, const std::vector<Parameter>& parameters, PairSums& sums);
// Mutual information less what chance gives, and the most it could be less the same.
void add_information(const CorrelationBlock& block, const std::vector<Parameter>& parameters, PairSums& information,
                     PairSums& most);

// Replaces values by their ranks: the weight of all smaller ones and half of the equal ones, between 0 and 1.
std::vector<double> weighted_ranks(const std::vector<double>& values, const std::vector<double>& weights);

}  // namespace tilewright
