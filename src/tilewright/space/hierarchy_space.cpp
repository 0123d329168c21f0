#include "tilewright/space/hierarchy_space.hpp"

#include <algorithm>
#include <bit>
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
    space_.set_mapping(point, mapping_);
    if (is_checked_ && violation(space_.restriction(), mapping_, space_.problem(), space_.machine())) {
      return {false, kRestrictedReason, {}};
    }
    return outcome_of(evaluator_.evaluate(mapping_), computes(space_.problem()), space_.machine());
  }

 private:
  const HierarchySpace& space_;
  bool is_checked_;
  hierarchy::Evaluator evaluator_;
  Mapping mapping_;
};

// Stable; for a handful of items, which std::stable_sort would take to the heap.
template <typename T, typename KeyOf>
void sort_few(T* begin, T* end, KeyOf key_of) {
  for (T* next = begin; next != end; ++next) {
    const T item = *next;
    const auto key = key_of(item);
    T* at = next;
    for (; at != begin && key < key_of(*(at - 1)); --at) *at = *(at - 1);
    *at = item;
  }
}

}  // namespace

HierarchySpace::Standing HierarchySpace::standing(PointView point) const {
  Standing standing = fixed_standing_;
  for (const auto& [begin, end] : primes_) {
    for (std::size_t p = begin; p < end; ++p) {
      const Place& place = places_[static_cast<std::size_t>(point[p])];
      std::uint16_t& dims = standing[place.level][static_cast<std::size_t>(place.axis)];
      dims = static_cast<std::uint16_t>(dims | 1u << meanings_[p].dim);
    }
  }
  return standing;
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
  const Standing standing = this->standing(point);
  for (const Group& group : groups_) {
    const auto& [along_x, along_y, in_time] = standing[group.level];
    const std::uint32_t dims = group.spatial ? along_x | along_y : in_time;
    // Ranks compare loops of one axis.
    const std::uint32_t last = group.spatial ? along_y : 0;
    InlineVector<std::size_t, hierarchy::kMostDims> ranked;
    for (std::size_t p = group.begin; p < group.end; ++p) {
      if ((dims >> meanings_[p].dim & 1) != 0) {
        ranked.push_back(p);
      } else {
        point[p] = 0;
      }
    }
    sort_few(ranked.begin(), ranked.end(), [&](std::size_t p) { return std::pair(last >> meanings_[p].dim & 1, point[p]); });
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) point[ranked[rank]] = static_cast<std::int32_t>(rank);
  }
}

// Dimensions in the order of their ranks, those of `last` after all others.
void HierarchySpace::set_order(Block& block, const Ranks& ranks, std::uint32_t last) const {
  sort_few(block.order.data(), block.order.data() + problem_.dims.size(),
           [&](std::uint8_t dim) { return std::pair(last >> dim & 1, ranks[dim]); });
}

// What does not depend on the point.
void HierarchySpace::set_outline() {
  constexpr auto kRanks = static_cast<std::int32_t>(hierarchy::kMostDims);
  const auto dim_count = static_cast<std::uint8_t>(problem_.dims.size());
  for (std::uint8_t index = 0; index < machine_.levels.size(); ++index) {
    hierarchy::LevelMapping level;
    level.keeps = kept_[index];
    for (std::uint8_t dim = 0; dim < dim_count; ++dim) {
      const auto& factors = fixed_[index];
      level.spatial.factors[dim] = factors[0][dim] * factors[1][dim];
      level.temporal.factors[dim] = factors[2][dim];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (factors[axis][dim] == 1) continue;
        fixed_standing_[index][axis] = static_cast<std::uint16_t>(fixed_standing_[index][axis] | 1u << dim);
      }
    }
    outline_.levels.push_back(level);
    // Loops of one block: those that the restriction wants inside, those with a rank, those it wants outside.
    for (const bool spatial : {false, true}) {
      const BlockRestriction& wanted = spatial ? restriction_.levels[index].spatial : restriction_.levels[index].temporal;
      Ranks& ranks = outline_ranks_[index][spatial ? 1 : 0];
      ranks.fill(kRanks);
      for (std::size_t at = 0; at < wanted.innermost.size(); ++at)
        ranks[wanted.innermost[at]] = static_cast<std::int32_t>(at);
      for (std::size_t at = 0; at < wanted.outermost.size(); ++at)
        ranks[wanted.outermost[at]] = 3 * kRanks + static_cast<std::int32_t>(at);
    }
  }
}

Mapping HierarchySpace::mapping(PointView point) const {
  Mapping mapping;
  set_mapping(point, mapping);
  return mapping;
}

void HierarchySpace::set_mapping(PointView point, Mapping& mapping) const {
  mapping = outline_;
  std::array<std::uint32_t, hierarchy::kMostLevels> along_y;
  for (std::size_t index = 0; index < mapping.levels.size(); ++index) along_y[index] = fixed_standing_[index][1];
  for (std::size_t p = 0; p < rank_begin_; ++p) {
    const Meaning& meaning = meanings_[p];
    if (meaning.kind == Meaning::Kind::Keep) {
      TensorMask& keeps = mapping.levels[meaning.level].keeps;
      if (point[p] == 1) keeps = static_cast<TensorMask>(keeps | 1u << meaning.dim);
      continue;
    }
    const Place& place = places_[static_cast<std::size_t>(point[p])];
    hierarchy::LevelMapping& level = mapping.levels[place.level];
    (place.axis == Axis::Time ? level.temporal : level.spatial).factors[meaning.dim] *= meaning.prime;
    if (place.axis == Axis::Y) along_y[place.level] |= 1u << meaning.dim;
  }
  auto ranks = outline_ranks_;
  for (const Group& group : groups_) {
    for (std::size_t p = group.begin; p < group.end; ++p)
      ranks[group.level][group.spatial ? 1 : 0][meanings_[p].dim] += point[p];
  }
  for (std::uint8_t index = 0; index < mapping.levels.size(); ++index) {
    hierarchy::LevelMapping& level = mapping.levels[index];
    set_order(level.temporal, ranks[index][0], 0);
    const bool fixed = spreads_in_fixed_order(index);
    set_order(level.spatial, ranks[index][1], fixed ? 0 : along_y[index]);
    level.spatial.split =
        fixed ? *restriction_.levels[index].spatial.split
              : static_cast<std::uint8_t>(static_cast<int>(problem_.dims.size()) - std::popcount(along_y[index]));
  }
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
        if (!take_primes(factor, primes, taken,
                         [&, first = begin](std::size_t n) { point[first + n] = static_cast<std::int32_t>(place); }))
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
