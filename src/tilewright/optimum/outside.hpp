// Tiles of the level before the outermost one, and what it costs at least to bring them from outside.
#pragma once

#include <vector>

#include "tilewright/optimum/choices.hpp"
#include "tilewright/optimum/orders.hpp"

namespace tilewright::optimum {

struct BufferTile {
  hierarchy::Extents extents;
  Costs least{};  // of all that crosses its boundary
};

class Outside {
 public:
  // Which tensors levels keep, and the spread of the outermost level, come from `mapping`.
  Outside(const Model& model, const hierarchy::Mapping& mapping);

  // Every tile that fits and whose outer loops are allowed, with what it costs at least.
  std::vector<BufferTile> tiles(const Choices& choices, Orders& orders);

  // What crosses the boundary of a tile: streams as in Orders::Task::last, and costs that no order changes. `inner_sums`:
  // outputs that loops inside the boundary add to, too.
  void set(const hierarchy::Extents& extents, hierarchy::TensorMask inner_sums);
  const std::vector<Stream>& streams() const { return streams_; }
  const Costs& base() const { return base_; }

  BlockLoops outermost_block(const hierarchy::Extents& extents) const;
  // How the outermost level spreads a dimension.
  std::int64_t spread(std::size_t dim) const { return mapping_.levels[model_.level_count - 1].spatial.factors[dim]; }

 private:
  const Model& model_;
  hierarchy::Mapping mapping_;
  hierarchy::Loops loops_;
  std::vector<Stream> streams_;
  Costs base_{};
};

}  // namespace tilewright::optimum
