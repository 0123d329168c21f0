// Sizes of sets of sums: { a*p + b*r : p in a run of ep, r in a run of er }, which is what a window of a convolution reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tilewright::hierarchy {

// a and b are coprime and positive.
struct Window {
  std::int64_t a = 1, b = 1;
};

// Each sum counts once: a*p + b*r is met again at (p + b, r - a).
inline std::int64_t window_size(const Window& window, std::int64_t ep, std::int64_t er) {
  if (ep <= 0 || er <= 0) return 0;
  return ep * er - std::max<std::int64_t>(0, ep - window.b) * std::max<std::int64_t>(0, er - window.a);
}

// Numbers that two trains of intervals have in common. Train i starts at s_i and has n_i intervals of length l_i every
// `period`.
inline std::int64_t common_of_trains(std::int64_t period, std::int64_t s1, std::int64_t n1, std::int64_t l1, std::int64_t s2,
                                     std::int64_t n2, std::int64_t l2) {
  if (n1 <= 0 || n2 <= 0 || l1 <= 0 || l2 <= 0) return 0;
  // Intervals that touch or overlap are one.
  if (l1 >= period) l1 += (n1 - 1) * period, n1 = 1;
  if (l2 >= period) l2 += (n2 - 1) * period, n2 = 1;
  const auto overlap = [](std::int64_t x, std::int64_t lx, std::int64_t y, std::int64_t ly) {
    return std::max<std::int64_t>(0, std::min(x + lx, y + ly) - std::max(x, y));
  };
  if (n1 == 1 && n2 == 1) return overlap(s1, l1, s2, l2);
  if (n1 == 1) return common_of_trains(period, s2, n2, l2, s1, n1, l1);
  if (n2 == 1) {
    // The long interval covers whole intervals of the train but for its two ends.
    const auto floor_div = [](std::int64_t x, std::int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0); };
    const std::int64_t first = std::clamp<std::int64_t>(floor_div(s2 - s1 - l1, period), 0, n1);
    const std::int64_t last = std::clamp<std::int64_t>(floor_div(s2 + l2 - s1, period) + 1, 0, n1);
    std::int64_t sum = 0;
    if (last - first <= 4) {
      for (std::int64_t at = first; at < last; ++at) sum += overlap(s1 + at * period, l1, s2, l2);
      return sum;
    }
    for (const std::int64_t at : {first, first + 1, last - 2, last - 1}) sum += overlap(s1 + at * period, l1, s2, l2);
    return sum + (last - first - 4) * l1;
  }
  // Both are shorter than the period: interval k of one meets k + m and k + m + 1 of the other.
  const std::int64_t delta = s2 - s1;
  const std::int64_t m = delta / period - (delta % period < 0 ? 1 : 0);
  std::int64_t sum = 0;
  for (const std::int64_t shift : {m, m + 1}) {
    const std::int64_t pairs = std::min(n1, n2 + shift) - std::max<std::int64_t>(0, shift);
    if (pairs > 0) sum += pairs * overlap(shift * period, l1, delta, l2);
  }
  return sum;
}

// Numbers that two such sets have in common; the second starts at (p, r) of the first.
inline std::int64_t common_of_windows(const Window& window, std::int64_t ep1, std::int64_t er1, std::int64_t p,
                                      std::int64_t r, std::int64_t ep2, std::int64_t er2) {
  if (ep1 <= 0 || er1 <= 0 || ep2 <= 0 || er2 <= 0) return 0;
  const auto [a, b] = window;
  // By the remainder of p modulo b: with p = b*k + rest, the sum is a*rest + b*(a*k + r).
  std::int64_t sum = 0;
  for (std::int64_t rest = 0; rest < std::min(b, ep1); ++rest) {
    const std::int64_t n1 = (ep1 - rest + b - 1) / b;
    // p values of the second set with the same remainder: the first is `from`, in terms of k.
    const std::int64_t lag = ((rest - p) % b + b) % b;
    if (lag >= ep2) continue;
    const std::int64_t k = (p + lag - rest) / b;
    const std::int64_t n2 = (ep2 - lag + b - 1) / b;
    sum += common_of_trains(a, 0, n1, er1, a * k + r, n2, er2);
  }
  return sum;
}

}  // namespace tilewright::hierarchy
