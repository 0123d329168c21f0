// What loops and copies do along one dimension: where the copies stand, and the moments at which a loop moves on.
#include <algorithm>

#include "tilewright/hierarchy/exact_counts.hpp"

namespace tilewright::hierarchy {
namespace {

void spread(std::vector<std::int64_t>& offsets, const Loop& loop, std::int64_t bound) {
  const std::size_t count = offsets.size();
  for (std::int64_t trip = 1; trip < loop.trips && trip * loop.step < bound; ++trip) {
    for (std::size_t at = 0; at < count; ++at) {
      if (offsets[at] + trip * loop.step < bound) offsets.push_back(offsets[at] + trip * loop.step);
    }
  }
}

}  // namespace

void ExactCounter::set_axes(const Loops& loops, std::size_t first_level, std::size_t parent, const Extents& extents) {
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) {
    Axis& axis = axes_[dim];
    axis.loops.clear();
    axis.numbers.clear();
    axis.bound = bounds_[dim];
    axis.extent = std::min(extents[dim], axis.bound);
    axis.exact = loops.boundary[loops.level_count - 1][dim] == axis.bound;
    axis.within.assign(1, 0);
    axis.above.assign(1, 0);
    axis.within_count = axis.above_count = 1;
  }
  const std::size_t first = first_level < loops.level_count ? loops.first[first_level] : loops.temporal.size();
  for (std::size_t at = first; at < loops.temporal.size(); ++at) {
    Axis& axis = axes_[loops.temporal[at].dim];
    axis.loops.push_back(loops.temporal[at]);
    axis.numbers.push_back(static_cast<std::uint8_t>(at));
  }
  for (std::size_t level = first_level; level < loops.level_count; ++level) {
    for (const Loop& loop : loops.spatial[level].loops) {
      Axis& axis = axes_[loop.dim];
      (level <= parent ? axis.within_count : axis.above_count) *= loop.trips;
      spread(level <= parent ? axis.within : axis.above, loop, axis.bound);
    }
  }
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) {
    Axis& axis = axes_[dim];
    if (axis.exact) continue;
    axis.within_count = static_cast<std::int64_t>(axis.within.size());
    axis.above_count = static_cast<std::int64_t>(axis.above.size());
    axis.offsets.clear();
    for (const std::int64_t above : axis.above) {
      for (const std::int64_t within : axis.within) {
        if (above + within < axis.bound) axis.offsets.push_back(above + within);
      }
    }
  }
}

// Moments at which loop `advance` moves on, as one dimension sees them. Those at which no copy meets the bound look alike.
void ExactCounter::set_contexts(std::uint8_t dim, int advance, const Loops& loops, std::vector<Context>& into) const {
  const Axis& axis = axes_[dim];
  into.clear();
  if (advance == kFirstPass) {
    into.push_back({1, 0, -1});
    return;
  }
  std::size_t from = 0;  // the loops from here on keep their trips, or are the one that advances
  if (advance != kEveryStep) {
    while (from < axis.loops.size() && static_cast<int>(axis.numbers[from]) < advance) ++from;
  }
  const bool own = advance >= 0 && loops.temporal[static_cast<std::size_t>(advance)].dim == dim;
  std::int64_t last_inside = 0;
  for (std::size_t at = 0; at < from; ++at) last_inside += (axis.loops[at].trips - 1) * axis.loops[at].step;
  const auto context = [&](double weight, std::int64_t now) {
    std::int64_t then = -1;
    if (own) then = now - axis.loops[from].step + last_inside;
    if (!own && advance != kEveryStep)
      then = now + last_position(axis.loops, from, std::min(last_inside, axis.bound - 1 - now));
    into.push_back({weight, now, then});
  };
  double combinations = 1;
  for (std::size_t at = from; at < axis.loops.size(); ++at) combinations *= static_cast<double>(axis.loops[at].trips);
  if (axis.exact) {
    const double trips = own ? static_cast<double>(axis.loops[from].trips) : 1;
    context(own ? combinations / trips * (trips - 1) : combinations, own ? axis.loops[from].step : 0);
    return;
  }
  // Numbers of combinations at which some copy works at the bound; between them, copies work in full or not at all.
  std::int64_t begin = 0;
  const std::int64_t trips = own ? axis.loops[from].trips : 0;
  const auto count_between = [&](std::int64_t first, std::int64_t end) {  // where the own loop is not at its first trip
    if (!own) return end - first;
    return (end - first) - ((end + trips - 1) / trips - (first + trips - 1) / trips);
  };
  std::vector<std::int64_t>& numbers = numbers_;
  numbers.clear();
  for (const std::int64_t offset : axis.offsets)
    numbers.push_back(last_number(axis.loops, from, axis.loops.size(), axis.bound - 1 - offset));
  std::ranges::sort(numbers);
  for (const std::int64_t number : numbers) {
    if (number < begin) continue;
    const std::int64_t alike = count_between(begin, number);
    if (alike > 0) {
      std::int64_t one = begin;
      if (own && one % trips == 0) ++one;
      context(static_cast<double>(alike), position_of(axis.loops, from, one));
    }
    if (count_between(number, number + 1) > 0) context(1, position_of(axis.loops, from, number));
    begin = number + 1;
  }
}

double ExactCounter::moments(std::uint8_t dim, int advance, const Loops& loops) const {
  const Axis& axis = axes_[dim];
  if (advance == kFirstPass) return 1;
  std::size_t from = 0;
  while (advance != kEveryStep && from < axis.loops.size() && static_cast<int>(axis.numbers[from]) < advance) ++from;
  const double count = static_cast<double>(last_number(axis.loops, from, axis.loops.size(), axis.bound - 1)) + 1;
  const bool own = advance >= 0 && loops.temporal[static_cast<std::size_t>(advance)].dim == dim;
  if (!own) return count;
  return count - static_cast<double>(last_number(axis.loops, from + 1, axis.loops.size(), axis.bound - 1)) - 1;
}

}  // namespace tilewright::hierarchy
