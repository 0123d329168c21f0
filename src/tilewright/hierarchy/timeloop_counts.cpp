#include "tilewright/hierarchy/timeloop_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilewright::hierarchy {
namespace {

__extension__ using Wide = __int128;

bool equal(const Shift& a, const Shift& b, std::size_t rank_count) {
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    if (a[rank] != b[rank]) return false;
  }
  return true;
}

void add(std::vector<Record>& records, const Signature& signature, double words) {
  const double accesses = words * static_cast<double>(signature.scatter);
  const double hops = words * signature.hops;
  const auto before = [&](const Record& record) {
    return record.multicast < signature.multicast ||
           (record.multicast == signature.multicast && record.scatter < signature.scatter);
  };
  auto at = records.begin();
  while (at != records.end() && before(*at)) ++at;
  if (at != records.end() && at->multicast == signature.multicast && at->scatter == signature.scatter) {
    at->accesses += accesses;
    at->hops += hops;
    return;
  }
  records.insert(at, {signature.multicast, signature.scatter, accesses, hops});
}

}  // namespace

TimeloopCounter::TimeloopCounter(const Problem& problem, const Machine& machine)
    : machine_(machine), spread_(machine.mac.instances) {
  for (const Tensor& tensor : problem.tensors) {
    kinds_.push_back(tensor.kind);
    views_.emplace_back(tensor, problem.dims.size());
  }
  advances_.reserve(kMostLevels * kMostDims);
  linked_.reserve(kMostLevels * kMostDims + 1);
}

// Shift and weight of every loop from `first` outwards; which of them bring what is for the caller.
void TimeloopCounter::set_advances(const TensorView& view, const Loops& loops, std::size_t first) {
  advances_.clear();
  Shift sum{};
  for (std::size_t at = first; at < loops.temporal.size(); ++at) {
    const Loop& loop = loops.temporal[at];
    Advance& advance = advances_.emplace_back();
    advance.weight = static_cast<double>(loop.trips - 1) * outer_trips_[at + 1];
    for (std::size_t rank = 0; rank < view.rank_count; ++rank) {
      const std::int64_t move = view.move[loop.dim][rank] * loop.step;
      advance.shift[rank] = move - sum[rank];
      sum[rank] += move;
    }
  }
}

// What the boundary of `level` receives over the whole run. Sets the advances of tensors that slide.
TimeloopCounter::Deltas TimeloopCounter::deltas(const TensorView& view, const Loops& loops, std::size_t level) {
  Shift sides;
  Deltas deltas;
  deltas.full = deltas.difference = static_cast<double>(view.sides(loops.boundary[level], sides));
  const std::size_t first = loops.first[level + 1];
  if (!view.slides) {
    std::size_t at = first;
    while (at < loops.temporal.size() && !view.moves_with(loops.temporal[at].dim)) ++at;
    deltas.words = deltas.full * outer_trips_[at];
    return deltas;
  }
  set_advances(view, loops, first);
  const Advance* mover = nullptr;
  const Shift still{};
  double full_visits = 1, difference_visits = 0;
  for (Advance& advance : advances_) {
    if (equal(advance.shift, still, view.rank_count)) {
      advance.delta = Delta::Empty;
    } else if (mover == nullptr || equal(advance.shift, mover->shift, view.rank_count)) {
      if (mover == nullptr) mover = &advance;
      advance.delta = Delta::Difference;
      difference_visits += advance.weight;
    } else {
      advance.delta = Delta::Full;
      full_visits += advance.weight;
    }
  }
  if (mover != nullptr) {
    std::int64_t overlap = 1;
    for (std::size_t rank = 0; rank < view.rank_count; ++rank)
      overlap *= std::max<std::int64_t>(0, sides[rank] - std::abs(mover->shift[rank]));
    deltas.difference = deltas.full - static_cast<double>(overlap);
  }
  deltas.words = deltas.full * full_visits + deltas.difference * difference_visits;
  return deltas;
}

// Sums, per shift, the words of advances that neighbours may serve: those whose delta and the one before it have one shape.
// Before an advance of any loop but the innermost comes one of the innermost; before that, the first visit or any other.
void TimeloopCounter::add_links(const Deltas& deltas, bool above_macs) {
  linked_.clear();
  const auto link = [&](const Advance& advance, double words) {
    if (words <= 0) return;
    for (Linked& known : linked_) {
      if (known.shift == advance.shift) {
        known.words += words;
        return;
      }
    }
    linked_.push_back({advance.shift, words});
  };
  if (above_macs) {
    for (const Advance& advance : advances_) link(advance, advance.weight);
    return;
  }
  if (advances_.empty() || advances_[0].delta == Delta::Empty) return;
  const bool all_full = deltas.difference == deltas.full;
  const auto shape = [&](Delta delta) { return delta == Delta::Difference && all_full ? Delta::Full : delta; };
  const Advance& innermost = advances_[0];
  double outer_visits = shape(innermost.delta) == Delta::Full ? 1 : 0;  // the first visit is full
  double all_outer_visits = 1;
  for (std::size_t at = 1; at < advances_.size(); ++at) {
    all_outer_visits += advances_[at].weight;
    if (shape(advances_[at].delta) != shape(innermost.delta)) continue;
    outer_visits += advances_[at].weight;
    link(advances_[at], advances_[at].weight * deltas.of(advances_[at].delta));
  }
  // The innermost loop's weight is (t - 1) per outer visit.
  link(innermost, innermost.weight / all_outer_visits * outer_visits * deltas.of(innermost.delta));
}

void TimeloopCounter::set_records(const TensorView& view, const Loops& loops, std::size_t level, const LevelMapping& mapping,
                                  Hops hops, std::size_t tensor, NetworkCounts& into) {
  into.records.clear();
  into.links = 0;
  Deltas received;  // every multiplication takes one word
  if (level > 0) {
    received = deltas(view, loops, level - 1);
  } else {
    received.words = outer_trips_[0];
  }
  const SpatialBlock& block = loops.spatial[level];
  if (block.loops.empty()) {
    into.records.push_back({1, 1, received.words, 0});
    return;
  }
  const StorageLevel& storage = machine_.levels[level];
  const bool multicasts = storage.multicast && (mapping.without_multicast >> tensor & 1) == 0;
  const bool links = storage.links && (mapping.without_links >> tensor & 1) == 0 && (level == 0 || view.slides);
  spread_.set(block, view, machine_.fan_x(level), machine_.fan_y(level), multicasts ? Multicast::Yes : Multicast::No, hops);
  double unlinked = received.words;
  const std::span<const Signature> all = spread_.groups();
  const std::int64_t group_count = spread_.group_count();
  if (links) {
    if (level == 0) set_advances(view, loops, 0);
    add_links(received, level == 0);
    if (!linked_.empty()) {
      InlineVector<Signature, 16> kept;  // the workspace of `all` is used again
      const bool few = all.size() <= kept.capacity();
      if (few) {
        for (const Signature& signature : all) kept.push_back(signature);
      }
      for (const Linked& linked : linked_) {
        const std::span<const Signature> rest = spread_.groups_without_links(linked.shift);
        if (spread_.served_count() == 0 || spread_.group_count() >= group_count) continue;
        unlinked -= linked.words;
        into.links += linked.words * static_cast<double>(spread_.served_count());
        for (const Signature& signature : rest) add(into.records, signature, linked.words);
      }
      if (few) {
        for (const Signature& signature : kept) add(into.records, signature, unlinked);
        return;
      }
      for (const Signature& signature : spread_.groups()) add(into.records, signature, unlinked);
      return;
    }
  }
  for (const Signature& signature : all) add(into.records, signature, unlinked);
}

void TimeloopCounter::count(std::size_t tensor, const Mapping& mapping, const Loops& loops, Hops hops, Analysis& into) {
  const TensorView& view = views_[tensor];
  const std::size_t level_count = loops.level_count;
  outer_trips_[loops.temporal.size()] = 1;
  for (std::size_t at = loops.temporal.size(); at-- > 0;)
    outer_trips_[at] = outer_trips_[at + 1] * static_cast<double>(loops.temporal[at].trips);

  PerLevel<double> words, delivered, share;  // Timeloop's content, weighted content, parent share
  std::size_t outermost_kept = 0;
  for (std::size_t level = 0; level < level_count; ++level) {
    NetworkCounts& network = into.levels[level].networks[tensor];
    const StorageLevel& storage = machine_.levels[level];
    const bool costs = storage.energy_per_hop.value != 0 || storage.router_energy.value != 0;
    set_records(view, loops, level, mapping.levels[level], costs ? Hops::Count : hops, tensor, network);
    words[level] = network.words();
    delivered[level] = network.delivered();
    if ((mapping.levels[level].keeps >> tensor & 1) != 0) outermost_kept = level;
  }
  for (std::size_t level = 0; level + 1 < level_count; ++level)
    share[level] = delivered[level + 1] / static_cast<double>(loops.spatial[level + 1].elements());
  share[level_count - 1] = 0;
  share[outermost_kept] = 0;

  // Partitions, the outermost first: each spatial block divides the words among its copies.
  std::int64_t partition = 0;
  for (std::size_t level = level_count; level-- > 0;) {
    TensorCounts& counts = into.levels[level].tensors[tensor];
    counts.kept = (mapping.levels[level].keeps >> tensor & 1) != 0;
    counts.tile = view.words(loops.boundary[level]);
    if (level + 1 == level_count) {
      partition = counts.tile;
    } else if (!loops.spatial[level + 1].loops.empty()) {
      const std::int64_t together = view.words(loops.spread[level + 1]);
      partition = static_cast<std::int64_t>(static_cast<Wide>(partition) * counts.tile / together);
    }
    counts.partition = partition;
    counts.reads = counts.fills = counts.updates = 0;
  }

  // A level that is passed by hands its accesses to the level outside it.
  for (std::size_t level = 0; level < level_count; ++level) {
    TensorCounts& counts = into.levels[level].tensors[tensor];
    if (counts.kept) continue;
    counts.tile = counts.partition = 0;
    if (level < outermost_kept) {
      NetworkCounts& outside = into.levels[level + 1].networks[tensor];
      const double scale = words[level] * static_cast<double>(loops.spatial[level + 1].elements()) / delivered[level + 1];
      for (Record& record : outside.records) record.accesses *= scale;
      outside.links = 0;
      words[level + 1] = outside.words();
      delivered[level + 1] = outside.delivered();
    } else {
      into.levels[level].networks[tensor].records.clear();
      into.levels[level].networks[tensor].links = 0;
    }
    words[level] = share[level] = 0;
  }

  for (std::size_t level = 0; level < level_count; ++level) {
    TensorCounts& counts = into.levels[level].tensors[tensor];
    if (!counts.kept) continue;
    double peer = 0;
    if (level + 1 < level_count && into.levels[level + 1].networks[tensor].links != 0)
      peer = into.levels[level + 1].networks[tensor].links / static_cast<double>(loops.used(level));
    const double own = static_cast<double>(counts.partition);
    if (kinds_[tensor] != TensorKind::Output) {
      counts.reads = std::llround(words[level] + peer);
      counts.fills = static_cast<std::int64_t>(share[level] + peer);
    } else {
      // The first visit to a partial sum needs neither a read nor a fill.
      counts.updates = std::llround(words[level]);
      counts.reads = std::llround(words[level] + peer - own);
      counts.fills = std::llround(level == outermost_kept ? share[level] + peer : share[level] + peer - own);
    }
  }
}

}  // namespace tilewright::hierarchy
