#include "tilewright/search/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/base/result.hpp"
#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 1 when `a` is smaller, 0 when `b` is, a half when neither.
double win(double a, double b, double tie) {
  if (a == b) return 0.5;
  if (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= tie * std::max(std::abs(a), std::abs(b))) return 0.5;
  return a < b ? 1 : 0;
}

}  // namespace

double quantile(std::span<const double> values, double share) {
  TW_ASSERT(!values.empty() && share >= 0 && share <= 1);
  std::vector<double> ordered(values.begin(), values.end());
  const double place = share * static_cast<double>(ordered.size() - 1);
  const auto below = ordered.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(ordered, below);  // intervals ask for millions of medians: sorting would be most of the time
  const double part = place - std::floor(place);
  if (part == 0) return *below;
  const double low = *below, high = *std::min_element(below + 1, ordered.end());
  if (high == kInfinity) return kInfinity;  // low may be, too, and their difference is NaN
  return low + part * (high - low);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double geometric_mean(std::span<const double> values) {
  TW_ASSERT(!values.empty());
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Interval bootstrap(std::span<const std::size_t> counts, const GroupStatistic& statistic, std::string_view stream,
                   const BootstrapOptions& options) {
  std::vector<std::vector<std::size_t>> chosen;
  for (const std::size_t count : counts) {
    TW_ASSERT(count > 0);
    auto& group = chosen.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) group[i] = i;
  }
  const double value = statistic(chosen);
  Rng rng = Rng(options.seed, "bootstrap").fork(stream);
  std::vector<double> drawn;
  drawn.reserve(options.resamples);
  for (std::size_t resample = 0; resample < options.resamples; ++resample) {
    for (auto& group : chosen) {
      const auto count = static_cast<std::int64_t>(group.size());
      for (std::size_t& index : group) index = static_cast<std::size_t>(rng.below(count));
    }
    drawn.push_back(statistic(chosen));
  }
  if (drawn.empty()) return {value, value, value};
  const double outside = (1 - options.confidence) / 2;
  return {value, quantile(drawn, outside), quantile(drawn, 1 - outside)};
}

Interval median_interval(std::span<const double> values, std::string_view stream, const BootstrapOptions& options) {
  std::vector<double> drawn;
  const std::size_t counts[] = {values.size()};
  return bootstrap(
      counts,
      [&](const std::vector<std::vector<std::size_t>>& chosen) {
        drawn.clear();
        for (const std::size_t index : chosen[0]) drawn.push_back(values[index]);
        return median(drawn);
      },
      stream, options);
}

Interval improvement_interval(std::span<const double> a, std::span<const double> b, std::size_t tasks, double tie,
                              std::string_view stream, const BootstrapOptions& options) {
  const std::size_t counts[] = {a.size() / tasks, b.size() / tasks};
  // Wins of run i against run j over all tasks: what every resample adds up.
  std::vector<double> wins(counts[0] * counts[1], 0);
  for (std::size_t i = 0; i < counts[0]; ++i) {
    for (std::size_t j = 0; j < counts[1]; ++j) {
      for (std::size_t task = 0; task < tasks; ++task) {
        wins[i * counts[1] + j] += win(a[i * tasks + task], b[j * tasks + task], tie);
      }
    }
  }
  return bootstrap(
      counts,
      [&](const std::vector<std::vector<std::size_t>>& chosen) {
        double sum = 0;
        for (const std::size_t i : chosen[0]) {
          for (const std::size_t j : chosen[1]) sum += wins[i * counts[1] + j];
        }
        return sum / static_cast<double>(counts[0] * counts[1] * tasks);
      },
      stream, options);
}

}  // namespace tilewright
