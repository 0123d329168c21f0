#include "tilewright/optimum/search.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright::optimum {

using hierarchy::Mapping;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kAlmost = 1 - 1e-11;  // sums in another order differ in the last digits

}  // namespace

double Search::bound(const Costs& costs, const Inside& inside) const {
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(costs) * kAlmost));
  const double energy = (costs[0] + inside.leakage * cycles) * kAlmost;
  if (cycles > options_.limits.cycles || energy > options_.limits.energy) return kNone;
  return value_of(options_.goal, energy, cycles);
}

// Of an inside that takes so many cycles with any tile that costs as much as this one.
double Search::tile_bound(const Inside& inside, const BufferTile& tile, double cycles) const {
  if (options_.goal == Goal::Latency) return std::max(cycles, model_.prices.cycles(tile.least) * kAlmost);
  return value_of(options_.goal, (inside.least[0] + tile.least[0] + inside.leakage * cycles) * kAlmost, cycles);
}

bool Search::pair_up(const Inside& inside, Outside& outside, const std::vector<BufferTile>& tiles) {
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(inside.least) * kAlmost));
  arrangements_.clear();
  for (const BufferTile& tile : tiles) {
    // The tiles come by rising cost, so what is too dear stays so.
    const double least = tile_bound(inside, tile, cycles);
    if (options_.bounds.insides && is_worse(least)) break;
    bool divides = true;
    for (std::size_t dim = 0; dim < model_.dim_count && divides; ++dim)
      divides = tile.extents[dim] % inside.extents[dim] == 0;
    if (!divides) continue;
    ++certificate_.nodes;
    if (stopped()) return false;
    if (!look_at(inside, outside, tile)) return false;
  }
  return true;
}

bool Search::set_blocks(const Inside& inside, const Outside& outside, const BufferTile& tile, Orders::Task& task) const {
  const hierarchy::BlockRestriction& rule = model_.restriction.levels[model_.level_count - 2].temporal;
  task.outermost = outside.outermost_block(tile.extents);
  task.buffer.rule = &rule;
  task.buffer.loops.clear();
  task.buffer.outside = 1;
  for (const hierarchy::Loop& loop : task.outermost.loops) task.buffer.outside *= static_cast<double>(loop.trips);
  for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
    const std::int64_t trips = tile.extents[dim] / inside.extents[dim];
    if (!Choices::allows(rule, dim, trips)) return false;
    if (trips > 1) task.buffer.loops.push_back({trips, inside.extents[dim], dim});
  }
  return true;
}

// Where a loop of the buffer moves a tensor, all outermost loops bring its tile again.
double Search::pair_bound(const Inside& inside, const BufferTile& tile, const Orders::Task& task) {
  Costs costs = inside.base;
  for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += tile.least[at];
  for (const Stream& stream : inside.streams) {
    if (stream.moved) continue;
    const std::uint32_t certain = stream.flow->slides() ? stream.flow->certain() : stream.flow->relevant();
    double trips = 1;
    for (const hierarchy::Loop& loop : task.buffer.loops) {
      if ((certain >> loop.dim & 1) != 0) trips *= static_cast<double>(loop.trips);
    }
    const bool moves = trips > 1;
    for (const hierarchy::Loop& loop : task.outermost.loops) {
      if (moves || (certain >> loop.dim & 1) != 0) trips *= static_cast<double>(loop.trips);
    }
    const double words = stream.full * (trips - 1);
    for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += words * (stream.below[at] + stream.above[at]);
  }
  return bound(costs, inside);
}

// `base` outlives the task.
void Search::set_task(const Inside& inside, Outside& outside, const BufferTile& tile, Costs& base, Orders::Task& task) {
  hierarchy::TensorMask inner_sums = 0;
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
    if (!model_.is_output(tensor)) continue;
    for (const hierarchy::Loop& loop : task.buffer.loops) {
      if (!model_.flows[tensor].is_relevant(loop.dim))
        inner_sums = static_cast<hierarchy::TensorMask>(inner_sums | 1u << tensor);
    }
  }
  outside.set(tile.extents, inner_sums);
  base = inside.base;
  for (std::size_t at = 0; at < model_.prices.count(); ++at) base[at] += outside.base()[at];
  task.base = &base;
  task.compute_cycles = inside.compute_cycles;
  task.leakage = inside.leakage;
  for (const Stream& stream : inside.streams) task.both.push_back(&stream);
  for (const Stream& stream : outside.streams()) task.last.push_back(&stream);
  orders_.set(task);
}

bool Search::look_at(const Inside& inside, Outside& outside, const BufferTile& tile) {
  Orders::Task task;
  if (!set_blocks(inside, outside, tile, task)) return true;
  if (options_.bounds.pairs && is_worse(pair_bound(inside, tile, task))) return true;
  Costs base;
  set_task(inside, outside, tile, base, task);
  if (options_.bounds.paths && is_worse(orders_.bound(orders_.least()))) return true;
  return judge_orders(inside, task);
}

// False when it was stopped.
bool Search::judge_orders(const Inside& inside, const Orders::Task& task) {
  const std::size_t outermost = model_.level_count - 1;
  if (arrangements_.empty()) arrangements_ = choices_.arrangements(inside.mapping);
  return orders_.search(incumbent_, certificate_.nodes,
                        [&](const std::vector<std::uint8_t>& buffer, const std::vector<std::uint8_t>& last) {
                          for (Mapping mapping : arrangements_) {
                            for (const bool outer : {false, true}) {
                              hierarchy::Block& block = mapping.levels[outer ? outermost : outermost - 1].temporal;
                              const auto& order = outer ? last : buffer;
                              for (const hierarchy::Loop& loop : (outer ? task.outermost : task.buffer).loops)
                                block.factors[loop.dim] = loop.trips;
                              std::size_t at = 0;
                              for (const std::uint8_t dim : order) block.order[at++] = dim;
                              for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
                                if (std::ranges::find(order, dim) == order.end()) block.order[at++] = dim;
                              }
                            }
                            judge(mapping);
                          }
                        });
}

// The least bound of all tiles and orders, or any value that is no more than it and no more than `enough`.
double Search::least_with(const Inside& inside, Group& group, double enough) {
  double best = kNone;
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(inside.least) * kAlmost));
  for (const BufferTile& tile : group.tiles) {
    const double least = tile_bound(inside, tile, cycles);
    if (least >= best || is_worse(least)) break;
    bool divides = true;
    for (std::size_t dim = 0; dim < model_.dim_count && divides; ++dim)
      divides = tile.extents[dim] % inside.extents[dim] == 0;
    if (!divides) continue;
    ++certificate_.nodes;
    Orders::Task task;
    if (!set_blocks(inside, group.outside, tile, task)) continue;
    const double pair = pair_bound(inside, tile, task);
    if (pair >= best || is_worse(pair)) continue;
    Costs base;
    set_task(inside, group.outside, tile, base, task);
    best = std::min(best, orders_.bound(orders_.least()));
    if (best <= enough) break;
  }
  return best;
}

}  // namespace tilewright::optimum
