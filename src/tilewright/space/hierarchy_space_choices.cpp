// Masks: what is decided so far, and what fits beside it.
#include <algorithm>

#include "tilewright/space/hierarchy_space.hpp"

namespace tilewright {

using hierarchy::Extents;
using hierarchy::TensorMask;
using hierarchy::TileNeeds;

// What is there before the first parameter is decided.
void HierarchySpace::set_undecided() {
  const std::size_t level_count = machine_.levels.size(), dim_count = problem_.dims.size();
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    for (const auto& rank : problem_.tensors[tensor].ranks) {
      for (const hierarchy::Term& term : rank) {
        Growth& growth = growth_[tensor][term.dim];
        const bool alone = rank.size() == 1 && term.coefficient == 1 && growth == Growth::None;
        growth = alone ? Growth::Factor : Growth::Window;
      }
    }
  }
  Extents tile;
  tile.fill(1);
  for (std::size_t level = 0; level < level_count; ++level) {
    LevelState& state = undecided_.emplace_back();
    state.factors = fixed_[level];
    for (std::size_t d = 0; d < dim_count; ++d) tile[d] *= state.factors[0][d] * state.factors[1][d] * state.factors[2][d];
    state.tile = tile;
    state.words.fill(0);
    for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor)
      state.words[tensor] = needs_.words(tensor, tile);
    state.keeps = kept_[level];
    most_copies_[level] = level == 0 ? std::array{machine_.mac.mesh_x, machine_.mac.mesh_y()}
                                     : std::array{machine_.levels[level - 1].mesh_x, machine_.levels[level - 1].mesh_y()};
  }
  std::array<std::int64_t, 2> used = {1, 1};
  for (std::size_t level = level_count; level-- > 0;) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (std::size_t d = 0; d < dim_count; ++d) used[axis] *= undecided_[level].factors[axis][d];
    }
    undecided_[level].copies = used;
  }
}

void HierarchySpace::place(Prefix& prefix, const Place& place, const Meaning& meaning) const {
  const auto axis = static_cast<std::size_t>(place.axis);
  prefix.levels[place.level].factors[axis][meaning.dim] *= meaning.prime;
  for (std::size_t level = place.level; level < prefix.levels.size(); ++level) {
    LevelState& state = prefix.levels[level];
    if (needs_.is_limited(level)) state.words = words_with(state, meaning, hierarchy::kAllTensors);
    state.tile[meaning.dim] *= meaning.prime;
  }
  if (place.axis == Axis::Time) return;
  for (std::size_t level = 0; level <= place.level; ++level) prefix.levels[level].copies[axis] *= meaning.prime;
}

void HierarchySpace::add_entry(Prefix& prefix, std::int32_t entry) const {
  const Meaning& meaning = meanings_[prefix.entries.size()];
  prefix.entries.push_back(entry);
  if (meaning.kind == Meaning::Kind::Prime) return place(prefix, places_[static_cast<std::size_t>(entry)], meaning);
  TensorMask& keeps = prefix.levels[meaning.level].keeps;
  if (entry == 1) keeps = static_cast<TensorMask>(keeps | 1u << meaning.dim);
}

// The entries of `point` before `end`. Askers go from the first parameter to the last, so what the last question had in
// common with this one is not counted again; anybody else begins anew.
const HierarchySpace::Prefix& HierarchySpace::prefix_of(PointView point, std::size_t end, Choices& choices) const {
  if (!choices.memo() || choices.memo()->space != serial_) choices.memo() = std::make_unique<Prefix>(*this);
  Prefix& prefix = static_cast<Prefix&>(*choices.memo());
  const PointView wanted = point.first(std::min(end, rank_begin_));
  if (prefix.entries.size() > wanted.size() || !std::equal(prefix.entries.begin(), prefix.entries.end(), wanted.begin())) {
    prefix.entries.clear();
    prefix.levels = undecided_;
  }
  for (std::size_t p = prefix.entries.size(); p < wanted.size(); ++p) add_entry(prefix, wanted[p]);
  return prefix;
}

// Of the level's tiles with one more factor; of tensors in `keeps` only.
hierarchy::PerTensor<std::int64_t> HierarchySpace::words_with(const LevelState& level, const Meaning& meaning,
                                                              TensorMask keeps) const {
  hierarchy::PerTensor<std::int64_t> words = level.words;
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    if ((keeps >> tensor & 1) == 0) continue;
    const Growth growth = growth_[tensor][meaning.dim];
    if (growth == Growth::Factor) words[tensor] *= meaning.prime;
    if (growth != Growth::Window) continue;
    Extents tile = level.tile;
    tile[meaning.dim] *= meaning.prime;
    words[tensor] = needs_.words(tensor, tile);
  }
  return words;
}

// Levels whose tile, and those of all levels outside, have room for one more factor: bit l = level l.
std::uint32_t HierarchySpace::levels_with_room(const Prefix& prefix, const Meaning& meaning,
                                               TileNeeds::Outputs outputs) const {
  std::uint32_t mask = 0;
  for (std::size_t level = prefix.levels.size(); level-- > 0;) {
    const LevelState& state = prefix.levels[level];
    if (needs_.is_limited(level) && !needs_.fits(level, state.keeps, words_with(state, meaning, state.keeps), outputs)) {
      break;
    }
    mask |= std::uint32_t{1} << level;
  }
  return mask;
}

// The copies in use along an axis, everywhere inside, are no more than there are.
bool HierarchySpace::has_copies(const Prefix& prefix, const Place& place, std::int64_t prime) const {
  const auto axis = static_cast<std::size_t>(place.axis);
  for (std::size_t level = 0; level <= place.level; ++level) {
    if (prefix.levels[level].copies[axis] * prime > most_copies_[level][axis]) return false;
  }
  return true;
}

bool HierarchySpace::takes(const Prefix& prefix, std::uint32_t room, const Place& place, const Meaning& meaning) const {
  if ((room >> place.level & 1) == 0) return false;
  const LevelState& level = prefix.levels[place.level];
  const std::size_t dim = meaning.dim;
  const std::int64_t most = restriction_of(place).at_most[dim];
  if (place.axis == Axis::Time) return most == 0 || level.factors[2][dim] * meaning.prime <= most;
  if (most != 0 && level.factors[0][dim] * level.factors[1][dim] * meaning.prime > most) return false;
  if (level.factors[place.axis == Axis::X ? 1 : 0][dim] > 1) return false;  // a loop lies along one axis
  return has_copies(prefix, place, meaning.prime);
}

void HierarchySpace::prime_choices(const Prefix& prefix, const Meaning& meaning, Choices& choices) const {
  const std::uint32_t room = levels_with_room(prefix, meaning, TileNeeds::Outputs::Narrowest);
  choices.set_list();
  for (const std::int32_t index : allowed_[meaning.dim]) {
    if (takes(prefix, room, places_[static_cast<std::size_t>(index)], meaning)) choices.add(index);
  }
  if (choices.count() == 0) choices.add(allowed_[meaning.dim].back());  // nothing fits any more
}

// A level too small for one word more of what it keeps cannot keep this, too.
void HierarchySpace::keep_choices(const Prefix& prefix, const Meaning& meaning, Choices& choices) const {
  const LevelState& level = prefix.levels[meaning.level];
  const auto kept = static_cast<TensorMask>(level.keeps | 1u << meaning.dim);
  choices.set_below(needs_.fits(meaning.level, kept, level.words, TileNeeds::Outputs::Narrowest) ? 2 : 1);
}

bool HierarchySpace::stands(const LevelState& level, const Meaning& rank) {
  const auto& factors = level.factors;
  return rank.kind == Meaning::Kind::Order ? factors[2][rank.dim] > 1 : factors[0][rank.dim] * factors[1][rank.dim] > 1;
}

void HierarchySpace::choices(PointView point, std::size_t parameter, Choices& choices) const {
  const Meaning& meaning = meanings_[parameter];
  const Prefix& prefix = prefix_of(point, parameter, choices);
  if (meaning.kind == Meaning::Kind::Keep) return keep_choices(prefix, meaning, choices);
  if (meaning.kind == Meaning::Kind::Prime) return prime_choices(prefix, meaning, choices);
  const LevelState& level = prefix.levels[meaning.level];
  if (!stands(level, meaning)) return choices.set_below(1);
  const Group& group = groups_[group_of_[parameter]];
  std::int32_t standing = 0;
  for (std::size_t p = group.begin; p < group.end; ++p) standing += stands(level, meanings_[p]) ? 1 : 0;
  choices.set_below(standing);
}

std::vector<HierarchySpace::Prime> HierarchySpace::primes() const {
  std::vector<Prime> primes;
  for (const auto& [begin, end] : primes_) {
    for (std::size_t p = begin; p < end; ++p) primes.push_back({p, meanings_[p].dim, meanings_[p].prime});
  }
  return primes;
}

void HierarchySpace::set_ranks(Point& point, std::span<const std::uint8_t> inside) const {
  for (std::size_t p = rank_begin_; p < point.size(); ++p) {
    point[p] = static_cast<std::int32_t>(std::ranges::find(inside, meanings_[p].dim) - inside.begin());
  }
}

Point HierarchySpace::greedy(std::span<const Wish> wishes, std::span<const std::uint8_t> inside) const {
  Point point(parameters_.size(), 0);
  std::vector<bool> placed(parameters_.size());
  Choices legal;
  for (std::size_t p = 0; p < point.size(); ++p) {
    const Meaning& meaning = meanings_[p];
    if (meaning.kind == Meaning::Kind::Keep) {
      choices(point, p, legal);
      point[p] = legal.back();
    }
    if (meaning.kind == Meaning::Kind::Prime) point[p] = allowed_[meaning.dim].back();
  }
  set_ranks(point, inside);
  Prefix prefix(*this);
  for (std::size_t p = 0; p < rank_begin_ && meanings_[p].kind == Meaning::Kind::Keep; ++p) add_entry(prefix, point[p]);
  const auto try_place = [&](std::size_t p, const Place& where) {
    const Meaning& meaning = meanings_[p];
    const auto index = static_cast<std::int32_t>(std::ranges::find(places_, where) - places_.begin());
    if (std::ranges::find(allowed_[meaning.dim], index) == allowed_[meaning.dim].end()) return false;
    if (!takes(prefix, levels_with_room(prefix, meaning, TileNeeds::Outputs::Widest), where, meaning)) return false;
    place(prefix, where, meaning);
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

}  // namespace tilewright
