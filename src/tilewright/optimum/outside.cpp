#include "tilewright/optimum/outside.hpp"

#include <algorithm>

namespace tilewright::optimum {

using hierarchy::Extents;

Outside::Outside(const Model& model, const hierarchy::Mapping& mapping) : model_(model), mapping_(mapping) {
  for (std::size_t level = 0; level + 1 < model.level_count; ++level) {
    mapping_.levels[level].spatial = mapping_.levels[level].temporal = {};
  }
  mapping_.levels[model.level_count - 1].temporal = {};
}

BlockLoops Outside::outermost_block(const Extents& extents) const {
  BlockLoops block;
  block.rule = &model_.restriction.levels[model_.level_count - 1].temporal;
  for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
    const std::int64_t step = extents[dim] * spread(dim), trips = model_.problem.bounds[dim] / step;
    if (trips > 1) block.loops.push_back({trips, step, dim});
  }
  return block;
}

void Outside::set(const Extents& extents, hierarchy::TensorMask inner_sums) {
  const std::size_t outermost = model_.level_count - 1, buffer = outermost - 1;
  for (std::size_t dim = 0; dim < model_.dim_count; ++dim) mapping_.levels[0].temporal.factors[dim] = extents[dim];
  set_loops(loops_, mapping_, model_.dim_count);
  loops_.temporal.clear();  // loops inside the boundary do not matter
  streams_.clear();
  base_.fill(0);
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
    if ((mapping_.levels[buffer].keeps >> tensor & 1) == 0) continue;
    const Flow& flow = model_.flows[tensor];
    bool outer_sums = false, spread_sums = false;
    for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
      if (flow.is_relevant(dim)) continue;
      outer_sums = outer_sums || model_.problem.bounds[dim] / (extents[dim] * spread(dim)) > 1;
      spread_sums = spread_sums || spread(dim) > 1;
    }
    const bool sums = (inner_sums >> tensor & 1) != 0 || outer_sums || spread_sums;
    Stream stream = make_stream(model_, loops_, 0, tensor, buffer, outermost, sums, outer_sums, base_);
    for (std::size_t at = 0; at < model_.prices.count(); ++at)
      base_[at] += stream.full * (stream.below[at] + stream.above[at]);
    streams_.push_back(std::move(stream));
  }
}

std::vector<BufferTile> Outside::tiles(const Choices& choices, Orders& orders) {
  const std::size_t outermost = model_.level_count - 1, buffer = outermost - 1;
  const hierarchy::BlockRestriction& rule = model_.restriction.levels[outermost].temporal;
  std::vector<std::vector<std::int64_t>> extents_of;
  for (std::size_t dim = 0; dim < model_.dim_count; ++dim) {
    auto& list = extents_of.emplace_back();
    const std::int64_t bound = model_.problem.bounds[dim] / spread(dim);
    for (const std::int64_t extent : divisors_of(bound)) {
      if (Choices::allows(rule, dim, bound / extent)) list.push_back(extent);
    }
  }
  std::vector<BufferTile> tiles;
  Extents extents;
  extents.fill(1);
  // Narrower outputs where it is not known whether sums are still added to inside.
  hierarchy::TensorMask inner_sums = 0;
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
    if (model_.is_output(tensor) && model_.prices.bits(tensor, buffer, true) < model_.prices.bits(tensor, buffer, false))
      inner_sums = static_cast<hierarchy::TensorMask>(inner_sums | 1u << tensor);
  }
  const std::function<void(std::size_t)> choose = [&](std::size_t dim) {
    if (dim < model_.dim_count) {
      for (const std::int64_t extent : extents_of[dim]) {
        extents[dim] = extent;
        if (!choices.fits(buffer, mapping_.levels[buffer].keeps, extents)) break;
        choose(dim + 1);
      }
      extents[dim] = 1;
      return;
    }
    set(extents, inner_sums);
    Orders::Task task;
    task.base = &base_;
    task.outermost = outermost_block(extents);
    for (const Stream& stream : streams_) task.last.push_back(&stream);
    orders.set_outermost(task);
    tiles.push_back({extents, orders.least()});
  };
  choose(0);
  return tiles;
}

}  // namespace tilewright::optimum
