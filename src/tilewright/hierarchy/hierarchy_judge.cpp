#include "tilewright/hierarchy/hierarchy_judge.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright::hierarchy {
namespace {

std::int64_t whole(double words) { return static_cast<std::int64_t>(std::llround(words)); }

}  // namespace

HierarchyJudge::HierarchyJudge(const Problem& problem, const Machine& machine)
    : problem_(problem), machine_(machine), counter_(problem) {
  for (const Tensor& tensor : problem.tensors) {
    std::uint32_t relevant = 0;
    for (const auto& rank : tensor.ranks) {
      for (const Term& term : rank) relevant |= std::uint32_t{1} << term.dim;
    }
    relevant_.push_back(relevant);
  }
}

std::int64_t HierarchyJudge::bits(std::size_t tensor, std::size_t level, const Loops& loops) const {
  const std::int64_t word = machine_.levels[level].word_bits;
  const ElementBits& bits = machine_.bits;
  const auto or_word = [&](std::int64_t given) { return given == 0 ? word : given; };
  switch (problem_.tensors[tensor].kind) {
    case TensorKind::Weight:
      return or_word(bits.weights);
    case TensorKind::Input:
      return or_word(bits.inputs);
    case TensorKind::Output:
      break;
  }
  const auto adds = [&](const Loop& loop) { return (relevant_[tensor] >> loop.dim & 1) == 0; };
  for (std::size_t at = loops.first[level]; at < loops.temporal.size(); ++at) {
    if (adds(loops.temporal[at])) return or_word(bits.partial_sums);
  }
  for (std::size_t outside = level + 1; outside < loops.level_count; ++outside) {
    for (const Loop& loop : loops.spatial[outside].loops) {
      if (adds(loop)) return or_word(bits.partial_sums);
    }
  }
  return or_word(bits.outputs);
}

std::optional<Infeasible> HierarchyJudge::misfit(const Mapping& mapping, const Loops& loops, Analysis& into) const {
  const MacArray& mac = machine_.mac;
  if (auto fault = fanout_fault(kMacLevel, loops.mac_x, loops.mac_y, mac.instances, mac.mesh_x, mac.mesh_y())) return fault;
  for (std::size_t index = 0; index < machine_.levels.size(); ++index) {
    const StorageLevel& level = machine_.levels[index];
    const auto number = static_cast<std::uint8_t>(index);
    if (const auto usable = level.usable()) {
      double need_bits = 0;
      for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
        if ((mapping.levels[index].keeps >> tensor & 1) == 0) continue;
        need_bits += static_cast<double>(counter_.tile(tensor, loops.boundary[index])) *
                     static_cast<double>(bits(tensor, index, loops));
      }
      const auto need = static_cast<std::int64_t>(std::ceil(need_bits / static_cast<double>(level.word_bits)));
      into.levels[index].held = need;
      if (need > *usable) return Infeasible{Infeasible::Reason::Capacity, number, need, *usable};
      const double least = level.min_utilization * static_cast<double>(*usable);
      if (static_cast<double>(need) < least)
        return Infeasible{Infeasible::Reason::Utilization, number, static_cast<std::int64_t>(std::ceil(least)), need};
    }
    if (auto fault =
            fanout_fault(number, loops.used_x[index], loops.used_y[index], level.instances, level.mesh_x, level.mesh_y()))
      return fault;
  }
  return std::nullopt;
}

void HierarchyJudge::count(std::size_t tensor, const Mapping& mapping, const Loops& loops, Analysis& into) {
  const bool output = problem_.tensors[tensor].kind == TensorKind::Output;
  double all_words = 1;  // of an output, whose ranks have one dimension each
  for (std::size_t dim = 0; dim < problem_.dims.size(); ++dim) {
    if ((relevant_[tensor] >> dim & 1) != 0) all_words *= static_cast<double>(problem_.bounds[dim]);
  }
  std::optional<std::size_t> inside;
  for (std::size_t level = 0; level < loops.level_count; ++level) {
    TensorCounts& counts = into.levels[level].tensors[tensor];
    NetworkCounts& network = into.levels[level].networks[tensor];
    counts = {};
    network.records.clear();
    network.links = 0;
    drains_[level][tensor] = 0;
    counts.kept = (mapping.levels[level].keeps >> tensor & 1) != 0;
    if (!counts.kept) continue;
    counts.tile = counter_.tile(tensor, loops.boundary[level]);
    // What the copies inside take; an output goes up every time and comes down again but for the first.
    double taken = 0, delivered = 0;
    if (inside) {
      const Entries entries = counter_.entries(tensor, loops, *inside, level);
      taken = entries.groups;
      delivered = entries.all;
    } else {
      taken = delivered = counter_.mac_words(tensor, loops, level);
    }
    network.records.push_back({1, 1, taken, 0});
    if (!output) {
      counts.reads += whole(taken);
      if (inside) into.levels[*inside].tensors[tensor].fills += whole(delivered);
    } else {
      const double again = taken - all_words * counter_.sharers(tensor, loops, level);
      counts.updates += whole(taken);
      counts.reads += whole(again);
      if (inside) {
        TensorCounts& below = into.levels[*inside].tensors[tensor];
        below.fills += whole(again);  // one copy of those that add together starts from the sum so far
        below.reads += whole(delivered);
        drains_[*inside][tensor] = delivered;
      }
    }
    inside = level;
  }
}

// Cycles that the ports of a level need, its copies sharing the work evenly; the value is what cannot hide behind computing.
double HierarchyJudge::set_cycles(std::size_t index, const Loops& loops, Analysis& into) const {
  const StorageLevel& level = machine_.levels[index];
  LevelAnalysis& analysed = into.levels[index];
  const double copies = static_cast<double>(analysed.instances) * static_cast<double>(level.word_bits);
  double reads = 0, writes = 0, fills = 0, drains = 0;
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    const TensorCounts& counts = analysed.tensors[tensor];
    if (!counts.kept) continue;
    const double words = static_cast<double>(bits(tensor, index, loops)) / copies;  // of the level, per copy
    reads += static_cast<double>(counts.reads) * words;
    writes += static_cast<double>(counts.fills + counts.updates) * words;
    fills += static_cast<double>(counts.fills) * words;
    drains += drains_[index][tensor] * words;
  }
  double busy = 0, exposed = 0;
  if (level.read_bandwidth) busy = std::max(busy, reads / *level.read_bandwidth), exposed += drains / *level.read_bandwidth;
  if (level.write_bandwidth)
    busy = std::max(busy, writes / *level.write_bandwidth), exposed += fills / *level.write_bandwidth;
  if (level.shared_bandwidth) {
    busy = std::max(busy, (reads + writes) / *level.shared_bandwidth);
    exposed = std::max(exposed, (fills + drains) / *level.shared_bandwidth);
  }
  const double compute = static_cast<double>(into.compute_cycles);
  analysed.cycles = static_cast<std::int64_t>(std::ceil(std::max(busy, compute)));
  analysed.slowdown = busy > compute ? compute / busy : 1;
  return level.overlaps ? 0 : exposed;
}

void HierarchyJudge::set_energy(std::size_t index, const Loops& loops, Analysis& into) const {
  const StorageLevel& level = machine_.levels[index];
  LevelAnalysis& analysed = into.levels[index];
  const double block_bits = static_cast<double>(level.block_size * level.word_bits);
  const double shared = static_cast<double>(analysed.clusters) / static_cast<double>(analysed.instances);
  analysed.energy = analysed.network_energy = {0};
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
    TensorCounts& counts = analysed.tensors[tensor];
    if (!counts.kept) continue;
    const double width = static_cast<double>(bits(tensor, index, loops));
    const auto accesses = [&](std::int64_t words) { return std::ceil(static_cast<double>(words) * width / block_bits); };
    counts.energy = {(accesses(counts.reads) * level.energy.read.value + accesses(counts.fills) * level.energy.fill.value +
                      accesses(counts.updates) * level.energy.update.value) *
                     shared};
    analysed.energy += counts.energy;
    // Words go to the middle of the grid inside on average: half its columns and half its rows away.
    const SpatialBlock& block = loops.spatial[index];
    const double hops = static_cast<double>(block.columns + block.rows - 2) / 2;
    const double moved = analysed.networks[tensor].words() * width / static_cast<double>(level.word_bits);
    analysed.network_energy += Picojoules{moved * (hops * level.energy_per_hop.value + level.router_energy.value)};
  }
}

Evaluation HierarchyJudge::evaluate(const Mapping& mapping, const Loops& loops, Analysis& into) {
  if (auto fault = misfit(mapping, loops, into)) return *fault;
  for (std::size_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) count(tensor, mapping, loops, into);
  into.macs = loops.mac_x * loops.mac_y;
  into.compute_cycles = whole(counter_.steps(loops));
  Cost& cost = into.cost;
  cost = {{into.compute_cycles}, into.mac_energy, 0, kMacLevel};
  double exposed = 0;
  for (std::size_t level = 0; level < loops.level_count; ++level) {
    LevelAnalysis& analysed = into.levels[level];
    const StorageLevel& storage = machine_.levels[level];
    analysed.instances = whole(counter_.copies(loops, level));
    analysed.clusters = std::min(analysed.instances, storage.instances / storage.cluster_size);
    analysed.fanout = loops.spatial[level].elements();
    exposed += set_cycles(level, loops, into);
    set_energy(level, loops, into);
    if (analysed.cycles > cost.cycles.value) {
      cost.cycles = {analysed.cycles};
      cost.bottleneck = static_cast<std::uint8_t>(level);
    }
  }
  cost.cycles += Cycles{static_cast<std::int64_t>(std::ceil(exposed))};
  const double cycles = static_cast<double>(cost.cycles.value);
  for (std::size_t level = 0; level < loops.level_count; ++level) {
    LevelAnalysis& analysed = into.levels[level];
    const StorageLevel& storage = machine_.levels[level];
    analysed.energy += Picojoules{storage.leakage.value * static_cast<double>(storage.instances) * cycles};
    cost.energy += analysed.energy + analysed.network_energy;
  }
  cost.utilization = static_cast<double>(into.computes) / static_cast<double>(machine_.mac.instances) / cycles;
  return cost;
}

}  // namespace tilewright::hierarchy
