#include "tilewright/optimum/flow.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace tilewright::optimum {

using hierarchy::Extents;
using hierarchy::Judge;
using hierarchy::Shift;

Flow::Flow(const hierarchy::Problem& problem, std::size_t tensor, Judge judge)
    : judge_(judge), view_(problem.tensors[tensor], problem.dims.size()), dim_count_(problem.dims.size()) {
  std::uint32_t alone = 0, crowded = 0;
  for (const auto& terms : problem.tensors[tensor].ranks) {
    for (const hierarchy::Term& term : terms) {
      const std::uint32_t bit = std::uint32_t{1} << term.dim;
      const bool again = ((alone | crowded) & bit) != 0;
      plain_ = plain_ && terms.size() == 1 && !again && term.coefficient == 1;
      if (terms.size() == 1 && !again) {
        alone |= bit;
      } else {
        crowded |= bit;
      }
    }
    if (terms.empty() || judge == Judge::Timeloop) continue;
    Rank rank;
    rank.size = terms.size();
    std::int64_t divisor = 0;
    for (const hierarchy::Term& term : terms) divisor = std::gcd(divisor, term.coefficient);
    for (std::size_t at = 0; at < terms.size(); ++at) {
      rank.dims[at] = terms[at].dim;
      rank.coefficient[at] = terms[at].coefficient / divisor;
    }
    if (rank.size == 2 && rank.coefficient[1] > rank.coefficient[0]) {
      std::swap(rank.coefficient[0], rank.coefficient[1]);
      std::swap(rank.dims[0], rank.dims[1]);
    }
    ranks_.push_back(rank);
  }
  certain_ = alone & ~crowded & view_.relevant;
  slides_ =
      judge == Judge::Timeloop ? view_.slides : std::ranges::any_of(ranks_, [](const Rank& rank) { return rank.size > 1; });
}

double Flow::tile(const Extents& extents) const {
  if (judge_ == Judge::Timeloop) return static_cast<double>(view_.words(extents));
  std::int64_t words = 1;
  for (const Rank& rank : ranks_) {
    words *= rank.size == 1 ? extents[rank.dims[0]]
                            : hierarchy::window_size({rank.coefficient[0], rank.coefficient[1]}, extents[rank.dims[0]],
                                                     extents[rank.dims[1]]);
  }
  return static_cast<double>(words);
}

Shift Flow::shift(std::uint8_t dim, std::int64_t step, const Extents& inside) const {
  Shift shift{};
  for (std::size_t rank = 0; rank < view_.rank_count; ++rank) {
    shift[rank] = view_.move[dim][rank] * step;
    for (std::size_t other = 0; other < dim_count_; ++other) shift[rank] -= view_.move[other][rank] * inside[other];
  }
  return shift;
}

bool Flow::is_zero(const Shift& shift) const {
  return std::all_of(shift.begin(), shift.begin() + static_cast<std::ptrdiff_t>(view_.rank_count),
                     [](std::int64_t s) { return s == 0; });
}

bool Flow::same(const Shift& a, const Shift& b) const {
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(view_.rank_count), b.begin());
}

double Flow::difference(const Extents& tile, double full, const Shift& shift) const {
  Shift sides;
  view_.sides(tile, sides);
  std::int64_t overlap = 1;
  for (std::size_t rank = 0; rank < view_.rank_count; ++rank)
    overlap *= std::max<std::int64_t>(0, sides[rank] - std::abs(shift[rank]));
  return full - static_cast<double>(overlap);
}

double Flow::fresh(const Extents& tile, double full, std::uint8_t dim, std::int64_t step, const Extents& inside) const {
  const auto moved = [&](std::uint8_t along) { return (along == dim ? step : 0) - inside[along]; };
  std::int64_t common = 1;
  for (const Rank& rank : ranks_) {
    const std::uint8_t p = rank.dims[0];
    if (rank.size == 1) {
      common *= std::max<std::int64_t>(0, tile[p] - std::abs(moved(p)));
    } else {
      const std::uint8_t r = rank.dims[1];
      common *= hierarchy::common_of_windows({rank.coefficient[0], rank.coefficient[1]}, tile[p], tile[r], moved(p),
                                             moved(r), tile[p], tile[r]);
    }
    if (common == 0) break;
  }
  return full - static_cast<double>(common);
}

Sums sums_of(std::span<const std::pair<std::int64_t, std::int64_t>> loops) {
  std::vector<std::int64_t> sums(1, 0);
  std::int64_t movers = 0, still = 1, product = 1;
  for (const auto& [trips, move] : loops) {
    product *= trips;
    if (move == 0) still *= trips;
    movers += move != 0 ? 1 : 0;
  }
  if (movers < 2) return {product / still, still};
  for (const auto& [trips, move] : loops) {
    if (move == 0) continue;
    const std::size_t count = sums.size();
    for (std::int64_t trip = 1; trip < trips; ++trip) {
      for (std::size_t at = 0; at < count; ++at) sums.push_back(sums[at] + trip * move);
    }
  }
  std::ranges::sort(sums);
  Sums result{0, 0};
  for (std::size_t first = 0; first < sums.size();) {
    std::size_t last = first;
    while (last < sums.size() && sums[last] == sums[first]) ++last;
    ++result.distinct;
    result.most_alike = std::max(result.most_alike, static_cast<std::int64_t>(last - first) * still);
    first = last;
  }
  return result;
}

Sharing sharing_of(const Flow& flow, const hierarchy::Loops& loops, std::size_t first, std::size_t last,
                   std::uint32_t unknown) {
  const hierarchy::TensorView& view = flow.view();
  Sharing sharing;
  std::uint32_t shared_dims = 0;  // in more than one rank: ranks do not move by themselves
  for (std::size_t level = first; level <= last && level < loops.level_count; ++level) {
    for (const hierarchy::Loop& loop : loops.spatial[level].loops) {
      sharing.copies *= static_cast<double>(loop.trips);
      if (!flow.is_relevant(loop.dim)) sharing.largest *= static_cast<double>(loop.trips);
      int ranks = 0;
      for (std::size_t rank = 0; rank < view.rank_count; ++rank) ranks += view.move[loop.dim][rank] != 0 ? 1 : 0;
      if (ranks > 1) shared_dims |= std::uint32_t{1} << loop.dim;
    }
  }
  if (shared_dims != 0) return {sharing.copies, 1, sharing.copies};
  std::vector<std::pair<std::int64_t, std::int64_t>> moves;
  for (std::size_t rank = 0; rank < view.rank_count; ++rank) {
    moves.clear();
    // Sums of two sets are at least as many as both together but one, and no sum is met twice along one loop.
    std::int64_t more = 0, all = 1, longest = 1;
    for (std::size_t level = first; level <= last && level < loops.level_count; ++level) {
      for (const hierarchy::Loop& loop : loops.spatial[level].loops) {
        const std::int64_t move = view.move[loop.dim][rank] * loop.step;
        if (move == 0) continue;
        all *= loop.trips;
        longest = std::max(longest, loop.trips);
        if ((unknown >> level & 1) == 0) {
          moves.emplace_back(loop.trips, move);
        } else {
          more += loop.trips - 1;
        }
      }
    }
    const Sums sums = sums_of(moves);
    sharing.groups *= static_cast<double>(sums.distinct + more);
    sharing.largest *= static_cast<double>(more > 0 ? all / longest : sums.most_alike);
  }
  return sharing;
}

}  // namespace tilewright::optimum
