// Searchers side by side on the same spaces, with the same budgets and seeds, audited first.
//
// The factor of a run on a layer is its best objective by the best known one: 1 is the best, infinity is no valid mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/search/statistics.hpp"
#include "tilewright/study/comparison_best.hpp"
#include "tilewright/study/comparison_run.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

struct ComparedLayer {
  std::string name;
  std::int64_t count = 1;
  std::size_t parameters = 0;
  double log10_size = 0;
  std::optional<KnownBest> best;  // nothing when nobody has found a valid mapping: the layer is then left out
  bool best_is_earlier = false;   // it was in best.csv
  std::optional<double> target;   // T1
};

// A finished run on a layer.
struct ComparisonRow {
  std::size_t contender = 0, budget = 0, layer = 0;
  std::uint64_t seed = 0;
  std::int64_t samples = 0, valid = 0, repeated = 0;
  double value = 0, factor = 0;
};

// A contender with a budget.
struct Standing {
  std::vector<double> factors;         // geometric means over layers, one per finished run; all below is nothing without any
  Interval factor;                     // their median
  std::vector<Interval> layers;        // medians of the factors on each layer
  std::optional<Interval> first_wins;  // probability that the first contender is better; not for itself
};

// Samples until a run is as good as a target, over layers and seeds of the largest budget; infinite = not reached.
struct Reach {
  Interval samples;        // median
  double share = 0;        // of layers × seeds that get there
  std::size_t layers = 0;  // that get there with the median seed
};

struct ComparedContender {
  std::string label, searcher;
  std::vector<std::pair<std::string, std::string>> settings;  // in force
  std::vector<Standing> standings;                            // one per budget
  std::vector<Reach> reaches;                                 // one per target
  std::optional<AuditSummary> audit;
  double invalid = 0, repeated = 0;     // shares of all samples
  std::vector<Interval> curve;          // factors at curve_samples
  double seconds = 0, cpu_seconds = 0;  // of a run with the largest budget, mean
  double samples_per_second = 0;        // by processor time
  double agents = 0;                    // in a team, mean over runs; 0 when it is none
};

struct ComparisonStudy {
  std::string network, hardware, model, space;
  std::string objective, unit;  // with its limits
  bool inverted = false;        // what is minimised is 1 / the metric
  std::vector<ComparedLayer> layers;
  std::vector<ComparedContender> contenders;
  std::vector<std::int64_t> budgets;
  std::int64_t seeds = 1;
  std::uint64_t first_seed = 1;
  std::string target;                // "random:100000", or nothing
  std::vector<KnownBest> best;       // of these layers and of those that were known before
  std::vector<std::string> targets;  // names of the columns of reaches: "1.10×", …
  std::vector<double> curve_samples;
  std::vector<ComparisonRow> rows;
  std::vector<std::string> unsuited;  // why searchers that nobody asked for did not join
  bool partial = false;
  std::size_t runs = 0, finished_runs = 0;
  double seconds = 0;
  std::vector<std::string> command;  // the command line, for those who have one
  Coverage coverage;
};

// Runs a plan and sums it up. When it is stopped, with the runs that were done by then.
Result<ComparisonStudy> compare(const ComparisonPlan& plan, RunContext& context);

// "resnet18 on gamma-edge, edp".
std::string title_of(const ComparisonStudy& result);
// What a reader must not miss: each a sentence.
std::vector<std::string> remarks_of(const ComparisonStudy& result);
// The best value of a layer as people know the metric.
double shown_value(const ComparisonStudy& result, double value);

std::string to_json(const ComparisonStudy& study);

// Parts of `compare`, for tests.
// The objective with its limits: what best.csv calls it.
std::string objective_text(const Objective& objective);
// The layers with what is best known of them. T1 is there when all its searches are done.
std::vector<ComparedLayer> compared_layers(const ComparisonPlan& plan, const ComparisonRuns& runs,
                                           const std::string& objective);
ComparisonStudy summarise(const ComparisonPlan& plan, const ComparisonRuns& runs);

}  // namespace tilewright
