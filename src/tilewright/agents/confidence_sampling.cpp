#include "tilewright/agents/confidence_sampling.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/base/result.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

// The values of one entry among the kept points, the most frequent first, of equally frequent ones the smallest.
std::vector<std::int32_t> by_frequency(std::span<const Point> kept, std::size_t entry) {
  std::map<std::int32_t, std::int64_t> counts;
  for (const Point& point : kept) ++counts[point[entry]];
  std::vector<std::int32_t> values;
  for (const auto& [value, count] : counts) values.push_back(value);
  std::ranges::stable_sort(values, std::greater<>{}, [&](std::int32_t value) { return counts[value]; });
  return values;
}

}  // namespace

std::vector<double> confidence(std::span<const double> values, double temperature) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  if (temperature == 0) {
    double mean = 0, squares = 0;
    for (const double value : values) mean += value / count;
    for (const double value : values) squares += (value - mean) * (value - mean) / count;
    temperature = std::sqrt(squares);
  }
  if (temperature == 0) return std::vector<double>(values.size(), 1 / count);
  const double most = *std::ranges::max_element(values);
  std::vector<double> result;
  double sum = 0;
  for (const double value : values) {
    result.push_back(std::exp((value - most) / temperature));
    sum += result.back();
  }
  for (double& share : result) share /= sum;
  return result;
}

std::vector<std::size_t> draw_without_replacement(std::span<const double> probabilities, std::size_t count, Rng& rng) {
  std::vector<double> weights(probabilities.begin(), probabilities.end());
  std::vector<std::size_t> left(weights.size()), drawn;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (drawn.size() < count && !left.empty()) {
    double sum = 0;
    for (const std::size_t i : left) sum += weights[i];
    if (!(sum > 0)) {  // the rest is too unlikely for its numbers: all of it alike
      for (const std::size_t i : left) weights[i] = 1;
      sum = static_cast<double>(left.size());
    }
    double rest = rng.uniform() * sum;
    std::size_t place = left.size();
    for (std::size_t at = 0; at < left.size(); ++at) {
      if (weights[left[at]] <= 0) continue;
      place = at;  // rounding may leave a little after the last one
      rest -= weights[left[at]];
      if (rest < 0) break;
    }
    drawn.push_back(left[place]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return drawn;
}

double dynamic_threshold(std::span<const double> values, std::span<const std::size_t> drawn) {
  TW_ASSERT(!drawn.empty());
  std::vector<double> sorted;
  for (const std::size_t i : drawn) sorted.push_back(values[i]);
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<std::size_t> confident(std::span<const double> values, std::span<const std::size_t> drawn, double threshold) {
  std::vector<std::size_t> kept;
  std::ranges::copy_if(drawn, std::back_inserter(kept), [&](std::size_t i) { return values[i] >= threshold; });
  return kept;
}

Point synthesise(const DesignSpace& space, std::span<const Point> kept, const std::function<bool(const Point&)>& is_new,
                 Rng& rng) {
  if (kept.empty()) return {};
  const std::size_t width = space.parameters().size();
  std::vector<std::vector<std::int32_t>> ranked;
  std::vector<std::size_t> open;  // entries with a less frequent value left to try
  Point raw;
  for (std::size_t entry = 0; entry < width; ++entry) {
    ranked.push_back(by_frequency(kept, entry));
    raw.push_back(ranked.back().front());
    if (ranked.back().size() > 1) open.push_back(entry);
  }
  std::vector<std::size_t> rank(width, 0);
  while (true) {
    if (is_legal(space, raw)) {
      Point point = raw;
      space.canonicalise(point);
      if (is_new(point)) return point;
    }
    if (open.empty()) return {};
    const auto place = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(open.size())));
    const std::size_t entry = open[place];
    raw[entry] = ranked[entry][++rank[entry]];
    if (rank[entry] + 1 == ranked[entry].size()) open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
  }
}

std::vector<Point> confidence_sample(const DesignSpace& space, std::span<const Point> candidates,
                                     std::span<const double> values, std::size_t count, double temperature,
                                     const std::function<bool(const Point&)>& is_new, Rng& rng) {
  TW_ASSERT(candidates.size() == values.size());
  if (candidates.empty() || count == 0) return {};
  const std::vector<std::size_t> drawn = draw_without_replacement(confidence(values, temperature), count, rng);
  std::vector<Point> kept;
  SeenPoints taken;
  for (const std::size_t i : confident(values, drawn, dynamic_threshold(values, drawn))) {
    if (is_new(candidates[i]) && taken.add(candidates[i])) kept.push_back(candidates[i]);
  }
  std::vector<Point> chosen = kept;
  const auto is_free = [&](const Point& point) { return is_new(point) && !taken.contains(point); };
  for (std::size_t rejected = kept.size(); rejected < drawn.size(); ++rejected) {
    Point point = synthesise(space, kept, is_free, rng);
    if (point.empty()) continue;  // another turn of chance may find one
    taken.add(point);
    chosen.push_back(std::move(point));
  }
  return chosen;
}

}  // namespace tilewright
