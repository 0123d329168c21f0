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

void HierarchySpace::set_factors(PointView point, Factors& factors) const {
  factors = fixed_;
  for (const auto& [begin, end] : primes_) {
    for (std::size_t p = begin; p < end; ++p) {
      const Place& place = places_[static_cast<std::size_t>(point[p])];
      factors[place.level][static_cast<std::size_t>(place.axis)][meanings_[p].dim] *= meanings_[p].prime;
    }
  }
}

TensorMask HierarchySpace::keeps(PointView point, std::uint8_t level) const {
  TensorMask mask = kept_[level];
  for (std::size_t p = 0; p < meanings_.size() && meanings_[p].kind == Meaning::Kind::Keep; ++p) {
    if (meanings_[p].level == level && point[p] == 1) mask = static_cast<TensorMask>(mask | 1u << meanings_[p].dim);
  }
  return mask;
}

bool HierarchySpace::stands(const Factors& factors, const Meaning& rank) const {
  const auto& level = factors[rank.level];
  return rank.kind == Meaning::Kind::Order ? level[2][rank.dim] > 1 : level[0][rank.dim] * level[1][rank.dim] > 1;
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
  set_factors(point, factors);
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
  set_factors(point, factors);
  Mapping mapping;
  const auto dim_count = static_cast<std::uint8_t>(problem_.dims.size());
  for (std::uint8_t index = 0; index < machine_.levels.size(); ++index) {
    hierarchy::LevelMapping level;
    level.keeps = keeps(point, index);
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
