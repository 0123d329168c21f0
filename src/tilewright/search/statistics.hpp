// What a comparison of searchers says about its runs: medians, intervals, who is better how often.
//
// Infinity is a value like any other ("not reached", "nothing found"): it is larger than every number, and a median or
// quantile between a number and infinity is infinite. NaN is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tilewright {

// All of these need at least one value.
double median(std::span<const double> values);
// Between the two nearest order statistics, as R's type 7: 0 = the least, 1 = the largest.
double quantile(std::span<const double> values, double share);
// Of values above 0.
double geometric_mean(std::span<const double> values);

struct Interval {
  double value = 0;  // of the data as they are
  double low = 0, high = 0;
};

struct BootstrapOptions {
  std::size_t resamples = 2'000;
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

// A statistic of some of the runs of each group; a run may be there several times.
using GroupStatistic = std::function<double(const std::vector<std::vector<std::size_t>>& chosen)>;

// The percentile bootstrap: the runs of every group (there are counts[g] of them, at least one) are drawn again with
// replacement, each group by itself, and the statistic of every draw is taken. What belongs together, such as the layers of
// one run, stays together. `stream` names the random numbers.
Interval bootstrap(std::span<const std::size_t> counts, const GroupStatistic& statistic, std::string_view stream,
                   const BootstrapOptions& options = {});

Interval median_interval(std::span<const double> values, std::string_view stream, const BootstrapOptions& options = {});

// The probability that a run of `a` has the smaller value than a run of `b` on the same task, which is better: over all
// pairs, a tie counting half (Mann and Whitney's U over the number of pairs), mean over tasks. Values that differ by no more
// than the share `tie` of the larger are tied. Both are runs × tasks, row by row. Runs are drawn again whole: tasks of a run
// are not independent when it learns from one for the other.
Interval improvement_interval(std::span<const double> a, std::span<const double> b, std::size_t tasks, double tie,
                              std::string_view stream, const BootstrapOptions& options = {});

}  // namespace tilewright
