// Which factors the restriction and the machine allow: the space that is searched, in the words of hierarchy/. It is the one
// that space/hierarchy_space.hpp describes.
#pragma once

#include <functional>
#include <vector>

#include "tilewright/hierarchy/tile_needs.hpp"
#include "tilewright/optimum/inside.hpp"

namespace tilewright::optimum {

std::vector<std::int64_t> divisors_of(std::int64_t number);

// Whether loops `dims`, the innermost first, are in an order that the rule allows; and puts them in that order, dimensions
// without a loop after them.
bool in_order(const hierarchy::Block& block, const hierarchy::BlockRestriction& rule, const std::vector<std::uint8_t>& dims);
void set_order(hierarchy::Block& block, const std::vector<std::uint8_t>& dims, std::size_t dim_count);

class Choices {
 public:
  explicit Choices(const Model& model);

  // Whether a block may have this factor of a dimension.
  static bool allows(const hierarchy::BlockRestriction& rule, std::size_t dim, std::int64_t factor) {
    if (rule.exactly[dim] != 0) return factor == rule.exactly[dim];
    return rule.at_most[dim] == 0 || factor <= rule.at_most[dim];
  }
  bool fits(std::size_t level, hierarchy::TensorMask keeps, const hierarchy::Extents& extents) const;

  // Which tensors each level keeps: every combination that is allowed, the outermost level keeping all.
  std::vector<std::vector<hierarchy::TensorMask>> keeps() const;

  // Every spread of levels first to last that the meshes have room for, as factors in `mapping`, which has nothing spread
  // there yet. False from `visit` ends it; the value is false then.
  using Visit = std::function<bool()>;
  bool spreads(hierarchy::Mapping& mapping, std::size_t first, std::size_t last, const Visit& visit) const;

  // Orders and axes of all spreads of a mapping that may differ in cost; at least one where the mesh has room.
  std::vector<hierarchy::Mapping> arrangements(const hierarchy::Mapping& mapping) const;

  // Every choice of temporal blocks below `end`, with orders that may differ in cost, whose tiles fit; with `totals` only
  // those whose factors multiply to them.
  bool tilings(hierarchy::Mapping& mapping, std::size_t end, const hierarchy::Extents* totals, const Visit& visit) const;

  // Every product of the factors of those blocks, in temporal(0), of which the last level has room for the tile.
  bool totals(hierarchy::Mapping& mapping, std::size_t end, const Visit& visit) const;

 private:
  struct Slot {
    std::size_t level;
    std::uint8_t dim;
  };
  bool spread_from(hierarchy::Mapping& mapping, const std::vector<Slot>& slots, std::size_t at, const Visit& visit) const;
  bool has_room(const hierarchy::Mapping& mapping) const;
  bool arrange(hierarchy::Mapping& mapping, std::size_t level, std::int64_t x, std::int64_t y, bool all,
               std::vector<hierarchy::Mapping>& into) const;
  bool order_matters(std::size_t level) const;
  bool tile_from(hierarchy::Mapping& mapping, std::size_t level, std::size_t dim, std::size_t end,
                 hierarchy::Extents& extents, const hierarchy::Extents* totals, const Visit& visit) const;
  bool order_from(hierarchy::Mapping& mapping, std::size_t level, std::size_t end, const Visit& visit) const;
  std::int64_t left_of(const hierarchy::Mapping& mapping, std::size_t dim) const;

  const Model& model_;
  hierarchy::TileNeeds needs_;
  bool slides_ = false;
  std::vector<std::vector<std::int64_t>> divisors_;  // of every bound, rising
};

}  // namespace tilewright::optimum
