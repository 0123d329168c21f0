#include "tilewright/optimum/inside.hpp"

#include <algorithm>

namespace tilewright::optimum {

using hierarchy::Judge;
using hierarchy::Loop;
using hierarchy::Loops;
using hierarchy::Shift;
using hierarchy::StorageLevel;

namespace {

void add(Costs& into, const Costs& costs, double times, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) into[at] += costs[at] * times;
}

// The loops of the inside that turn above the boundary: their words are known but for how often the outer loops turn.
void add_inner_loops(const Loops& loops, double outer, Stream& stream, Costs& base, std::size_t count) {
  const Flow& flow = *stream.flow;
  add(base, stream.below, stream.full, count);
  add(base, stream.above, stream.full, count);
  const std::size_t first = loops.first[stream.child + 1u];
  double above = outer;
  for (std::size_t at = first; at < loops.temporal.size(); ++at) above *= static_cast<double>(loops.temporal[at].trips);
  for (std::size_t at = first; at < loops.temporal.size(); ++at) {
    const Loop& loop = loops.temporal[at];
    above /= static_cast<double>(loop.trips);
    const double weight = static_cast<double>(loop.trips - 1) * above;
    const bool moves = flow.is_relevant(loop.dim);
    double words = moves || stream.moved ? stream.full : 0;
    Stream::Share share;
    if (words > 0 && flow.slides()) {
      if (flow.judge() == Judge::Timeloop) {
        const Shift shift = flow.shift(loop.dim, loop.step, stream.inside);
        if (flow.is_zero(shift)) {
          words = 0;
        } else if (!stream.moved || flow.same(shift, stream.first)) {
          words = flow.difference(stream.tile, stream.full, shift);
        }
        if (words > 0 && !stream.moved) stream.first = shift;
        if (stream.empty || stream.moved) share = stream.least_share(shift);
      } else {
        words = flow.fresh(stream.tile, stream.full, loop.dim, loop.step, stream.inside);
      }
    }
    if (moves) {
      stream.moved = true;
      stream.inside[loop.dim] += flow.displacement(loop.trips, loop.step);
    }
    stream.empty = false;
    add(base, stream.below, weight * words * share.below, count);
    add(base, stream.above, weight * words * share.above, count);
  }
}

// At least so many words cross beyond what is in the base, whatever the outer loops are. A loop along a dimension that is
// alone in its rank brings a whole tile, which no neighbour has, and so does every loop outside it.
double least_words(const Stream& stream, const Inside& inside) {
  if (stream.moved) return 0;
  double trips = 1;
  for (std::size_t dim = 0; dim < hierarchy::kMostDims; ++dim) {
    if ((stream.flow->certain() >> dim & 1) != 0) trips *= static_cast<double>(inside.trips[dim]);
  }
  return stream.full * (trips - 1);
}

bool is_closed(const Stream& stream) {
  if (!stream.flow->slides()) return stream.moved;
  for (std::size_t dim = 0; dim < hierarchy::kMostDims; ++dim) {
    if ((stream.flow->certain() >> dim & 1) != 0 && stream.inside[dim] != 0) return true;
  }
  return false;
}

// Of a boundary below blocks that are not chosen yet. Either no loop between here and there moves the tensor, and the tile
// is the whole one; or one does, and then all that turns outside brings the whole again: no less, and certain where the
// whole does not fit. Words of a sliding tensor depend on more: there only what surely differs is counted. True when that is
// all.
bool settle(const Model& model, const Stream& stream, std::size_t tensor, Inside& inside) {
  const Flow& flow = *stream.flow;
  double words = 0;
  if (flow.slides()) {
    words = 1;
    for (std::size_t dim = 0; dim < model.dim_count; ++dim) {
      if ((flow.certain() >> dim & 1) != 0) words *= static_cast<double>(stream.tile[dim] * inside.trips[dim]);
    }
  } else {
    const StorageLevel& level = model.machine.levels[stream.child];
    const double bits = model.judge == Judge::Timeloop ? static_cast<double>(level.word_bits)
                                                       : std::min(model.prices.bits(tensor, stream.child, true),
                                                                  model.prices.bits(tensor, stream.child, false));
    const auto room = level.usable();
    if (!room || stream.full * bits <= static_cast<double>(*room) * static_cast<double>(level.word_bits)) return false;
    words = stream.full * inside.outer;
  }
  add(inside.base, stream.below, words, model.prices.count());
  add(inside.base, stream.above, words, model.prices.count());
  return true;
}

// Whether sums of an output are still added to, outside the loops in space of a level.
bool is_added_to(const Model& model, const Loops& loops, const Inside& inside, const Flow& flow, std::size_t level) {
  const auto adds = [&](const Loop& loop) { return !flow.is_relevant(loop.dim); };
  for (std::size_t at = loops.first[level]; at < loops.temporal.size(); ++at) {
    if (adds(loops.temporal[at])) return true;
  }
  for (std::size_t outside = level + 1; outside < model.level_count; ++outside) {
    if (std::ranges::any_of(loops.spatial[outside].loops, adds)) return true;
  }
  for (std::size_t dim = 0; dim < model.dim_count && level + 1 < model.level_count; ++dim) {
    if (inside.trips[dim] > 1 && !flow.is_relevant(static_cast<std::uint8_t>(dim))) return true;
  }
  return false;
}

}  // namespace

void build(const Model& model, Loops& loops, Inside& inside, Inner inner) {
  const std::size_t count = model.prices.count(), outermost = model.level_count - 1;
  const bool together = inner == Inner::Together;
  // The outermost spread steps over tiles that are not chosen yet; so do inner ones where blocks are not.
  std::uint32_t unknown = std::uint32_t{1} << outermost;
  for (std::size_t level = 1; together && level + 1 < outermost; ++level) unknown |= std::uint32_t{1} << level;
  set_loops(loops, inside.mapping, model.dim_count);
  inside.extents = loops.spread[outermost - 1];
  inside.outer = 1;
  inside.trips.fill(1);
  for (std::size_t dim = 0; dim < model.dim_count; ++dim) {
    inside.trips[dim] = model.problem.bounds[dim] / loops.boundary[outermost][dim];
    inside.outer *= static_cast<double>(inside.trips[dim]);
  }
  inside.compute_cycles = inside.outer;
  for (const Loop& loop : loops.temporal) inside.compute_cycles *= static_cast<double>(loop.trips);
  inside.leakage = model.prices.leakage(loops);
  inside.base.fill(0);
  inside.streams.clear();
  inside.base[0] = model.machine.mac.energy.value * static_cast<double>(computes(model.problem));
  for (std::size_t tensor = 0; tensor < model.flows.size(); ++tensor) {
    const Flow& flow = model.flows[tensor];
    // Of the outermost level it depends on the outermost loops, of inner ones on blocks that may not be chosen: the
    // narrower.
    const auto is_partial = [&](std::size_t level) {
      const bool surely = is_added_to(model, loops, inside, flow, level);
      const bool open = level == outermost || (together && level > 0 && level + 1 < outermost);
      if (!open || surely) return surely;
      return model.prices.bits(tensor, level, true) < model.prices.bits(tensor, level, false);
    };
    std::size_t below = model.level_count;  // the last level that keeps it
    for (std::size_t level = 0; level <= outermost; ++level) {
      if ((inside.mapping.levels[level].keeps >> tensor & 1) == 0) continue;
      if (below == model.level_count) {
        add_mac_words(model, loops, unknown, tensor, level, is_partial(level), inside.compute_cycles, inside.base);
      } else if (below + 1 < outermost) {
        Stream stream =
            make_stream(model, loops, unknown, tensor, below, level, is_partial(below), is_partial(level), inside.base);
        if (together && below + 2 < outermost && settle(model, stream, tensor, inside)) {
          below = level;
          continue;
        }
        add_inner_loops(loops, inside.outer, stream, inside.base, count);
        if (is_closed(stream)) {  // all that turns outside brings its tile again
          add(inside.base, stream.below, stream.full * (inside.outer - 1), count);
          add(inside.base, stream.above, stream.full * (inside.outer - 1), count);
        } else {
          inside.streams.push_back(std::move(stream));
        }
      }
      below = level;
    }
  }
  inside.least = inside.base;
  for (const Stream& stream : inside.streams) {
    const double words = least_words(stream, inside);
    add(inside.least, stream.below, words, count);
    add(inside.least, stream.above, words, count);
  }
}

}  // namespace tilewright::optimum
