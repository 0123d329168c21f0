// A mapping as one list of loops, and whether it fits: what both judges start from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tilewright/base/inline_vector.hpp"
#include "tilewright/hierarchy/cost.hpp"
#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

using Extents = std::array<std::int64_t, kMostDims>;
template <typename T>
using PerLevel = std::array<T, kMostLevels>;
template <typename T>
using PerTensor = std::array<T, kMostTensors>;

// Loops of one trip are left out everywhere.
struct Loop {
  std::int64_t trips = 1;
  std::int64_t step = 1;  // how far one trip moves along the dimension
  std::uint8_t dim = 0;
};

struct SpatialBlock {
  InlineVector<Loop, kMostDims> loops;  // the innermost first
  std::int64_t columns = 1;             // along X
  std::int64_t rows = 1;

  std::int64_t elements() const { return columns * rows; }
};

struct Loops {
  InlineVector<Loop, kMostLevels * kMostDims> temporal;  // of all levels, the innermost first
  PerLevel<std::size_t> first;                           // of each level, into `temporal`
  PerLevel<SpatialBlock> spatial;
  PerLevel<Extents> spread;    // what all copies inside a level cover together
  PerLevel<Extents> boundary;  // what the level's tile covers
  PerLevel<std::int64_t> used_x, used_y;
  std::int64_t mac_x = 1, mac_y = 1;
  std::size_t level_count = 0;

  std::int64_t used(std::size_t level) const { return used_x[level] * used_y[level]; }
};

void set_loops(Loops& loops, const Mapping& mapping, std::size_t dim_count);

// More copies along X, along Y or in all than there are; nothing when they suffice.
std::optional<Infeasible> fanout_fault(std::uint8_t level, std::int64_t x, std::int64_t y, std::int64_t instances,
                                       std::int64_t mesh_x, std::int64_t mesh_y);

}  // namespace tilewright::hierarchy
