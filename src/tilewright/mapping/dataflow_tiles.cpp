// MAESTRO's counting decides what is exact (docs/cost_model.md):
//
// - a spatial tile that does not divide its dimension loses or repeats work, so spatial tiles are 1 or a divisor;
// - when outputs are spread over units and the last round has a single unit at work, its inputs are counted as outputs, so
//   such rounds are avoided;
// - a tile cut once more inside a cluster may be ragged only if the inner tile is 1;
// - inside a tile, outputs are counted as if the stride were 1, so strided rows and columns come one at a time unless
// several
//   are asked for;
// - how often a step occurs is counted in 31 bits.
//
// For every cluster size worth trying, the smallest exact tiles grow for as long as the machine gains from it.
#include "tilewright/mapping/dataflow_tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <tuple>

#include "tilewright/mapping/dataflow_estimate.hpp"

namespace tilewright {
namespace {

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t divisor = 1; divisor * divisor <= number; ++divisor) {
    if (number % divisor != 0) continue;
    small.push_back(divisor);
    if (divisor * divisor != number) large.push_back(number / divisor);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t best = 1;
  for (const std::int64_t divisor : divisors_of(number)) {
    if (divisor <= most) best = divisor;
  }
  return best;
}

class Chooser {
 public:
  Chooser(const RoleLoops& loops, const TileRequest& request, const Accelerator& accelerator)
      : loops_(loops),
        request_(request),
        accelerator_(accelerator),
        two_levels_(!request.inner_parallel.empty()),
        estimator_(loops, accelerator, two_levels_) {}

  std::vector<DataflowTiles> choices() const {
    std::vector<TileCandidate> candidates;
    for (const std::int64_t size : cluster_sizes()) candidates.push_back(with_cluster(size));
    std::ranges::stable_sort(candidates, {}, [&](const TileCandidate& candidate) { return score(candidate); });
    std::vector<DataflowTiles> all;
    for (const TileCandidate& candidate : candidates) {
      if (std::ranges::find(all, candidate.tiles) == all.end()) all.push_back(candidate.tiles);
    }
    return all;
  }

 private:
  std::int64_t extent(LoopRole role) const { return loops_[role].extent; }

  bool is_preferred(std::int64_t cluster_size) const {
    if (!two_levels_) return cluster_size == 1;
    return !accelerator_.clusters.empty() && accelerator_.clusters.back() == cluster_size;
  }

  // The cluster the machine is built in first, then others worth trying. A dataflow of one level has no clusters; where the
  // machine cannot feed all units, it gets some in which a single unit works.
  std::vector<std::int64_t> cluster_sizes() const {
    std::vector<std::int64_t> sizes;
    if (!two_levels_) sizes.push_back(1);
    if (two_levels_ && !accelerator_.clusters.empty()) sizes.push_back(accelerator_.clusters.back());
    constexpr std::int64_t kAllUpTo = 64;
    std::set<std::int64_t> others;
    for (std::int64_t size = 1; size <= std::min(kAllUpTo, accelerator_.pes); ++size) others.insert(size);
    for (const std::int64_t size : divisors_of(accelerator_.pes)) others.insert(size);
    for (const LoopRole role : request_.inner_parallel) {
      if (extent(role) > 0) others.insert(std::min(extent(role), accelerator_.pes));
    }
    sizes.insert(sizes.end(), others.begin(), others.end());
    return sizes;
  }

  // The first wish that has more than one index to spread, or else the first that is there at all.
  std::optional<LoopRole> pick(const std::vector<LoopRole>& wishes, std::optional<LoopRole> taken) const {
    std::optional<LoopRole> only_one;
    for (const LoopRole role : wishes) {
      if (role == taken || extent(role) == 0) continue;
      // Inside a cluster a strided row would have to come several outputs at a time.
      if (extent(role) > 1 && !(taken && loops_.single(role))) return role;
      if (!only_one) only_one = role;
    }
    return only_one;
  }

  PerRole<std::int64_t> smallest_tiles() const {
    PerRole<std::int64_t> tiles{};
    for (const LoopRole role : kRoles) {
      const bool whole = role == LoopRole::FilterRow || role == LoopRole::FilterColumn || extent(role) == 0;
      tiles[index(role)] = whole ? extent(role) : 1;
    }
    return tiles;
  }

  // Indices of `role` that fill the lanes of a processing element, as far as they fit its L1.
  std::int64_t lanes_of(LoopRole role) const {
    if (loops_.slides(role)) return 1;
    std::int64_t lanes = largest_divisor(extent(role), accelerator_.simd_lanes);
    for (; lanes > 1; lanes = largest_divisor(extent(role), lanes - 1)) {
      PerRole<std::int64_t> tiles = smallest_tiles();
      tiles[index(role)] = lanes;
      if (estimator_.l1_need(tiles) <= static_cast<double>(accelerator_.l1.value)) break;
    }
    return lanes;
  }

  static bool counted_right(std::int64_t positions, std::int64_t units) {
    return positions <= units || positions % units != 1;
  }

  // Gives level 0 its parallel loop. Where the last round would be miscounted, tiles of several outputs or a few resting
  // clusters avoid it, whichever is faster.
  void spread_outside(DataflowTiles& tiles, LoopRole role) const {
    tiles.outer_parallel = role;
    const std::int64_t units = accelerator_.pes / tiles.cluster_size;
    std::int64_t tile = two_levels_ ? 1 : lanes_of(role);
    if (loops_.slides(role) && !counted_right(extent(role), units)) {
      std::int64_t fewest_turns = std::numeric_limits<std::int64_t>::max();
      for (const std::int64_t size : divisors_of(loops_.single(role) ? 1 : extent(role))) {
        const std::int64_t turns = ceil_div(extent(role) / size, units) * size;
        if (!counted_right(extent(role) / size, units) || turns >= fewest_turns) continue;
        fewest_turns = turns;
        tile = size;
      }
      std::int64_t fewer = units;
      while (!counted_right(extent(role), accelerator_.pes / (accelerator_.pes / fewer))) --fewer;
      if (ceil_div(extent(role), fewer) < fewest_turns) {
        tiles.cluster_size = accelerator_.pes / fewer;
        tile = 1;
      }
    }
    tiles.outer[index(role)] = tile;
    if (!two_levels_) tiles.inner[index(role)] = tile;
  }

  TileCandidate with_cluster(std::int64_t size) const {
    TileCandidate candidate;
    DataflowTiles& tiles = candidate.tiles;
    tiles.cluster_size = size;
    tiles.outer = tiles.inner = smallest_tiles();
    spread_outside(tiles, *pick(request_.outer_parallel, std::nullopt));
    if (two_levels_) {
      const LoopRole role = *pick(request_.inner_parallel, tiles.outer_parallel);
      const std::int64_t lanes = lanes_of(role);
      const std::int64_t whole = loops_.single(role) ? 1 : extent(role);
      tiles.inner_parallel = role;
      tiles.inner[index(role)] = lanes;
      tiles.outer[index(role)] = lanes > 1 ? lanes * largest_divisor(whole / lanes, size)
                                           : ceil_div(whole, ceil_div(whole, size));  // rounds of equal size
    } else if (tiles.cluster_size > 1) {
      tiles.inner_parallel = pick(request_.outer_parallel, tiles.outer_parallel);
    }
    estimator_.measure(candidate);
    shrink_to_l2(candidate);
    grow_held(candidate);
    grow(candidate);
    idle_for_bandwidth(candidate);
    grow_for_counter(candidate);
    return candidate;
  }

  TileCandidate with_tile(TileCandidate candidate, LoopRole role, std::int64_t size) const {
    const bool held = std::ranges::find(request_.held, role) != request_.held.end();
    const bool cut = two_levels_ && (candidate.is_parallel(role) || !held);
    candidate.tiles.outer[index(role)] = size;
    if (!cut) candidate.tiles.inner[index(role)] = size;
    estimator_.measure(candidate);
    return candidate;
  }

  // The candidate with larger tiles of `role`, smallest first: half as many steps, a quarter, …, one.
  std::vector<TileCandidate> larger(const TileCandidate& candidate, LoopRole role) const {
    if (extent(role) == 0 || loops_.single(role)) return {};
    if (role == candidate.tiles.outer_parallel || (two_levels_ && role == candidate.tiles.inner_parallel))
      return larger_parallel(candidate, role);
    std::vector<TileCandidate> all;
    for (std::int64_t steps = ceil_div(extent(role), candidate.tile(role)); steps > 1;) {
      steps = ceil_div(steps, 2);
      all.push_back(with_tile(candidate, role, ceil_div(extent(role), steps)));
    }
    return all;
  }

  // Only tiles that leave no unit without work.
  std::vector<TileCandidate> larger_parallel(const TileCandidate& candidate, LoopRole role) const {
    std::vector<TileCandidate> all;
    const bool outside = role == candidate.tiles.outer_parallel;
    const std::int64_t units = outside ? accelerator_.pes / candidate.tiles.cluster_size : candidate.tiles.cluster_size;
    const std::int64_t least = candidate.tiles.inner[index(role)];
    for (const std::int64_t size : divisors_of(extent(role))) {
      if (size <= candidate.tile(role) || size % least != 0) continue;
      const std::int64_t positions = outside ? extent(role) / size : size / least;
      if (positions < units || (loops_.slides(role) && !counted_right(positions, units))) continue;
      all.push_back(with_tile(candidate, role, size));
    }
    return all;
  }

  // The candidate with fewer and fewer units of a cluster at work, down to one.
  std::vector<TileCandidate> idler(const TileCandidate& candidate) const {
    std::vector<TileCandidate> all;
    if (!two_levels_) return all;
    const LoopRole role = *candidate.tiles.inner_parallel;
    const std::int64_t lanes = candidate.tiles.inner[index(role)];
    std::int64_t busy = std::min(candidate.tile(role) / lanes, candidate.tiles.cluster_size);
    while (busy > 1) {
      busy -= std::max<std::int64_t>(1, busy / 16);
      if (lanes > 1 && extent(role) / lanes % busy != 0) continue;
      all.push_back(with_tile(candidate, role, lanes * busy));
    }
    return all;
  }

  void shrink_to_l2(TileCandidate& candidate) const {
    for (const TileCandidate& next : idler(candidate)) {
      if (candidate.l2 <= static_cast<double>(accelerator_.l2.value)) return;
      candidate = next;
    }
  }

  void grow_held(TileCandidate& candidate) const {
    constexpr std::int64_t kMostHeld = 16;  // beyond this, what L1 saves is small beside what it costs
    for (const LoopRole role : request_.held) {
      for (const TileCandidate& next : larger(candidate, role)) {
        if (next.tile(role) <= kMostHeld && estimator_.fits_buffers(next)) candidate = next;
      }
    }
  }

  // Larger tiles load less for every MAC, and hide what a cluster waits for its first data.
  void grow(TileCandidate& candidate) const {
    const double start_up =
        two_levels_ ? 16.0 * static_cast<double>(std::max<std::int64_t>(1, accelerator_.noc.latency())) : 0;
    while (!estimator_.is_fed(candidate) || candidate.cycles < start_up) {
      std::optional<TileCandidate> next = best_growth(candidate, request_.grown);
      if (!next && !estimator_.is_fed(candidate)) next = best_growth(candidate, parallel_roles(candidate));
      if (!next) return;
      candidate = *next;
    }
  }

  std::vector<LoopRole> parallel_roles(const TileCandidate& candidate) const {
    if (!two_levels_) return {candidate.tiles.outer_parallel};
    return {*candidate.tiles.inner_parallel, candidate.tiles.outer_parallel};
  }

  std::optional<TileCandidate> best_growth(const TileCandidate& candidate, const std::vector<LoopRole>& roles) const {
    std::optional<TileCandidate> best;
    double best_gain = 0;
    for (const LoopRole role : roles) {
      for (const TileCandidate& next : larger(candidate, role)) {
        const double gain = gain_of(candidate, next, role);
        if (gain <= best_gain) continue;
        best_gain = gain;
        best = next;
      }
    }
    return best;
  }

  // Bandwidth or start-up spared for every byte more of L2; 0 for a step that is not worth taking.
  double gain_of(const TileCandidate& now, const TileCandidate& next, LoopRole role) const {
    if (!estimator_.fits_buffers(next) || (estimator_.is_fed(now) && !estimator_.is_fed(next))) return 0;
    if (now.is_parallel(role) && next.runtime > now.runtime) return 0;
    const double spared = estimator_.is_fed(now) ? 1 / now.cycles - 1 / next.cycles : now.bandwidth - next.bandwidth;
    return spared / std::max(1.0, next.l2 - now.l2);
  }

  // Units the bandwidth cannot feed may as well rest.
  void idle_for_bandwidth(TileCandidate& candidate) const {
    for (const TileCandidate& next : idler(candidate)) {
      if (estimator_.is_fed(candidate)) return;
      if (next.bandwidth < candidate.bandwidth) candidate = next;
    }
  }

  void grow_for_counter(TileCandidate& candidate) const {
    while (candidate.steps > std::numeric_limits<std::int32_t>::max()) {
      std::optional<TileCandidate> fewest;
      for (const LoopRole role : kRoles) {
        const std::vector<TileCandidate> next = larger(candidate, role);
        if (!next.empty() && (!fewest || next.front().steps < fewest->steps)) fewest = next.front();
      }
      if (!fewest) return;
      candidate = *fewest;
    }
  }

  // The machine as it is built goes before a faster one regrouped; the first of equals wins.
  std::tuple<bool, bool, bool, double, std::int64_t> score(const TileCandidate& candidate) const {
    const std::int64_t size = candidate.tiles.cluster_size;
    return {!estimator_.fits_buffers(candidate), !estimator_.fits(candidate), !is_preferred(size), candidate.runtime,
            std::abs(size - request_.cluster_size)};
  }

  const RoleLoops& loops_;
  const TileRequest& request_;
  const Accelerator& accelerator_;
  bool two_levels_;
  TileEstimator estimator_;
};

}  // namespace

std::vector<DataflowTiles> tiles_by_cluster(const RoleLoops& loops, const TileRequest& request,
                                            const Accelerator& accelerator) {
  return Chooser(loops, request, accelerator).choices();
}

std::vector<DataflowTiles> neighbours(const DataflowTiles& tiles, const RoleLoops& loops, const TileRequest& request) {
  const bool two_levels = !request.inner_parallel.empty();
  std::vector<DataflowTiles> all;
  for (const LoopRole role : kRoles) {
    const std::int64_t extent = loops[role].extent;
    if (extent < 2 || role == LoopRole::FilterRow || role == LoopRole::FilterColumn || loops.single(role)) continue;
    const bool held = std::ranges::find(request.held, role) != request.held.end();
    const bool inside = tiles.inner_parallel == role;
    const bool cut = two_levels && (role == tiles.outer_parallel || inside || !held);
    std::set<std::int64_t> sizes;
    for (const std::int64_t size : divisors_of(extent)) sizes.insert(size);
    for (std::int64_t steps = 1; steps < extent; steps *= 2) sizes.insert(ceil_div(extent, steps));
    for (std::int64_t rounds = 1; inside && rounds <= 4; ++rounds) {  // as many indices as units, or a few times as many
      const std::int64_t most = std::min(extent, rounds * tiles.cluster_size * tiles.inner[index(role)]);
      sizes.insert(ceil_div(extent, ceil_div(extent, most)));
    }
    for (const std::int64_t size : sizes) {
      DataflowTiles next = tiles;
      next.outer[index(role)] = size;
      if (!cut) next.inner[index(role)] = size;
      if (size != tiles.outer[index(role)] && size >= next.inner[index(role)]) all.push_back(next);
    }
  }
  return all;
}

}  // namespace tilewright
