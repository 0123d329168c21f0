// What `tilewright compare` has found, and its forms: text, JSON, CSV, HTML.
//
// The factor of a run on a layer is its best objective by the best known one: 1 is the best, infinity is no valid mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/search/statistics.hpp"
#include "tilewright/study/compare_best.hpp"
#include "tilewright/study/compare_run.hpp"
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
struct CompareRow {
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

struct CompareResult {
  std::string network, hardware, model, space;
  std::string objective, unit;  // with its limits
  bool inverted = false;        // what is minimised is 1 / the metric
  std::vector<ComparedLayer> layers;
  std::vector<ComparedContender> contenders;
  std::vector<std::int64_t> budgets;
  std::int64_t seeds = 1;
  std::uint64_t first_seed = 1;
  std::string target;                // "random:100000", or nothing
  std::vector<std::string> targets;  // names of the columns of reaches: "1.10×", …
  std::vector<double> curve_samples;
  std::vector<CompareRow> rows;
  bool partial = false;
  double seconds = 0;
  std::vector<std::string> command;
  Coverage coverage;
};

// The objective with its limits: what best.csv calls it.
std::string objective_text(const Objective& objective);

// The layers with what is best known of them; `earlier` is what best.csv had. T1 is there when all its searches are done.
std::vector<ComparedLayer> compared_layers(const ComparePlan& plan, const CompareRuns& runs,
                                           const std::vector<KnownBest>& earlier, const std::string& objective);

CompareResult summarise(const ComparePlan& plan, const CompareRuns& runs, const std::vector<KnownBest>& earlier,
                        const CompareArguments& arguments);

// "resnet18 on gamma-edge, edp".
std::string title_of(const CompareResult& result);
// What a reader must not miss: each a sentence.
std::vector<std::string> remarks_of(const CompareResult& result);
// The best value of a layer as people know the metric.
double shown_value(const CompareResult& result, double value);

std::string to_text(const CompareResult& result);
std::string to_json(const CompareResult& result);
std::string to_html(const CompareResult& result);
std::string compare_csv(const CompareResult& result);  // per contender, budget, seed and layer
std::string layers_csv(const CompareResult& result);   // medians per contender, budget and layer
std::string curves_csv(const CompareResult& result);

// Medians as tables have them: "1.034", "∞".
std::string factor_text(double factor);
std::string samples_text(double samples);  // "1,250", "not reached"
std::string share_text(double share);      // "0.4 %"

}  // namespace tilewright
