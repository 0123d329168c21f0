#include "tilewright/optimum/stream.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright::optimum {

using hierarchy::Extents;
using hierarchy::Judge;
using hierarchy::Loop;
using hierarchy::Loops;
using hierarchy::Shift;
using hierarchy::StorageLevel;

Model::Model(const Question& question)
    : problem(question.problem),
      machine(question.machine),
      judge(question.judge),
      restriction(question.restriction),
      prices(problem, machine, judge),
      dim_count(problem.dims.size()),
      level_count(machine.levels.size()) {
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) flows.emplace_back(problem, tensor, judge);
}

Stream::Share Stream::least_share(const Shift& shift) const {
  if (!links) return {};
  if (offsets.empty()) return {0, parents > 1 ? 1 / parents : 1};
  double all = 1, meet = 1;
  for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
    const auto& sums = offsets[rank];
    std::size_t met = 0;
    for (const std::int64_t sum : sums) met += std::ranges::binary_search(sums, sum + shift[rank]) ? 1 : 0;
    if (met == 0) return {};
    all *= static_cast<double>(sums.size());
    meet *= static_cast<double>(met);
  }
  // As many copies as groups stay at least; what the others take from neighbours is counted among all copies of the parents.
  const double left = (all - meet) / copies;
  return {(all - meet) / all, 1 - (1 - left) * (1 - 1 / parents)};
}

namespace {

// Groups of copies that a level serves when the level inside it is passed by: scaled by what each copy gets.
double groups_passed_by(const Model& model, const Flow& flow, const Loops& loops, std::size_t level, std::uint32_t unknown) {
  const Sharing sharing = sharing_of(flow, loops, level, level, unknown);
  const StorageLevel& storage = model.machine.levels[level];
  if (!storage.multicast) return sharing.copies;
  const bool links = storage.links && (flow.slides() || level == 0);
  return links ? sharing.copies / sharing.largest : sharing.groups;
}

double copies_of(const Loops& loops, std::size_t above) {
  double copies = 1;
  for (std::size_t level = above + 1; level < loops.level_count; ++level)
    copies *= static_cast<double>(loops.spatial[level].elements());
  return copies;
}

// Different words of an output that pass through a copy of `level`: Timeloop's partition, or more.
double partition_of(const Flow& flow, const Model& model, const Loops& loops, std::size_t level) {
  Extents whole{};
  std::copy(model.problem.bounds.begin(), model.problem.bounds.end(), whole.begin());
  double words = flow.tile(whole);
  if (!flow.is_plain()) return words;
  for (std::size_t outside = level + 1; outside < loops.level_count; ++outside) {
    for (const Loop& loop : loops.spatial[outside].loops) {
      if (flow.is_relevant(loop.dim)) words /= static_cast<double>(loop.trips);
    }
  }
  return words;
}

Prices::Place place_of(const Model& model, const Loops& loops, std::size_t tensor, std::size_t level, bool partial) {
  return {level, static_cast<double>(loops.used(level)), model.prices.bits(tensor, level, partial)};
}

// What neither block nor boundary changes: hops over half the grid, and routers (model hierarchy).
double network_energy(const Model& model, const Loops& loops, std::size_t level, double bits) {
  const StorageLevel& storage = model.machine.levels[level];
  // Columns plus rows of so many copies are at least twice the root.
  const double side = std::sqrt(static_cast<double>(loops.spatial[level].elements()));
  const double hops = std::max(0.0, side - 1) * (1 - 1e-12);
  return bits / static_cast<double>(storage.word_bits) * (hops * storage.energy_per_hop.value + storage.router_energy.value);
}

// Routers that `words` of one copy pass on their way to what lies inside a level, at least one each (model timeloop). Every
// record of words is cut to a whole number; there is one of a tensor that does not slide, and of others never so many.
double routed(const Model& model, const Flow& flow, const Loops& loops, std::size_t level, double words) {
  const double router = model.machine.levels[level].router_energy.value;
  const bool one = !flow.slides() && (level > 0 || !model.machine.levels[0].links);
  const double records = one ? 1 : 100 * (std::sqrt(2 * static_cast<double>(loops.spatial[level].elements())) + 1);
  return router * static_cast<double>(loops.used(level)) * (words - records);
}

void set_links(const Model& model, const Loops& loops, Stream& stream) {
  const std::size_t level = stream.child + 1u;
  const StorageLevel& storage = model.machine.levels[level];
  stream.copies = static_cast<double>(loops.spatial[level].elements());
  stream.parents = static_cast<double>(loops.used(level));
  stream.links = model.judge == Judge::Timeloop && storage.links && stream.flow->slides() && stream.copies > 1;
  if (!stream.links || !storage.multicast) return;
  const hierarchy::TensorView& view = stream.flow->view();
  for (std::size_t rank = 0; rank < view.rank_count; ++rank) {
    std::vector<std::int64_t>& sums = stream.offsets.emplace_back(1, 0);
    for (const Loop& loop : loops.spatial[level].loops) {
      const std::int64_t move = view.move[loop.dim][rank] * loop.step;
      const std::size_t count = sums.size();
      for (std::int64_t trip = 1; trip < loop.trips && move != 0; ++trip) {
        for (std::size_t at = 0; at < count; ++at) sums.push_back(sums[at] + trip * move);
      }
    }
    std::ranges::sort(sums);
    sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  }
}

}  // namespace

Stream make_stream(const Model& model, const Loops& loops, std::uint32_t unknown, std::size_t tensor, std::size_t child,
                   std::size_t parent, bool child_partial, bool parent_partial, Costs& base) {
  Stream stream;
  const Flow& flow = model.flows[tensor];
  stream.flow = &flow;
  stream.child = static_cast<std::uint8_t>(child);
  stream.parent = static_cast<std::uint8_t>(parent);
  stream.tile = loops.boundary[child];
  stream.full = flow.tile(stream.tile);
  const Prices& prices = model.prices;
  const auto below = place_of(model, loops, tensor, child, child_partial);
  const auto above = place_of(model, loops, tensor, parent, parent_partial);
  const bool output = model.is_output(tensor);
  if (model.judge == Judge::Timeloop) {
    set_links(model, loops, stream);
    const StorageLevel& next = model.machine.levels[child + 1];
    const Sharing sharing = sharing_of(flow, loops, child + 1, child + 1, unknown);
    double groups = next.multicast ? sharing.groups : sharing.copies;
    const auto route = [&](std::size_t level) {
      const double none = routed(model, flow, loops, level, 0);
      stream.above[0] += routed(model, flow, loops, level, groups) - none;
      base[0] += none;
    };
    route(child + 1);
    for (std::size_t level = child + 2; level <= parent; ++level) {
      groups *= groups_passed_by(model, flow, loops, level, unknown);
      route(level);
    }
    prices.add_fills(stream.below, below, 1);
    prices.add_reads(stream.above, above, groups);
    if (output) {
      prices.add_updates(stream.above, above, groups);
      prices.add_fills(base, below, -partition_of(flow, model, loops, child));
      prices.add_reads(base, above, -partition_of(flow, model, loops, parent));
    }
    // Shares of linked words are cut to whole words.
    if (stream.links) prices.add_fills(base, below, -1), prices.add_reads(base, above, -1);
    return stream;
  }
  const double copies = copies_of(loops, child);
  const double groups = sharing_of(flow, loops, child + 1, parent, unknown).groups * copies_of(loops, parent);
  prices.add_reads(stream.above, above, groups);
  stream.above[0] += groups * network_energy(model, loops, parent, above.bits);
  if (!output) {
    prices.add_fills(stream.below, below, copies);
    return stream;
  }
  prices.add_updates(stream.above, above, groups);
  prices.add_fills(stream.below, below, groups);
  prices.add_reads(stream.below, below, copies);
  double sharers = 1;
  for (std::size_t level = parent + 1; level < loops.level_count; ++level) {
    for (const Loop& loop : loops.spatial[level].loops)
      sharers *= flow.is_relevant(loop.dim) ? 1 : static_cast<double>(loop.trips);
  }
  double words = 1;
  for (std::size_t dim = 0; dim < model.dim_count; ++dim)
    words *= flow.is_relevant(static_cast<std::uint8_t>(dim)) ? static_cast<double>(model.problem.bounds[dim]) : 1;
  prices.add_reads(base, above, -words * sharers);
  prices.add_fills(base, below, -words * sharers);
  return stream;
}

void add_mac_words(const Model& model, const Loops& loops, std::uint32_t unknown, std::size_t tensor, std::size_t level,
                   bool partial, double steps, Costs& base) {
  const Flow& flow = model.flows[tensor];
  const auto place = place_of(model, loops, tensor, level, partial);
  double words = steps;
  if (model.judge == Judge::Timeloop) {
    const bool links = model.machine.levels[0].links && !loops.spatial[0].loops.empty();
    if (links) words = 1;  // only the first is surely not taken from a neighbour
    for (std::size_t nearer = 0; nearer <= level; ++nearer) {
      const Sharing sharing = sharing_of(flow, loops, nearer, nearer, unknown);
      words *= nearer == 0 ? (model.machine.levels[0].multicast ? sharing.groups : sharing.copies)
                           : groups_passed_by(model, flow, loops, nearer, unknown);
      base[0] += routed(model, flow, loops, nearer, words);
    }
    if (model.is_output(tensor)) model.prices.add_reads(base, place, -partition_of(flow, model, loops, level));
  } else {
    words *= sharing_of(flow, loops, 0, level, unknown).groups * copies_of(loops, level);
    base[0] += words * network_energy(model, loops, level, place.bits);
    if (model.is_output(tensor)) {
      double whole = 1;
      for (std::size_t dim = 0; dim < model.dim_count; ++dim)
        whole *= flow.is_relevant(static_cast<std::uint8_t>(dim)) ? static_cast<double>(model.problem.bounds[dim]) : 1;
      for (std::size_t outside = level + 1; outside < model.level_count; ++outside) {
        for (const Loop& loop : loops.spatial[outside].loops)
          whole *= flow.is_relevant(loop.dim) ? 1 : static_cast<double>(loop.trips);
      }
      model.prices.add_reads(base, place, -whole);
    }
  }
  model.prices.add_reads(base, place, words);
  if (model.is_output(tensor)) model.prices.add_updates(base, place, words);
}

}  // namespace tilewright::optimum
