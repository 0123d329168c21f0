#include "tilewright/space/hierarchy_space.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"

namespace tilewright {

using hierarchy::Block;
using hierarchy::BlockRestriction;
using hierarchy::Extents;
using hierarchy::Mapping;
using hierarchy::TensorMask;
using hierarchy::TileNeeds;

namespace {

class HierarchyPointEvaluator final : public PointEvaluator {
 public:
  HierarchyPointEvaluator(const HierarchySpace& space, bool is_checked)
      : space_(space), is_checked_(is_checked), evaluator_(space.problem(), space.machine(), {.judge = space.judge()}) {}

  Outcome evaluate(PointView point) override {
    const Mapping mapping = space_.mapping(point);
    if (is_checked_ && violation(space_.restriction(), mapping, space_.problem(), space_.machine())) {
      return {false, kRestrictedReason, {}};
    }
    return outcome_of(evaluator_.evaluate(mapping), computes(space_.problem()), space_.machine());
  }

 private:
  const HierarchySpace& space_;
  bool is_checked_;
  hierarchy::Evaluator evaluator_;
};

}  // namespace

void HierarchySpace::set_factors(PointView point, std::size_t end, Factors& factors) const {
  const std::size_t dim_count = problem_.dims.size();
  for (std::size_t level = 0; level < machine_.levels.size(); ++level) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      std::copy_n(fixed_[level][axis].begin(), dim_count, factors[level][axis].begin());
  }
  for (const auto& [begin, stop] : primes_) {
    for (std::size_t p = begin; p < std::min(stop, end); ++p) {
      const Place& place = places_[static_cast<std::size_t>(point[p])];
      factors[place.level][static_cast<std::size_t>(place.axis)][meanings_[p].dim] *= meanings_[p].prime;
    }
  }
}

TensorMask HierarchySpace::keeps(PointView point, std::uint8_t level, std::size_t end) const {
  TensorMask mask = kept_[level];
  for (std::size_t p = 0; p < end && meanings_[p].kind == Meaning::Kind::Keep; ++p) {
    if (meanings_[p].level == level && point[p] == 1) mask = static_cast<TensorMask>(mask | 1u << meanings_[p].dim);
  }
  return mask;
}

void HierarchySpace::multiply(Extents& extents, const LevelFactors& factors) const {
  for (std::size_t d = 0; d < problem_.dims.size(); ++d) extents[d] *= factors[0][d] * factors[1][d] * factors[2][d];
}

Extents HierarchySpace::tile_of(const Factors& factors, std::size_t level) const {
  Extents extents;
  extents.fill(1);
  for (std::size_t inside = 0; inside <= level; ++inside) multiply(extents, factors[inside]);
  return extents;
}

// Levels whose tile, and those of all levels outside, have room for one more factor: bit l = level l.
std::uint32_t HierarchySpace::levels_with_room(const Factors& factors, PointView point, std::uint8_t dim, std::int64_t prime,
                                               TileNeeds::Outputs outputs) const {
  std::array<Extents, hierarchy::kMostLevels> tiles;
  for (std::size_t level = 0; level < machine_.levels.size(); ++level) {
    tiles[level] = level == 0 ? tile_of(factors, 0) : tiles[level - 1];
    if (level > 0) multiply(tiles[level], factors[level]);
  }
  std::uint32_t mask = 0;
  for (std::size_t level = machine_.levels.size(); level-- > 0;) {
    tiles[level][dim] *= prime;
    if (!needs_.fits(level, keeps(point, static_cast<std::uint8_t>(level), point.size()), tiles[level], outputs)) break;
    mask |= std::uint32_t{1} << level;
  }
  return mask;
}

// The copies in use along an axis, everywhere inside, are no more than there are.
bool HierarchySpace::has_copies(const Factors& factors, const Place& place, std::int64_t prime) const {
  const auto axis = static_cast<std::size_t>(place.axis);
  std::int64_t used = 1;
  for (std::size_t level = machine_.levels.size(); level-- > 0;) {
    for (std::size_t d = 0; d < problem_.dims.size(); ++d) used *= factors[level][axis][d];
    if (level == place.level) used *= prime;
    const std::int64_t limit = place.axis == Axis::X
                                   ? (level == 0 ? machine_.mac.mesh_x : machine_.levels[level - 1].mesh_x)
                                   : (level == 0 ? machine_.mac.mesh_y() : machine_.levels[level - 1].mesh_y());
    if (used > limit) return false;
  }
  return true;
}

bool HierarchySpace::takes(const Factors& factors, std::uint32_t room, const Place& place, std::uint8_t dim,
                           std::int64_t prime) const {
  if ((room >> place.level & 1) == 0) return false;
  const auto& level = factors[place.level];
  const std::int64_t most = restriction_of(place).at_most[dim];
  if (place.axis == Axis::Time) return most == 0 || level[2][dim] * prime <= most;
  if (most != 0 && level[0][dim] * level[1][dim] * prime > most) return false;
  if (level[place.axis == Axis::X ? 1 : 0][dim] > 1) return false;  // a loop lies along one axis
  return has_copies(factors, place, prime);
}

void HierarchySpace::prime_choices(PointView point, std::size_t parameter, Choices& choices) const {
  Factors factors;
  set_factors(point, parameter, factors);
  const Meaning& meaning = meanings_[parameter];
  const std::uint32_t room = levels_with_room(factors, point, meaning.dim, meaning.prime, TileNeeds::Outputs::Narrowest);
  choices.set_list();
  for (const std::int32_t index : allowed_[meaning.dim]) {
    if (takes(factors, room, places_[static_cast<std::size_t>(index)], meaning.dim, meaning.prime)) choices.add(index);
  }
  if (choices.count() == 0) choices.add(allowed_[meaning.dim].back());  // nothing fits any more
}

bool HierarchySpace::stands(const Factors& factors, const Meaning& rank) const {
  const auto& level = factors[rank.level];
  return rank.kind == Meaning::Kind::Order ? level[2][rank.dim] > 1 : level[0][rank.dim] * level[1][rank.dim] > 1;
}

// A level too small for one word more of what it keeps cannot keep this, too.
void HierarchySpace::keep_choices(PointView point, std::size_t parameter, Choices& choices) const {
  const Meaning& meaning = meanings_[parameter];
  Factors factors;
  set_factors(point, 0, factors);
  const auto kept = static_cast<TensorMask>(keeps(point, meaning.level, parameter) | 1u << meaning.dim);
  choices.set_below(needs_.fits(meaning.level, kept, tile_of(factors, meaning.level), TileNeeds::Outputs::Narrowest) ? 2
                                                                                                                     : 1);
}

void HierarchySpace::choices(PointView point, std::size_t parameter, Choices& choices) const {
  const Meaning& meaning = meanings_[parameter];
  if (meaning.kind == Meaning::Kind::Keep) return keep_choices(point, parameter, choices);
  if (meaning.kind == Meaning::Kind::Prime) return prime_choices(point, parameter, choices);
  Factors factors;
  set_factors(point, parameter, factors);
  if (!stands(factors, meaning)) return choices.set_below(1);
  const auto group = std::ranges::find_if(groups_, [&](const Group& g) { return parameter < g.end; });
  std::int32_t standing = 0;
  for (std::size_t p = group->begin; p < group->end; ++p) standing += stands(factors, meanings_[p]) ? 1 : 0;
  choices.set_below(standing);
}

void HierarchySpace::canonicalise(std::span<std::int32_t> point) const {
  for (const auto& [begin, end] : primes_) {
    for (std::size_t first = begin; first < end;) {
      std::size_t last = first;
      while (last < end && meanings_[last].prime == meanings_[first].prime) ++last;
      std::sort(point.begin() + static_cast<std::ptrdiff_t>(first), point.begin() + static_cast<std::ptrdiff_t>(last));
      first = last;
    }
  }
  Factors factors;
  set_factors(point, point.size(), factors);
  for (const Group& group : groups_) {
    InlineVector<std::size_t, hierarchy::kMostDims> standing;
    for (std::size_t p = group.begin; p < group.end; ++p) {
      if (stands(factors, meanings_[p])) {
        standing.push_back(p);
      } else {
        point[p] = 0;
      }
    }
    // Ranks compare loops of one axis.
    std::ranges::stable_sort(standing, {}, [&](std::size_t p) {
      return std::pair(group.spatial && factors[group.level][1][meanings_[p].dim] > 1, point[p]);
    });
    for (std::size_t rank = 0; rank < standing.size(); ++rank) point[standing[rank]] = static_cast<std::int32_t>(rank);
  }
}

// Loops of one block: those that the restriction wants inside, those with a rank, those it wants outside.
void HierarchySpace::set_order(Block& block, PointView point, std::uint8_t level, bool spatial) const {
  const BlockRestriction& wanted = spatial ? restriction_.levels[level].spatial : restriction_.levels[level].temporal;
  const auto dim_count = static_cast<std::uint8_t>(problem_.dims.size());
  std::array<std::int32_t, hierarchy::kMostDims> rank;
  rank.fill(static_cast<std::int32_t>(hierarchy::kMostDims));
  for (const Group& group : groups_) {
    if (group.level != level || group.spatial != spatial) continue;
    for (std::size_t p = group.begin; p < group.end; ++p)
      rank[meanings_[p].dim] = static_cast<std::int32_t>(hierarchy::kMostDims) + point[p];
  }
  for (std::size_t at = 0; at < wanted.innermost.size(); ++at) rank[wanted.innermost[at]] = static_cast<std::int32_t>(at);
  for (std::size_t at = 0; at < wanted.outermost.size(); ++at)
    rank[wanted.outermost[at]] = static_cast<std::int32_t>(3 * hierarchy::kMostDims + at);
  std::stable_sort(block.order.begin(), block.order.begin() + dim_count,
                   [&](std::uint8_t a, std::uint8_t b) { return rank[a] < rank[b]; });
}

Mapping HierarchySpace::mapping(PointView point) const {
  Factors factors;
  set_factors(point, point.size(), factors);
  Mapping mapping;
  const auto dim_count = static_cast<std::uint8_t>(problem_.dims.size());
  for (std::uint8_t index = 0; index < machine_.levels.size(); ++index) {
    hierarchy::LevelMapping level;
    level.keeps = keeps(point, index, point.size());
    for (std::uint8_t dim = 0; dim < dim_count; ++dim) {
      level.temporal.factors[dim] = factors[index][2][dim];
      level.spatial.factors[dim] = factors[index][0][dim] * factors[index][1][dim];
    }
    set_order(level.temporal, point, index, false);
    set_order(level.spatial, point, index, true);
    if (spreads_in_fixed_order(index)) {
      level.spatial.split = *restriction_.levels[index].spatial.split;
    } else {
      const auto lies_along_x = [&](std::uint8_t dim) { return factors[index][1][dim] == 1; };
      const auto y =
          std::stable_partition(level.spatial.order.begin(), level.spatial.order.begin() + dim_count, lies_along_x);
      level.spatial.split = static_cast<std::uint8_t>(y - level.spatial.order.begin());
    }
    mapping.levels.push_back(level);
  }
  return mapping;
}

namespace {

// Takes the primes of `factor` out of those that are still free, from `begin` on; false when one is not there.
bool take_primes(std::int64_t factor, std::span<const std::int64_t> primes, std::vector<bool>& taken,
                 const std::function<void(std::size_t)>& use) {
  for (std::size_t n = 0; n < primes.size() && factor > 1; ++n) {
    if (taken[n] || factor % primes[n] != 0) continue;
    taken[n] = true;
    factor /= primes[n];
    use(n);
  }
  return factor == 1;
}

}  // namespace

bool HierarchySpace::set_places(Point& point, const Mapping& mapping) const {
  for (std::uint8_t dim = 0; dim < problem_.dims.size(); ++dim) {
    const auto [begin, end] = primes_[dim];
    std::vector<std::int64_t> primes;
    for (std::size_t p = begin; p < end; ++p) primes.push_back(meanings_[p].prime);
    std::vector<bool> taken(primes.size());
    for (std::uint8_t level = 0; level < mapping.levels.size(); ++level) {
      const Block& spatial = mapping.levels[level].spatial;
      const auto at = std::ranges::find(spatial.order, dim) - spatial.order.begin();
      for (const Axis axis : {Axis::X, Axis::Y, Axis::Time}) {
        std::int64_t factor = axis == Axis::Time                          ? mapping.levels[level].temporal.factors[dim]
                              : (axis == Axis::X) == (at < spatial.split) ? spatial.factors[dim]
                                                                          : 1;
        const std::int64_t fixed = fixed_[level][static_cast<std::size_t>(axis)][dim];
        if (factor % fixed != 0) return false;
        factor /= fixed;
        if (factor == 1) continue;
        const auto place = std::ranges::find(places_, Place{level, axis}) - places_.begin();
        if (std::ranges::find(allowed_[dim], place) == allowed_[dim].end()) return false;
        if (!take_primes(factor, primes, taken, [&](std::size_t n) { point[begin + n] = static_cast<std::int32_t>(place); }))
          return false;
      }
    }
    if (std::ranges::find(taken, false) != taken.end()) return false;
  }
  return true;
}

std::optional<Point> HierarchySpace::point_of(const Mapping& mapping) const {
  if (mapping.levels.size() != machine_.levels.size()) return std::nullopt;
  Point point(parameters_.size(), 0);
  if (!set_places(point, mapping)) return std::nullopt;
  for (std::size_t p = 0; p < point.size(); ++p) {
    const Meaning& meaning = meanings_[p];
    const hierarchy::LevelMapping& level = mapping.levels[meaning.level];
    if (meaning.kind == Meaning::Kind::Keep) point[p] = level.keeps >> meaning.dim & 1;
    if (meaning.kind != Meaning::Kind::Order && meaning.kind != Meaning::Kind::Spread) continue;
    const Block& block = meaning.kind == Meaning::Kind::Order ? level.temporal : level.spatial;
    point[p] = static_cast<std::int32_t>(std::ranges::find(block.order, meaning.dim) - block.order.begin());
  }
  canonicalise(point);
  if (!is_legal(*this, point)) return std::nullopt;
  return canonical(this->mapping(point), problem_) == canonical(mapping, problem_) ? std::optional(point) : std::nullopt;
}

Point HierarchySpace::greedy(std::span<const Wish> wishes, std::span<const std::uint8_t> inside) const {
  Point point(parameters_.size(), 0);
  std::vector<bool> placed(parameters_.size());
  for (std::size_t p = 0; p < point.size(); ++p) {
    const Meaning& meaning = meanings_[p];
    if (meaning.kind == Meaning::Kind::Keep) {
      Choices choices;
      keep_choices(point, p, choices);
      point[p] = choices.back();
    }
    if (meaning.kind == Meaning::Kind::Prime) point[p] = allowed_[meaning.dim].back();
    if (meaning.kind == Meaning::Kind::Order || meaning.kind == Meaning::Kind::Spread) {
      point[p] = static_cast<std::int32_t>(std::ranges::find(inside, meaning.dim) - inside.begin());
    }
  }
  Factors factors;
  set_factors(point, 0, factors);
  const auto try_place = [&](std::size_t p, const Place& place) {
    const Meaning& meaning = meanings_[p];
    const auto index = static_cast<std::int32_t>(std::ranges::find(places_, place) - places_.begin());
    if (std::ranges::find(allowed_[meaning.dim], index) == allowed_[meaning.dim].end()) return false;
    const std::uint32_t room = levels_with_room(factors, point, meaning.dim, meaning.prime, TileNeeds::Outputs::Widest);
    if (!takes(factors, room, place, meaning.dim, meaning.prime)) return false;
    factors[place.level][static_cast<std::size_t>(place.axis)][meaning.dim] *= meaning.prime;
    point[p] = index;
    placed[p] = true;
    return true;
  };
  for (const Wish& wish : wishes) {
    if (wish.dim >= primes_.size() || wish.level >= machine_.levels.size()) continue;
    std::int64_t factor = 1;
    for (std::size_t p = primes_[wish.dim].first; p < primes_[wish.dim].second; ++p) {
      if (placed[p] || (wish.most != 0 && factor * meanings_[p].prime > wish.most)) continue;
      const auto along = [&](Axis axis) { return try_place(p, {wish.level, axis}); };
      const bool done = wish.where == Wish::Where::Time ? along(Axis::Time)
                        : wish.where == Wish::Where::X  ? along(Axis::X)
                        : wish.where == Wish::Where::Y  ? along(Axis::Y)
                                                        : along(Axis::X) || along(Axis::Y);
      if (done) factor *= meanings_[p].prime;
    }
  }
  canonicalise(point);
  repair(*this, point);
  return point;
}

std::unique_ptr<PointEvaluator> HierarchySpace::evaluator() const {
  return std::make_unique<HierarchyPointEvaluator>(*this, is_checked_);
}

double HierarchySpace::value(std::size_t, std::int32_t index) const { return index; }

std::string HierarchySpace::value_name(std::size_t parameter, std::int32_t index) const {
  const Meaning& meaning = meanings_[parameter];
  if (meaning.kind == Meaning::Kind::Keep) return index == 1 ? "keep" : "bypass";
  if (meaning.kind != Meaning::Kind::Prime) return fmt::format("{}", index);
  const Place& place = places_[static_cast<std::size_t>(index)];
  constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "time"};
  return fmt::format("{}.{}", machine_.levels[place.level].name, kAxes[static_cast<std::size_t>(place.axis)]);
}

std::string HierarchySpace::reason_name(std::uint8_t reason) const { return hierarchy_reason(reason, machine_); }

double HierarchySpace::log10_size() const {
  const auto log10_factorial = [](double n) { return std::lgamma(n + 1) / std::log(10.0); };
  double total = 0;
  for (std::size_t p = 0; p < meanings_.size() && meanings_[p].kind == Meaning::Kind::Keep; ++p) total += std::log10(2.0);
  for (const auto& [begin, end] : primes_) {
    for (std::size_t first = begin; first < end;) {
      std::size_t last = first;
      while (last < end && meanings_[last].prime == meanings_[first].prime) ++last;
      // Multisets of blocks.
      const double count = static_cast<double>(last - first),
                   blocks = static_cast<double>(allowed_[meanings_[first].dim].size());
      total += log10_factorial(count + blocks - 1) - log10_factorial(count) - log10_factorial(blocks - 1);
      first = last;
    }
  }
  for (const Group& group : groups_) total += log10_factorial(static_cast<double>(group.end - group.begin));
  return total;
}

}  // namespace tilewright
