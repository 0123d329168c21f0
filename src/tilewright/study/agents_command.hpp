// `tilewright agents`: which parameters depend on each other, which agents that makes, and how firmly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/mapping_job.hpp"

namespace tilewright {

struct AgentsArguments {
  MappingArguments mapping;

  // Exploration
  // --samples               of the whole network, shared equally by its distinct layers
  std::int64_t samples = 20'000;
  // --explore               random, sobol, genetic, or any other searcher
  std::string explore = "random";
  // --seed                  the same seed gives the same bits for any number of threads
  std::uint64_t seed = 1;

  // Correlation and clusters
  // --correlation           pearson, spearman, distance, mutual-information
  std::string correlation = "pearson";
  // --quantile              best share of each layer's samples, 0 … 1; 1 = all samples, weighted by their rank
  double quantile = 0.1;
  // --contrast              (flag) take off the correlation that all samples have alike: what the objective adds
  bool contrast = false;
  // --linkage               average, complete, ward
  std::string linkage = "average";
  // --threshold             cut the dendrogram at this distance (1 - correlation)
  std::optional<double> threshold;
  // --agents                or into this many; with neither, the number with the best silhouette
  std::optional<std::int64_t> agents;

  // Stability
  // --resamples             bootstrap resamples, and subsets of the samples; 0 = none
  std::int64_t resamples = 100;
  // --seeds                 explorations with other seeds; 0 = none
  std::int64_t seeds = 5;
  // --no-stability          (flag) only the assignment
  bool no_stability = false;

  // --threads               0 = all
  int threads = 0;
  // -o,--output             directory for assignment.yaml, correlation.csv, stability.csv, agents.json, report.html
  std::string output;
  // --json                  (flag) everything as JSON
  bool json = false;
  std::vector<std::string> command;  // the command line
};

}  // namespace tilewright
