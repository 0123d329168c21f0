// Which loops lie side by side: factors, axes and orders in space.
#include "tilewright/optimum/choices.hpp"

#include <algorithm>
#include <bit>

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

namespace {

// Columns and rows of what lies inside a level.
std::pair<std::int64_t, std::int64_t> mesh_inside(const Machine& machine, std::size_t level) {
  if (level == 0) return {machine.mac.mesh_x, machine.mac.mesh_y()};
  return {machine.levels[level - 1].mesh_x, machine.levels[level - 1].mesh_y()};
}

}  // namespace

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

}  // namespace tilewright::optimum
