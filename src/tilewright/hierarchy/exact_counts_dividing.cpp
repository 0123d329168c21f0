// The same counts where every factor divides: all tiles are whole, and all moments of an advance look alike.
#include <algorithm>

#include "tilewright/hierarchy/exact_counts.hpp"

namespace tilewright::hierarchy {

bool ExactCounter::is_exact(const Loops& loops) const {
  const Extents& whole = loops.boundary[loops.level_count - 1];
  return std::equal(bounds_.begin(), bounds_.end(), whole.begin());
}

// Copies of what lies inside `first_level`; with `share`, those under one copy of the parent that want the same are one.
double ExactCounter::exact_copies(const View& view, const Loops& loops, std::size_t first_level, std::size_t parent,
                                  bool share) {
  double copies = 1;
  std::uint32_t spread_within = 0;
  for (std::size_t level = first_level; level < loops.level_count; ++level) {
    for (const Loop& loop : loops.spatial[level].loops) {
      if (level <= parent) spread_within |= std::uint32_t{1} << loop.dim;
      const bool shared = share && level <= parent && (view.relevant >> loop.dim & 1) == 0;
      if (!shared) copies *= static_cast<double>(loop.trips);
    }
  }
  if (!share) return copies;
  for (const Rank& rank : view.ranks) {
    if (rank.dims.size() < 2) continue;
    if ((spread_within >> rank.dims[0] & 1) == 0 || (spread_within >> rank.dims[1] & 1) == 0) continue;
    std::vector<std::int64_t>& sums = numbers_;
    sums.assign(1, 0);
    for (std::size_t level = first_level; level <= parent && level < loops.level_count; ++level) {
      for (const Loop& loop : loops.spatial[level].loops) {
        const std::size_t side = loop.dim == rank.dims[0] ? 0 : 1;
        if (loop.dim != rank.dims[side]) continue;
        const std::size_t count = sums.size();
        for (std::int64_t trip = 1; trip < loop.trips; ++trip) {
          for (std::size_t at = 0; at < count; ++at) sums.push_back(sums[at] + trip * loop.step * rank.coefficient[side]);
        }
      }
    }
    const double all = static_cast<double>(sums.size());
    std::ranges::sort(sums);
    copies = copies / all * static_cast<double>(std::unique(sums.begin(), sums.end()) - sums.begin());
  }
  return copies;
}

// Words that enter the tiles of one copy over the whole run.
double ExactCounter::exact_passes(const View& view, const Loops& loops, std::size_t level) const {
  const Extents& extents = loops.boundary[level];
  Extents last{};  // position of the loops inside the one that advances, at their last trip
  const auto common = [&](const Loop* advance) {
    std::int64_t words = 1;
    const auto moved = [&](std::uint8_t dim) {
      return (advance != nullptr && advance->dim == dim ? advance->step : 0) - last[dim];
    };
    for (const Rank& rank : view.ranks) {
      const std::uint8_t p = rank.dims[0];
      if (rank.dims.size() == 1) {
        words *= std::max<std::int64_t>(0, extents[p] - std::abs(moved(p)));
      } else {
        const std::uint8_t r = rank.dims[1];
        words *= common_of_windows({rank.coefficient[0], rank.coefficient[1]}, extents[p], extents[r], moved(p), moved(r),
                                   extents[p], extents[r]);
      }
      if (words == 0) break;
    }
    return static_cast<double>(words);
  };
  const double full = common(nullptr);
  double outer = 1;  // trips of all loops outside
  const std::size_t first = loops.first[level + 1];
  for (std::size_t at = first; at < loops.temporal.size(); ++at) outer *= static_cast<double>(loops.temporal[at].trips);
  double words = full;
  bool moved = false;  // a loop inside moves the tensor
  for (std::size_t at = first; at < loops.temporal.size(); ++at) {
    const Loop& loop = loops.temporal[at];
    outer /= static_cast<double>(loop.trips);
    const bool moves = (view.relevant >> loop.dim & 1) != 0;
    if (moves || moved) words += static_cast<double>(loop.trips - 1) * outer * (full - common(&loop));
    if (moves) last[loop.dim] += (loop.trips - 1) * loop.step;
    moved = moved || moves;
  }
  return words;
}

}  // namespace tilewright::hierarchy
