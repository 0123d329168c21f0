// Does an assignment depend on what it should not depend on? The papers leave it open; here it is measured.
//
// The same steps, from samples to clusters, are repeated with one thing changed at a time, and each result is compared with
// the assignment by the adjusted Rand index: 1 = the same agents, 0 = as like as chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/agents/clustering.hpp"
#include "tilewright/agents/exploration.hpp"
#include "tilewright/base/parallel.hpp"

namespace tilewright {

// How an assignment came about.
struct AgentsQuestion {
  std::vector<const DesignSpace*> spaces;
  Objective objective;
  ExplorationOptions exploration;
  CorrelationOptions correlation;
  ClusteringOptions clustering;
};

struct StabilityOptions {
  std::size_t resamples = 100;              // bootstrap: each problem's samples drawn again with replacement; 0 = none
  std::vector<double> shares = {0.5, 0.1};  // as many times only this share of each problem's samples, without replacement
  std::size_t seeds = 5;                    // other explorations with the next seeds, all newly evaluated; 0 = none
  std::vector<std::string> objectives = {"latency", "energy", "edp"};  // the samples scored again
  std::vector<std::string> policies = {"random", "sobol", "genetic"};  // other explorations, as many samples each
  std::vector<double> quantiles = {0.05, 0.2, 1};
};

// Means and ranges are over `count` comparisons; `agents` is the mean number of agents in them.
struct StabilityRow {
  std::string varied;  // "bootstrap", "samples", "seed", "layer", "objective", "exploration", "measure", "contrast", …
  std::string to;      // what it was changed to, when there is one such thing: "latency"
  double mean = 0;
  double low = 0, high = 0;  // 5 % and 95 %
  std::size_t count = 0;
  double agents = 0;
};

// Rows in the order above, then linkages and quantiles. Objective "none" takes all samples alike. A layer alone is compared
// on the parameters it has; layers with a single feasible sample, or none, have no correlations and are left out. What the
// question has already is not a change and has no row. `samples` is raised by what the other explorations cost.
Result<std::vector<StabilityRow>> stability(const AgentsQuestion& question, const ExplorationData& data,
                                            const StabilityOptions& options, ThreadPool& threads, std::int64_t& samples);

// Linear between the sorted values: share 0 is the smallest, 1 the largest.
double percentile(std::vector<double> values, double share);

}  // namespace tilewright
