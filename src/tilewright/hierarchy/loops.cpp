#include "tilewright/hierarchy/loops.hpp"

namespace tilewright::hierarchy {

void set_loops(Loops& loops, const Mapping& mapping, std::size_t dim_count) {
  loops.temporal.clear();
  loops.level_count = mapping.levels.size();
  Extents extents;
  extents.fill(1);
  for (std::size_t index = 0; index < mapping.levels.size(); ++index) {
    const LevelMapping& level = mapping.levels[index];
    SpatialBlock& block = loops.spatial[index];
    block.loops.clear();
    block.columns = block.rows = 1;
    for (std::size_t at = 0; at < dim_count; ++at) {
      const std::uint8_t dim = level.spatial.order[at];
      const std::int64_t factor = level.spatial.factors[dim];
      if (factor == 1) continue;
      block.loops.push_back({factor, extents[dim], dim});
      extents[dim] *= factor;
      (at < level.spatial.split ? block.columns : block.rows) *= factor;
    }
    loops.spread[index] = extents;
    loops.first[index] = loops.temporal.size();
    for (std::size_t at = 0; at < dim_count; ++at) {
      const std::uint8_t dim = level.temporal.order[at];
      const std::int64_t factor = level.temporal.factors[dim];
      if (factor == 1) continue;
      loops.temporal.push_back({factor, extents[dim], dim});
      extents[dim] *= factor;
    }
    loops.boundary[index] = extents;
  }
  loops.mac_x = loops.mac_y = 1;
  for (std::size_t index = mapping.levels.size(); index-- > 0;) {
    loops.used_x[index] = loops.mac_x;
    loops.used_y[index] = loops.mac_y;
    loops.mac_x *= loops.spatial[index].columns;
    loops.mac_y *= loops.spatial[index].rows;
  }
}

std::optional<Infeasible> fanout_fault(std::uint8_t level, std::int64_t x, std::int64_t y, std::int64_t instances,
                                       std::int64_t mesh_x, std::int64_t mesh_y) {
  const auto fault = [&](std::int64_t need, std::int64_t limit) {
    return Infeasible{Infeasible::Reason::Fanout, level, need, limit};
  };
  if (x * y > instances) return fault(x * y, instances);
  if (x > mesh_x) return fault(x, mesh_x);
  if (y > mesh_y) return fault(y, mesh_y);
  return std::nullopt;
}

}  // namespace tilewright::hierarchy
