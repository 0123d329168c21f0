#include "tilewright/optimum/choices.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace tilewright::optimum {

using hierarchy::Block;
using hierarchy::BlockRestriction;
using hierarchy::Extents;
using hierarchy::Judge;
using hierarchy::Machine;
using hierarchy::Mapping;
using hierarchy::StorageLevel;
using hierarchy::TensorMask;
using hierarchy::TileNeeds;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    divisors.push_back(d);
    if (d != number / d) divisors.push_back(number / d);
  }
  std::ranges::sort(divisors);
  return divisors;
}

Choices::Choices(const Model& model) : model_(model), needs_(model.problem, model.machine, model.judge) {
  slides_ = std::ranges::any_of(model.flows, &Flow::slides);
  for (const std::int64_t bound : model.problem.bounds) divisors_.push_back(divisors_of(bound));
}

bool Choices::fits(std::size_t level, TensorMask keeps, const Extents& extents) const {
  if (!needs_.is_limited(level)) return true;
  hierarchy::PerTensor<std::int64_t> words{};
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) words[tensor] = needs_.words(tensor, extents);
  return needs_.fits(level, keeps, words, TileNeeds::Outputs::Narrowest);
}

std::vector<std::vector<TensorMask>> Choices::keeps() const {
  const std::size_t tensors = model_.flows.size(), outermost = model_.level_count - 1;
  const auto all = static_cast<TensorMask>((1u << tensors) - 1);
  std::vector<std::vector<TensorMask>> made(1);
  for (std::size_t level = 0; level <= outermost; ++level) {
    const hierarchy::LevelRestriction& rule = model_.restriction.levels[level];
    std::vector<std::vector<TensorMask>> longer;
    for (const auto& before : made) {
      for (std::uint32_t mask = 0; mask <= all; ++mask) {
        if (level == outermost ? mask != all
                               : (mask & rule.bypasses) != 0 || (rule.keeps & all & ~rule.bypasses & ~mask) != 0) {
          continue;
        }
        longer.push_back(before);
        longer.back().push_back(static_cast<TensorMask>(mask));
      }
    }
    made = std::move(longer);
  }
  return made;
}

std::int64_t Choices::left_of(const Mapping& mapping, std::size_t dim) const {
  std::int64_t left = model_.problem.bounds[dim];
  for (const hierarchy::LevelMapping& level : mapping.levels)
    left /= level.spatial.factors[dim] * level.temporal.factors[dim];
  return left;
}

bool Choices::spreads(Mapping& mapping, std::size_t first, std::size_t last, const Visit& visit) const {
  std::vector<Slot> slots;
  for (std::size_t level = first; level <= last; ++level) {
    const bool fans = model_.machine.fan_x(level) * model_.machine.fan_y(level) > 1;
    for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
      // What is demanded is demanded of levels that spread nothing, too.
      if (fans || model_.restriction.levels[level].spatial.exactly[dim] > 1) slots.push_back({level, dim});
    }
  }
  return spread_from(mapping, slots, 0, visit);
}

bool Choices::spread_from(Mapping& mapping, const std::vector<Slot>& slots, std::size_t at, const Visit& visit) const {
  if (at == slots.size()) return !has_room(mapping) || visit();
  const auto [level, dim] = slots[at];
  std::int64_t& factor = mapping.levels[level].spatial.factors[dim];
  const BlockRestriction& rule = model_.restriction.levels[level].spatial;
  std::int64_t used = 1;
  for (const hierarchy::LevelMapping& other : mapping.levels) {
    for (std::size_t d = 0; d < model_.dim_count; ++d) used *= other.spatial.factors[d];
  }
  const std::int64_t inside = level == 0 ? model_.machine.mac.instances : model_.machine.levels[level - 1].instances;
  std::int64_t outside = 1;  // copies in use along with levels further out
  for (std::size_t other = level; other < model_.level_count; ++other) {
    for (std::size_t d = 0; d < model_.dim_count; ++d) outside *= mapping.levels[other].spatial.factors[d];
  }
  const std::int64_t left = left_of(mapping, dim);
  for (const std::int64_t divisor : divisors_[dim]) {
    if (left % divisor != 0) continue;
    if (used * divisor > model_.machine.mac.instances || outside * divisor > inside) break;
    if (!allows(rule, dim, divisor)) continue;
    factor = divisor;
    const bool goes_on = spread_from(mapping, slots, at + 1, visit);
    factor = 1;
    if (!goes_on) return false;
  }
  return true;
}

bool Choices::has_room(const Mapping& mapping) const {
  Mapping copy = mapping;
  std::vector<Mapping> one;
  return arrange(copy, model_.level_count - 1, 1, 1, false, one);
}

// Whether it matters which copies lie side by side.
bool Choices::order_matters(std::size_t level) const {
  const StorageLevel& storage = model_.machine.levels[level];
  if (storage.energy_per_hop.value > 0 || storage.router_energy.value > 0) return true;
  return model_.judge == Judge::Timeloop && storage.links && (slides_ || level == 0);
}

namespace {

// Columns and rows of what lies inside a level.
std::pair<std::int64_t, std::int64_t> mesh_inside(const Machine& machine, std::size_t level) {
  if (level == 0) return {machine.mac.mesh_x, machine.mac.mesh_y()};
  return {machine.levels[level - 1].mesh_x, machine.levels[level - 1].mesh_y()};
}

bool in_order(const Block& block, const BlockRestriction& rule, const std::vector<std::uint8_t>& dims) {
  std::vector<std::uint8_t> first, last;
  for (const std::uint8_t dim : rule.innermost) {
    if (block.factors[dim] > 1) first.push_back(dim);
  }
  for (const std::uint8_t dim : rule.outermost) {
    if (block.factors[dim] > 1) last.push_back(dim);
  }
  return first.size() <= dims.size() && last.size() <= dims.size() && std::equal(first.begin(), first.end(), dims.begin()) &&
         std::equal(last.rbegin(), last.rend(), dims.rbegin());
}

// The order begins with these; dimensions without a loop follow.
void set_order(Block& block, const std::vector<std::uint8_t>& dims, std::size_t dim_count) {
  std::size_t at = 0;
  for (const std::uint8_t dim : dims) block.order[at++] = dim;
  for (std::uint8_t dim = 0; dim < dim_count; ++dim) {
    if (std::ranges::find(dims, dim) == dims.end()) block.order[at++] = dim;
  }
}

}  // namespace

// The levels from `level` inwards; `x` and `y` are in use outside. With `all`, every arrangement that may matter, else one.
bool Choices::arrange(Mapping& mapping, std::size_t level, std::int64_t x, std::int64_t y, bool all,
                      std::vector<Mapping>& into) const {
  Block& block = mapping.levels[level].spatial;
  const BlockRestriction& rule = model_.restriction.levels[level].spatial;
  std::vector<std::uint8_t> dims;
  for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
    if (block.factors[dim] > 1) dims.push_back(dim);
  }
  const auto [columns, rows] = mesh_inside(model_.machine, level);
  bool matters = false;  // here or further inside
  for (std::size_t inner = 0; inner <= level; ++inner) matters = matters || (all && order_matters(inner));
  bool found = false;
  for (std::uint32_t along_x = (std::uint32_t{1} << dims.size()); along_x-- > 0;) {
    std::int64_t used_x = x, used_y = y;
    bool right = true;
    for (std::size_t at = 0; at < dims.size(); ++at) {
      const bool on_x = (along_x >> at & 1) != 0;
      (on_x ? used_x : used_y) *= block.factors[dims[at]];
      if (!rule.split || std::ranges::find(rule.innermost, dims[at]) == rule.innermost.end()) {
        // A factor that is demanded lies where the space of mappings puts it.
        if (rule.exactly[dims[at]] > 1) right = right && on_x == (model_.machine.fan_x(level) >= rule.exactly[dims[at]]);
        continue;
      }
      const auto place = std::ranges::find(rule.innermost, dims[at]) - rule.innermost.begin();
      right = right && (place < *rule.split) == on_x;
    }
    if (!right || used_x > columns || used_y > rows || used_x * used_y > columns * rows) continue;
    std::vector<std::uint8_t> order;
    for (const bool on_x : {true, false}) {
      for (std::size_t at = 0; at < dims.size(); ++at) {
        if ((along_x >> at & 1) == (on_x ? 1u : 0u)) order.push_back(dims[at]);
      }
    }
    const auto split = static_cast<std::ptrdiff_t>(std::popcount(along_x));
    do {
      do {
        if (!in_order(block, rule, order)) continue;
        set_order(block, order, model_.dim_count);
        block.split = static_cast<std::uint8_t>(split);
        if (level == 0) {
          into.push_back(mapping);
          found = true;
        } else {
          found = arrange(mapping, level - 1, used_x, used_y, all, into) || found;
        }
        if (found && !matters) return true;
      } while (std::next_permutation(order.begin() + split, order.end()));
    } while (std::next_permutation(order.begin(), order.begin() + split));
  }
  return found;
}

std::vector<Mapping> Choices::arrangements(const Mapping& mapping) const {
  Mapping copy = mapping;
  std::vector<Mapping> made;
  arrange(copy, model_.level_count - 1, 1, 1, true, made);
  return made;
}

bool Choices::tilings(Mapping& mapping, std::size_t end, const Extents* totals, const Visit& visit) const {
  Extents extents;
  extents.fill(1);
  for (std::size_t dim = 0; dim < model_.dim_count && end > 0; ++dim) extents[dim] *= mapping.levels[0].spatial.factors[dim];
  return tile_from(mapping, 0, 0, end, extents, totals, visit);
}

bool Choices::tile_from(Mapping& mapping, std::size_t level, std::size_t dim, std::size_t end, Extents& extents,
                        const Extents* totals, const Visit& visit) const {
  if (level == end) return order_from(mapping, 0, end, visit);
  hierarchy::LevelMapping& here = mapping.levels[level];
  if (dim == model_.dim_count) {
    Extents next = extents;
    for (std::size_t d = 0; d < model_.dim_count && level + 1 < end; ++d)
      next[d] *= mapping.levels[level + 1].spatial.factors[d];
    return tile_from(mapping, level + 1, 0, end, next, totals, visit);
  }
  const std::int64_t before = extents[dim];
  bool goes_on = true;
  std::int64_t left = left_of(mapping, dim);
  if (totals != nullptr) {
    left = (*totals)[dim];
    for (std::size_t inner = 0; inner < level; ++inner) left /= mapping.levels[inner].temporal.factors[dim];
  }
  for (const std::int64_t divisor : divisors_[dim]) {
    if (left % divisor != 0 || (totals != nullptr && level + 1 == end && divisor != left)) continue;
    if (!allows(model_.restriction.levels[level].temporal, dim, divisor)) continue;
    extents[dim] = before * divisor;
    if (!fits(level, here.keeps, extents)) break;
    here.temporal.factors[dim] = divisor;
    goes_on = tile_from(mapping, level, dim + 1, end, extents, totals, visit);
    here.temporal.factors[dim] = 1;
    if (!goes_on) break;
  }
  extents[dim] = before;
  return goes_on;
}

bool Choices::totals(Mapping& mapping, std::size_t end, const Visit& visit) const {
  Extents extents;
  extents.fill(1);
  for (std::size_t level = 0; level < end; ++level) {
    for (std::size_t dim = 0; dim < model_.dim_count; ++dim) extents[dim] *= mapping.levels[level].spatial.factors[dim];
  }
  const auto possible = [&](std::size_t dim, std::int64_t total) {
    double most = 1;
    for (std::size_t level = 0; level < end; ++level) {
      const BlockRestriction& rule = model_.restriction.levels[level].temporal;
      if (rule.exactly[dim] != 0) {
        if (total % rule.exactly[dim] != 0) return false;
        total /= rule.exactly[dim];
      } else {
        most *= rule.at_most[dim] != 0 ? static_cast<double>(rule.at_most[dim]) : 1e18;
      }
    }
    return static_cast<double>(total) <= most;
  };
  const std::function<bool(std::size_t)> choose = [&](std::size_t dim) {
    if (dim == model_.dim_count) return visit();
    const std::int64_t left = left_of(mapping, dim), before = extents[dim];
    bool goes_on = true;
    for (const std::int64_t divisor : divisors_[dim]) {
      if (left % divisor != 0 || !possible(dim, divisor)) continue;
      extents[dim] = before * divisor;
      if (!fits(end - 1, mapping.levels[end - 1].keeps, extents)) break;
      mapping.levels[0].temporal.factors[dim] = divisor;
      goes_on = choose(dim + 1);
      mapping.levels[0].temporal.factors[dim] = 1;
      if (!goes_on) break;
    }
    extents[dim] = before;
    return goes_on;
  };
  return choose(0);
}

// Two orders of a block are the same for a tensor that does not slide when the same loops lie inside the innermost one that
// moves it; all are the same where no tile lies below.
bool Choices::order_from(Mapping& mapping, std::size_t level, std::size_t end, const Visit& visit) const {
  if (level == end) return visit();
  Block& block = mapping.levels[level].temporal;
  std::vector<std::uint8_t> order;
  for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
    if (block.factors[dim] > 1) order.push_back(dim);
  }
  TensorMask below = 0;
  bool each_matters = false;
  for (std::size_t inner = 0; inner <= level; ++inner) {
    bool spreads = false;
    for (std::size_t dim = 0; dim < model_.dim_count; ++dim)
      spreads = spreads || mapping.levels[inner].spatial.factors[dim] > 1;
    if (inner < level) below = static_cast<TensorMask>(below | mapping.levels[inner].keeps);
    if (!spreads || !order_matters(inner)) continue;
    if (inner == 0) each_matters = true;
    below = hierarchy::kAllTensors;
  }
  const auto key_of = [&] {
    std::vector<std::uint32_t> key;
    for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
      if ((below >> tensor & 1) == 0 && !each_matters) continue;
      const Flow& flow = model_.flows[tensor];
      if (flow.slides() || each_matters) {
        key.insert(key.end(), order.begin(), order.end());
        continue;
      }
      std::uint32_t inside = 0;
      for (std::size_t at = 0; at < order.size() && !flow.is_relevant(order[at]); ++at)
        inside |= std::uint32_t{1} << order[at];
      key.push_back(inside);
    }
    return key;
  };
  const Block saved = block;
  std::set<std::vector<std::uint32_t>> seen;
  bool goes_on = true;
  do {
    if (!in_order(block, model_.restriction.levels[level].temporal, order) || !seen.insert(key_of()).second) continue;
    set_order(block, order, model_.dim_count);
    goes_on = order_from(mapping, level + 1, end, visit);
    if (below == 0 && !each_matters) break;
  } while (goes_on && std::next_permutation(order.begin(), order.end()));
  block.order = saved.order;
  return goes_on;
}

}  // namespace tilewright::optimum
