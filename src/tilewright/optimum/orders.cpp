#include "tilewright/optimum/orders.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright::optimum {

using hierarchy::Extents;
using hierarchy::Judge;
using hierarchy::Loop;
using hierarchy::Shift;

namespace {

constexpr double kAlmost = 1 - 1e-11;  // sums in another order differ in the last digits

void add(Costs& into, const Costs& costs, double times, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) into[at] += costs[at] * times;
}

StreamState begin_of(const Stream& stream) {
  return {&stream, stream.inside, stream.empty, stream.moved, stream.moved, stream.first, 0};
}

// Words that an advance of `loop` brings, at the least when the first mover is not known. `candidates` are loops inside that
// may be it.
struct Bringing {
  double words = 0;
  Stream::Share share;
  Shift shift{};
};

template <typename Candidates>
Bringing brought_by(const StreamState& state, const Loop& loop, const Extents& inside, bool empty, bool moved,
                    const Candidates& may_be_first) {
  const Stream& stream = *state.stream;
  const Flow& flow = *stream.flow;
  Bringing bringing;
  if (!moved && !flow.is_relevant(loop.dim)) return bringing;
  if (!flow.slides()) {
    bringing.words = stream.full;
    return bringing;
  }
  if (flow.judge() == Judge::Hierarchy) {
    bringing.words = flow.fresh(stream.tile, stream.full, loop.dim, loop.step, inside);
    return bringing;
  }
  bringing.shift = flow.shift(loop.dim, loop.step, inside);
  if (flow.is_zero(bringing.shift)) return bringing;
  const bool kept = !moved || (state.first_known ? flow.same(bringing.shift, state.first) : may_be_first(bringing.shift));
  bringing.words = kept ? flow.difference(stream.tile, stream.full, bringing.shift) : stream.full;
  if (stream.links && (empty || moved)) bringing.share = stream.least_share(bringing.shift);
  return bringing;
}

bool brings(const Flow& flow, const Loop& loop, const Shift& shift) {
  for (std::size_t rank = 0; rank < flow.view().rank_count; ++rank) {
    if (flow.view().move[loop.dim][rank] * loop.step != shift[rank]) return false;
  }
  return flow.is_relevant(loop.dim);
}

void charge(Costs& costs, const Stream& stream, const Bringing& bringing, double weight, std::size_t count) {
  if (bringing.words == 0) return;
  add(costs, stream.below, weight * bringing.words * bringing.share.below, count);
  add(costs, stream.above, weight * bringing.words * bringing.share.above, count);
}

}  // namespace

Orders::Orders(const Model& model, Goal goal, const Limits& limits)
    : model_(model), goal_(goal), limits_(limits), count_(model.prices.count()) {}

bool Orders::may_follow(const BlockLoops& block, std::uint32_t set, std::size_t next) const {
  if (block.rule == nullptr) return true;
  const auto at = [&](std::uint8_t dim) {  // its number in the block, or none
    std::size_t number = 0;
    while (number < block.loops.size() && block.loops[number].dim != dim) ++number;
    return number;
  };
  const auto in = [&](const std::vector<std::uint8_t>& dims) {
    return std::ranges::find(dims, block.loops[next].dim) != dims.end();
  };
  // Those that have to be inside come first, in their order.
  for (const std::uint8_t dim : block.rule->innermost) {
    const std::size_t number = at(dim);
    if (number == block.loops.size() || (set >> number & 1) != 0) continue;
    if (number == next) break;
    return false;
  }
  if (!in(block.rule->outermost)) return true;
  for (std::size_t number = 0; number < block.loops.size(); ++number) {
    if (number == next || (set >> number & 1) != 0) continue;
    const std::uint8_t dim = block.loops[number].dim;
    const auto& last = block.rule->outermost;
    const auto place = std::ranges::find(last, dim);
    if (place == last.end() || place < std::ranges::find(last, block.loops[next].dim)) return false;
  }
  return true;
}

void Orders::set_togo(const BlockLoops& block, const std::vector<StreamState>& states, std::vector<Costs>& togo) {
  const std::size_t loops = block.loops.size(), full = std::size_t{1} << loops;
  togo.resize(full);
  togo[full - 1].fill(0);
  for (std::size_t set = full - 1; set-- > 0;) {
    Costs& least = togo[set];
    std::fill_n(least.begin(), count_, std::numeric_limits<double>::infinity());
    double above = block.outside;
    for (std::size_t at = 0; at < loops; ++at)
      above *= (set >> at & 1) == 0 ? static_cast<double>(block.loops[at].trips) : 1;
    std::array<Costs, hierarchy::kMostDims> edges;
    for (std::size_t next = 0; next < loops; ++next) std::fill_n(edges[next].begin(), count_, 0.0);
    for (const StreamState& state : states) {
      const Flow& flow = *state.stream->flow;
      Extents inside = state.inside;
      bool moved = state.moved;
      for (std::size_t at = 0; at < loops; ++at) {
        if ((set >> at & 1) == 0 || !flow.is_relevant(block.loops[at].dim)) continue;
        inside[block.loops[at].dim] += flow.displacement(block.loops[at].trips, block.loops[at].step);
        moved = true;
      }
      const auto may_be_first = [&](const Shift& shift) {
        for (std::size_t at = 0; at < below_.size(); ++at) {
          if ((state.candidates >> at & 1) != 0 && brings(flow, below_[at], shift)) return true;
        }
        if (state.candidates != 0) return false;  // the first is among those
        for (std::size_t at = 0; at < loops; ++at) {
          if ((set >> at & 1) != 0 && brings(flow, block.loops[at], shift)) return true;
        }
        return false;
      };
      for (std::size_t next = 0; next < loops; ++next) {
        if ((set >> next & 1) != 0) continue;
        const Loop& loop = block.loops[next];
        const double weight = static_cast<double>(loop.trips - 1) * above / static_cast<double>(loop.trips);
        charge(edges[next], *state.stream, brought_by(state, loop, inside, state.empty && set == 0, moved, may_be_first),
               weight, count_);
      }
    }
    for (std::size_t next = 0; next < loops; ++next) {
      if ((set >> next & 1) != 0 || !may_follow(block, static_cast<std::uint32_t>(set), next)) continue;
      const Costs& rest = togo[set | std::size_t{1} << next];
      for (std::size_t at = 0; at < count_; ++at) least[at] = std::min(least[at], edges[next][at] + rest[at]);
    }
  }
}

// What is known of the streams once all loops of the buffer's block are inside.
std::vector<StreamState> Orders::after_buffer() const {
  std::vector<StreamState> states = begin_;
  for (StreamState& state : states) {
    const Flow& flow = *state.stream->flow;
    for (std::size_t at = 0; at < task_.buffer.loops.size(); ++at) {
      const Loop& loop = task_.buffer.loops[at];
      state.empty = false;
      if (!flow.is_relevant(loop.dim)) continue;
      if (!state.first_known) state.candidates |= std::uint32_t{1} << at;
      state.inside[loop.dim] += flow.displacement(loop.trips, loop.step);
      state.moved = true;
    }
  }
  for (const Stream* stream : task_.last) states.push_back(begin_of(*stream));
  return states;
}

void Orders::set(const Task& task) {
  task_ = task;
  begin_.clear();
  for (const Stream* stream : task_.both) begin_.push_back(begin_of(*stream));
  below_.clear();
  set_togo(task_.buffer, begin_, togo_[0]);
  below_.assign(task_.buffer.loops.begin(), task_.buffer.loops.end());
  set_togo(task_.outermost, after_buffer(), togo_[1]);
}

void Orders::set_outermost(const Task& task) {
  task_ = task;
  begin_.clear();
  below_.clear();
  togo_[0].assign(1, Costs{});
  std::vector<StreamState> states;
  for (const Stream* stream : task_.last) states.push_back(begin_of(*stream));
  set_togo(task_.outermost, states, togo_[1]);
}

Costs Orders::least() const {
  Costs costs = *task_.base;
  add(costs, togo_[0][0], 1, count_);
  add(costs, togo_[1][0], 1, count_);
  return costs;
}

double Orders::bound(const Costs& costs) const {
  double cycles = std::max(task_.compute_cycles, model_.prices.cycles(costs));
  cycles = std::max(task_.compute_cycles, std::ceil(cycles * kAlmost));
  const double energy = (costs[0] + task_.leakage * cycles) * kAlmost;
  if (cycles > limits_.cycles || energy > limits_.energy) return std::numeric_limits<double>::infinity();
  return value_of(goal_, energy, cycles);
}

bool Orders::descend(std::size_t block, const Node& node, const double& incumbent, std::int64_t& nodes, const Leaf& leaf) {
  const BlockLoops& loops = block == 0 ? task_.buffer : task_.outermost;
  const std::size_t count = loops.loops.size();
  if (node.set + 1 == std::uint32_t{1} << count) {
    if (block == 1) {
      leaf(order_[0], order_[1]);
      return true;
    }
    Node next{0, node.costs, node.states};
    for (StreamState& state : next.states) state.candidates = 0;
    for (const Stream* stream : task_.last) next.states.push_back(begin_of(*stream));
    return descend(1, next, incumbent, nodes, leaf);
  }
  double above = loops.outside;
  for (std::size_t at = 0; at < count; ++at)
    above *= (node.set >> at & 1) == 0 ? static_cast<double>(loops.loops[at].trips) : 1;
  std::vector<std::pair<double, std::size_t>> ranked;
  std::vector<Node> nexts;
  for (std::size_t at = 0; at < count; ++at) {
    if ((node.set >> at & 1) != 0 || !may_follow(loops, node.set, at)) continue;
    const Loop& loop = loops.loops[at];
    Node next{node.set | std::uint32_t{1} << at, node.costs, node.states};
    for (StreamState& state : next.states) {
      const Flow& flow = *state.stream->flow;
      const Bringing bringing =
          brought_by(state, loop, state.inside, state.empty, state.moved, [](const Shift&) { return false; });
      charge(next.costs, *state.stream, bringing,
             static_cast<double>(loop.trips - 1) * above / static_cast<double>(loop.trips), count_);
      if (flow.is_relevant(loop.dim)) {
        if (!state.moved) state.first = bringing.shift, state.first_known = true;
        state.moved = true;
        state.inside[loop.dim] += flow.displacement(loop.trips, loop.step);
      }
      state.empty = false;
    }
    Costs costs = next.costs;
    add(costs, togo_[block][next.set], 1, count_);
    if (block == 0) add(costs, togo_[1][0], 1, count_);
    ranked.emplace_back(order_bounds ? bound(costs) : 0, nexts.size());
    nexts.push_back(std::move(next));
  }
  std::ranges::sort(ranked);
  for (const auto& [least, index] : ranked) {
    if (least >= incumbent * (1 - kTolerance)) break;
    ++nodes;
    if (stop && stop()) return false;
    const std::uint32_t added = nexts[index].set & ~node.set;
    std::size_t at = 0;
    while ((added >> at & 1) == 0) ++at;
    order_[block].push_back(loops.loops[at].dim);
    const bool goes_on = descend(block, nexts[index], incumbent, nodes, leaf);
    order_[block].pop_back();
    if (!goes_on) return false;
  }
  return true;
}

bool Orders::search(const double& incumbent, std::int64_t& nodes, const Leaf& leaf) {
  order_[0].clear();
  order_[1].clear();
  return descend(0, {0, *task_.base, begin_}, incumbent, nodes, leaf);
}

}  // namespace tilewright::optimum
