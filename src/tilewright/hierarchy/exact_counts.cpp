#include "tilewright/hierarchy/exact_counts.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "tilewright/hierarchy/windows.hpp"

namespace tilewright::hierarchy {
namespace {

// Instead of the number of a loop that advances.
constexpr int kFirstPass = -1;
constexpr int kEveryStep = -2;

constexpr std::int64_t kMostRemainders = 1 << 12;

using AxisLoops = InlineVector<Loop, kMostLevels>;

// Position in time of the `number`-th combination of the loops from `from` outwards.
std::int64_t position_of(const AxisLoops& loops, std::size_t from, std::int64_t number) {
  std::int64_t position = 0;
  for (std::size_t at = from; at < loops.size(); ++at) {
    position += number % loops[at].trips * loops[at].step;
    number /= loops[at].trips;
  }
  return position;
}

// The number of the last combination of the loops [from, end) whose position is at most `most`.
std::int64_t last_number(const AxisLoops& loops, std::size_t from, std::size_t end, std::int64_t most) {
  std::int64_t number = 0;
  for (std::size_t at = end; at-- > from;) {
    const std::int64_t trip = std::min(loops[at].trips - 1, most / loops[at].step);
    number = number * loops[at].trips + trip;
    most -= trip * loops[at].step;
  }
  return number;
}

// The last position of the loops [0, end) that is at most `most`.
std::int64_t last_position(const AxisLoops& loops, std::size_t end, std::int64_t most) {
  std::int64_t position = 0;
  for (std::size_t at = end; at-- > 0;) {
    const std::int64_t trip = std::min(loops[at].trips - 1, (most - position) / loops[at].step);
    position += trip * loops[at].step;
  }
  return position;
}

void spread(std::vector<std::int64_t>& offsets, const Loop& loop, std::int64_t bound) {
  const std::size_t count = offsets.size();
  for (std::int64_t trip = 1; trip < loop.trips && trip * loop.step < bound; ++trip) {
    for (std::size_t at = 0; at < count; ++at) {
      if (offsets[at] + trip * loop.step < bound) offsets.push_back(offsets[at] + trip * loop.step);
    }
  }
}

std::int64_t cut(std::int64_t low, std::int64_t extent, std::int64_t bound) {
  return std::clamp<std::int64_t>(bound - low, 0, extent);
}

}  // namespace

std::optional<std::string> ExactCounter::refusal(const Problem& problem) {
  for (const Tensor& tensor : problem.tensors) {
    std::uint32_t seen = 0;
    for (const auto& rank : tensor.ranks) {
      const auto say = [&](const std::string& what) {
        return fmt::format("tensor '{}' {}, which only model timeloop counts", tensor.name, what);
      };
      if (rank.size() > 2) return say("has a rank of more than two dimensions");
      if (rank.size() > 1 && tensor.kind == TensorKind::Output) return say("is written and slides");
      std::int64_t least = kMostRemainders;
      for (const Term& term : rank) {
        if (term.coefficient < 1) return say("has a coefficient below 1");
        if ((seen >> term.dim & 1) != 0) return say("has a dimension twice");
        seen |= std::uint32_t{1} << term.dim;
        least = std::min(least, term.coefficient);
      }
      if (rank.size() > 1 && least >= kMostRemainders) return say("has a window with coefficients above 4096");
    }
  }
  return std::nullopt;
}

ExactCounter::ExactCounter(const Problem& problem) : bounds_(problem.bounds) {
  for (const Tensor& tensor : problem.tensors) {
    View& view = views_.emplace_back();
    for (const auto& terms : tensor.ranks) {
      if (terms.empty()) continue;
      Rank rank;
      std::int64_t divisor = 0;
      for (const Term& term : terms) {
        view.relevant |= std::uint32_t{1} << term.dim;
        divisor = std::gcd(divisor, term.coefficient);
      }
      for (const Term& term : terms) {
        rank.coefficient[rank.dims.size()] = term.coefficient / divisor;
        rank.dims.push_back(term.dim);
      }
      // Remainders are taken modulo the second coefficient: the smaller one.
      if (rank.dims.size() == 2 && rank.coefficient[1] > rank.coefficient[0]) {
        std::swap(rank.coefficient[0], rank.coefficient[1]);
        std::swap(rank.dims[0], rank.dims[1]);
      }
      view.ranks.push_back(rank);
    }
  }
}

void ExactCounter::set_axes(const Loops& loops, std::size_t first_level, std::size_t parent, const Extents& extents) {
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) {
    Axis& axis = axes_[dim];
    axis.loops.clear();
    axis.numbers.clear();
    axis.bound = bounds_[dim];
    axis.extent = std::min(extents[dim], axis.bound);
    axis.exact = loops.boundary[loops.level_count - 1][dim] == axis.bound;
    axis.within.assign(1, 0);
    axis.above.assign(1, 0);
    axis.within_count = axis.above_count = 1;
  }
  const std::size_t first = first_level < loops.level_count ? loops.first[first_level] : loops.temporal.size();
  for (std::size_t at = first; at < loops.temporal.size(); ++at) {
    Axis& axis = axes_[loops.temporal[at].dim];
    axis.loops.push_back(loops.temporal[at]);
    axis.numbers.push_back(static_cast<std::uint8_t>(at));
  }
  for (std::size_t level = first_level; level < loops.level_count; ++level) {
    for (const Loop& loop : loops.spatial[level].loops) {
      Axis& axis = axes_[loop.dim];
      (level <= parent ? axis.within_count : axis.above_count) *= loop.trips;
      spread(level <= parent ? axis.within : axis.above, loop, axis.bound);
    }
  }
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) {
    Axis& axis = axes_[dim];
    if (axis.exact) continue;
    axis.within_count = static_cast<std::int64_t>(axis.within.size());
    axis.above_count = static_cast<std::int64_t>(axis.above.size());
    axis.offsets.clear();
    for (const std::int64_t above : axis.above) {
      for (const std::int64_t within : axis.within) {
        if (above + within < axis.bound) axis.offsets.push_back(above + within);
      }
    }
  }
}

// Moments at which loop `advance` moves on, as one dimension sees them. Those at which no copy meets the bound look alike.
void ExactCounter::set_contexts(std::uint8_t dim, int advance, const Loops& loops, std::vector<Context>& into) const {
  const Axis& axis = axes_[dim];
  into.clear();
  if (advance == kFirstPass) {
    into.push_back({1, 0, -1});
    return;
  }
  std::size_t from = 0;  // the loops from here on keep their trips, or are the one that advances
  if (advance != kEveryStep) {
    while (from < axis.loops.size() && static_cast<int>(axis.numbers[from]) < advance) ++from;
  }
  const bool own = advance >= 0 && loops.temporal[static_cast<std::size_t>(advance)].dim == dim;
  std::int64_t last_inside = 0;
  for (std::size_t at = 0; at < from; ++at) last_inside += (axis.loops[at].trips - 1) * axis.loops[at].step;
  const auto context = [&](double weight, std::int64_t now) {
    std::int64_t then = -1;
    if (own) then = now - axis.loops[from].step + last_inside;
    if (!own && advance != kEveryStep)
      then = now + last_position(axis.loops, from, std::min(last_inside, axis.bound - 1 - now));
    into.push_back({weight, now, then});
  };
  double combinations = 1;
  for (std::size_t at = from; at < axis.loops.size(); ++at) combinations *= static_cast<double>(axis.loops[at].trips);
  if (axis.exact) {
    const double trips = own ? static_cast<double>(axis.loops[from].trips) : 1;
    context(own ? combinations / trips * (trips - 1) : combinations, own ? axis.loops[from].step : 0);
    return;
  }
  // Numbers of combinations at which some copy works at the bound; between them, copies work in full or not at all.
  std::int64_t begin = 0;
  const std::int64_t trips = own ? axis.loops[from].trips : 0;
  const auto count_between = [&](std::int64_t first, std::int64_t end) {  // where the own loop is not at its first trip
    if (!own) return end - first;
    return (end - first) - ((end + trips - 1) / trips - (first + trips - 1) / trips);
  };
  std::vector<std::int64_t>& numbers = numbers_;
  numbers.clear();
  for (const std::int64_t offset : axis.offsets)
    numbers.push_back(last_number(axis.loops, from, axis.loops.size(), axis.bound - 1 - offset));
  std::ranges::sort(numbers);
  for (const std::int64_t number : numbers) {
    if (number < begin) continue;
    const std::int64_t alike = count_between(begin, number);
    if (alike > 0) {
      std::int64_t one = begin;
      if (own && one % trips == 0) ++one;
      context(static_cast<double>(alike), position_of(axis.loops, from, one));
    }
    if (count_between(number, number + 1) > 0) context(1, position_of(axis.loops, from, number));
    begin = number + 1;
  }
}

double ExactCounter::moments(std::uint8_t dim, int advance, const Loops& loops) const {
  const Axis& axis = axes_[dim];
  if (advance == kFirstPass) return 1;
  std::size_t from = 0;
  while (advance != kEveryStep && from < axis.loops.size() && static_cast<int>(axis.numbers[from]) < advance) ++from;
  const double count = static_cast<double>(last_number(axis.loops, from, axis.loops.size(), axis.bound - 1)) + 1;
  const bool own = advance >= 0 && loops.temporal[static_cast<std::size_t>(advance)].dim == dim;
  if (!own) return count;
  return count - static_cast<double>(last_number(axis.loops, from + 1, axis.loops.size(), axis.bound - 1)) - 1;
}

// Where both axes are cut evenly, all tiles are alike: one is counted for all.
ExactCounter::Sums ExactCounter::exact_window_sums(const Window& window, const Axis& p, const Axis& r, bool meets) {
  double tiles = static_cast<double>(p.above_count * r.above_count);
  if (meets) {
    numbers_.clear();
    for (const std::int64_t a : p.within) {
      for (const std::int64_t b : r.within) numbers_.push_back(window.a * a + window.b * b);
    }
    std::ranges::sort(numbers_);
    tiles *= static_cast<double>(std::unique(numbers_.begin(), numbers_.end()) - numbers_.begin());
  } else {
    tiles *= static_cast<double>(p.within_count * r.within_count);
  }
  const Context& cp = contexts_[0][0];
  const Context& cr = contexts_[1][0];
  tiles *= cp.weight * cr.weight;
  Sums sums;
  sums.fresh = tiles * static_cast<double>(window_size(window, p.extent, r.extent));
  if (cp.then >= 0) {
    sums.kept = tiles * static_cast<double>(common_of_windows(window, p.extent, r.extent, cp.now - cp.then, cr.now - cr.then,
                                                              p.extent, r.extent));
  }
  return sums;
}

ExactCounter::Sums ExactCounter::window_sums(const Rank& rank, int advance, const Loops& loops, bool share) {
  const Axis& p = axes_[rank.dims[0]];
  const Axis& r = axes_[rank.dims[1]];
  const Window window{rank.coefficient[0], rank.coefficient[1]};
  set_contexts(rank.dims[0], advance, loops, contexts_[0]);
  set_contexts(rank.dims[1], advance, loops, contexts_[1]);
  const bool meets = share && p.within_count > 1 && r.within_count > 1;  // different copies may want the same words
  if (p.exact && r.exact) return exact_window_sums(window, p, r, meets);
  Sums sums;
  const auto add = [&](const Context& cp, const Context& cr, std::int64_t op, std::int64_t orr, double weight, Key* key) {
    const std::int64_t np = cp.now + op, nr = cr.now + orr;
    const std::int64_t ep = cut(np, p.extent, p.bound), er = cut(nr, r.extent, r.bound);
    if (ep == 0 || er == 0) return false;
    std::int64_t tp = 0, tr = 0, fp = 0, fr = 0;
    if (cp.then >= 0) {
      tp = cp.then + op, tr = cr.then + orr;
      fp = cut(tp, p.extent, p.bound), fr = cut(tr, r.extent, r.bound);
    }
    if (key != nullptr) {
      const bool had = fp > 0 && fr > 0;
      key->now = window.a * np + window.b * nr;
      key->now_last = key->now + window.a * (ep - 1) + window.b * (er - 1);
      key->now_size = window_size(window, ep, er);
      key->then = had ? window.a * tp + window.b * tr : 0;
      key->then_last = had ? key->then + window.a * (fp - 1) + window.b * (fr - 1) : 0;
      key->then_size = window_size(window, fp, fr);
      for (const Key& known : keys_) {
        if (known == *key) return false;
      }
    }
    sums.fresh += weight * static_cast<double>(window_size(window, ep, er));
    if (fp > 0 && fr > 0) {
      sums.kept += weight * static_cast<double>(common_of_windows(window, fp, fr, np - tp, nr - tr, ep, er));
    }
    return true;
  };
  const auto offsets = [](const Axis& axis, std::vector<std::int64_t>& into) {
    if (!axis.exact) {
      into = axis.offsets;
      return;
    }
    into.clear();
    for (const std::int64_t above : axis.above) {
      for (const std::int64_t within : axis.within) into.push_back(above + within);
    }
  };
  if (!meets) {
    offsets(p, all_[0]);
    offsets(r, all_[1]);
    for (const Context& cp : contexts_[0]) {
      for (const Context& cr : contexts_[1]) {
        for (const std::int64_t op : all_[0]) {
          for (const std::int64_t orr : all_[1]) add(cp, cr, op, orr, cp.weight * cr.weight, nullptr);
        }
      }
    }
    return sums;
  }
  for (const Context& cp : contexts_[0]) {
    for (const Context& cr : contexts_[1]) {
      for (const std::int64_t pp : p.above) {
        for (const std::int64_t pr : r.above) {
          keys_.clear();
          for (const std::int64_t op : p.within) {
            for (const std::int64_t orr : r.within) {
              Key key{pp, pr, 0, 0, 0, 0, 0, 0};
              if (add(cp, cr, pp + op, pr + orr, cp.weight * cr.weight, &key)) keys_.push_back(key);
            }
          }
        }
      }
    }
  }
  return sums;
}

ExactCounter::Sums ExactCounter::rank_sums(const Rank& rank, int advance, const Loops& loops, bool share) {
  if (rank.dims.size() == 2) return window_sums(rank, advance, loops, share);
  const Axis& axis = axes_[rank.dims[0]];
  Sums sums;
  if (advance == kEveryStep) return {static_cast<double>(axis.bound), 0};
  set_contexts(rank.dims[0], advance, loops, contexts_[0]);
  if (axis.exact) {
    const Context& context = contexts_[0][0];
    const double tiles = context.weight * static_cast<double>(axis.within_count * axis.above_count);
    sums.fresh = tiles * static_cast<double>(axis.extent);
    if (context.then >= 0)
      sums.kept = tiles * static_cast<double>(std::max<std::int64_t>(0, axis.extent - std::abs(context.now - context.then)));
    return sums;
  }
  for (const Context& context : contexts_[0]) {
    for (const std::int64_t offset : axis.offsets) {
      const std::int64_t now = context.now + offset;
      const std::int64_t size = cut(now, axis.extent, axis.bound);
      sums.fresh += context.weight * static_cast<double>(size);
      if (context.then < 0) continue;
      const std::int64_t then = context.then + offset;
      const std::int64_t had = cut(then, axis.extent, axis.bound);
      sums.kept += context.weight *
                   static_cast<double>(std::max<std::int64_t>(0, std::min(now + size, then + had) - std::max(now, then)));
    }
  }
  return sums;
}

double ExactCounter::words(const View& view, int advance, const Loops& loops, bool share) {
  double fresh = 1, kept = 1;
  for (const Rank& rank : view.ranks) {
    const Sums sums = rank_sums(rank, advance, loops, share);
    fresh *= sums.fresh;
    kept *= sums.kept;
  }
  if (view.ranks.empty()) kept = advance == kFirstPass || advance == kEveryStep ? 0 : 1;
  if (advance == kFirstPass || advance == kEveryStep) kept = 0;
  double repeats = 1;
  for (std::uint8_t dim = 0; dim < bounds_.size(); ++dim) {
    if ((view.relevant >> dim & 1) != 0) continue;
    const Axis& axis = axes_[dim];
    repeats *= moments(dim, advance, loops);
    repeats *= static_cast<double>(share        ? axis.above_count
                                   : axis.exact ? axis.within_count * axis.above_count
                                                : static_cast<std::int64_t>(axis.offsets.size()));
  }
  return (fresh - kept) * repeats;
}

bool ExactCounter::is_exact(const Loops& loops) const {
  const Extents& whole = loops.boundary[loops.level_count - 1];
  return std::equal(bounds_.begin(), bounds_.end(), whole.begin());
}

// Copies of what lies inside `first_level`; with `share`, those under one copy of the parent that want the same are one.
double ExactCounter::exact_copies(const View& view, const Loops& loops, std::size_t first_level, std::size_t parent,
                                  bool share) {
  double copies = 1;
  std::uint32_t spread_within = 0;
  for (std::size_t level = first_level; level < loops.level_count; ++level) {
    for (const Loop& loop : loops.spatial[level].loops) {
      if (level <= parent) spread_within |= std::uint32_t{1} << loop.dim;
      const bool shared = share && level <= parent && (view.relevant >> loop.dim & 1) == 0;
      if (!shared) copies *= static_cast<double>(loop.trips);
    }
  }
  if (!share) return copies;
  for (const Rank& rank : view.ranks) {
    if (rank.dims.size() < 2) continue;
    if ((spread_within >> rank.dims[0] & 1) == 0 || (spread_within >> rank.dims[1] & 1) == 0) continue;
    std::vector<std::int64_t>& sums = numbers_;
    sums.assign(1, 0);
    for (std::size_t level = first_level; level <= parent && level < loops.level_count; ++level) {
      for (const Loop& loop : loops.spatial[level].loops) {
        const std::size_t side = loop.dim == rank.dims[0] ? 0 : 1;
        if (loop.dim != rank.dims[side]) continue;
        const std::size_t count = sums.size();
        for (std::int64_t trip = 1; trip < loop.trips; ++trip) {
          for (std::size_t at = 0; at < count; ++at) sums.push_back(sums[at] + trip * loop.step * rank.coefficient[side]);
        }
      }
    }
    const double all = static_cast<double>(sums.size());
    std::ranges::sort(sums);
    copies = copies / all * static_cast<double>(std::unique(sums.begin(), sums.end()) - sums.begin());
  }
  return copies;
}

// Words that enter the tiles of one copy over the whole run.
double ExactCounter::exact_passes(const View& view, const Loops& loops, std::size_t level) const {
  const Extents& extents = loops.boundary[level];
  Extents last{};  // position of the loops inside the one that advances, at their last trip
  const auto common = [&](const Loop* advance) {
    std::int64_t words = 1;
    const auto moved = [&](std::uint8_t dim) {
      return (advance != nullptr && advance->dim == dim ? advance->step : 0) - last[dim];
    };
    for (const Rank& rank : view.ranks) {
      const std::uint8_t p = rank.dims[0];
      if (rank.dims.size() == 1) {
        words *= std::max<std::int64_t>(0, extents[p] - std::abs(moved(p)));
      } else {
        const std::uint8_t r = rank.dims[1];
        words *= common_of_windows({rank.coefficient[0], rank.coefficient[1]}, extents[p], extents[r], moved(p), moved(r),
                                   extents[p], extents[r]);
      }
      if (words == 0) break;
    }
    return static_cast<double>(words);
  };
  const double full = common(nullptr);
  double outer = 1;  // trips of all loops outside
  const std::size_t first = loops.first[level + 1];
  for (std::size_t at = first; at < loops.temporal.size(); ++at) outer *= static_cast<double>(loops.temporal[at].trips);
  double words = full;
  bool moved = false;  // a loop inside moves the tensor
  for (std::size_t at = first; at < loops.temporal.size(); ++at) {
    const Loop& loop = loops.temporal[at];
    outer /= static_cast<double>(loop.trips);
    const bool moves = (view.relevant >> loop.dim & 1) != 0;
    if (moves || moved) words += static_cast<double>(loop.trips - 1) * outer * (full - common(&loop));
    if (moves) last[loop.dim] += (loop.trips - 1) * loop.step;
    moved = moved || moves;
  }
  return words;
}

Entries ExactCounter::entries(std::size_t tensor, const Loops& loops, std::size_t level, std::size_t parent) {
  if (is_exact(loops)) {
    const double passes = exact_passes(views_[tensor], loops, level);
    return {passes * exact_copies(views_[tensor], loops, level + 1, parent, false),
            passes * exact_copies(views_[tensor], loops, level + 1, parent, true)};
  }
  set_axes(loops, level + 1, parent, loops.boundary[level]);
  const View& view = views_[tensor];
  Entries entries;
  entries.all = words(view, kFirstPass, loops, false);
  entries.groups = words(view, kFirstPass, loops, true);
  for (std::size_t at = loops.first[level + 1]; at < loops.temporal.size(); ++at) {
    entries.all += words(view, static_cast<int>(at), loops, false);
    entries.groups += words(view, static_cast<int>(at), loops, true);
  }
  return entries;
}

double ExactCounter::mac_words(std::size_t tensor, const Loops& loops, std::size_t parent) {
  if (is_exact(loops)) {
    double words = exact_copies(views_[tensor], loops, 0, parent, true);
    for (const Loop& loop : loops.temporal) words *= static_cast<double>(loop.trips);
    return words;
  }
  Extents point;
  point.fill(1);
  set_axes(loops, 0, parent, point);
  const View& view = views_[tensor];
  double words = 1;
  for (const Rank& rank : view.ranks) words *= rank_sums(rank, kEveryStep, loops, true).fresh;
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) {
    if ((view.relevant >> dim & 1) != 0) continue;
    const Axis& axis = axes_[dim];
    double active = 0;  // passes in which a copy of the parent has something to do
    for (const std::int64_t above : axis.above)
      active += static_cast<double>(last_number(axis.loops, 0, axis.loops.size(), axis.bound - 1 - above)) + 1;
    words *= active;
  }
  return words;
}

std::int64_t ExactCounter::tile(std::size_t tensor, const Extents& extents) const {
  std::int64_t words = 1;
  const auto side = [&](std::uint8_t dim) { return std::min(extents[dim], bounds_[dim]); };
  for (const Rank& rank : views_[tensor].ranks) {
    words *= rank.dims.size() == 1
                 ? side(rank.dims[0])
                 : window_size({rank.coefficient[0], rank.coefficient[1]}, side(rank.dims[0]), side(rank.dims[1]));
  }
  return words;
}

double ExactCounter::steps(const Loops& loops) {
  if (is_exact(loops)) {
    double steps = 1;
    for (const Loop& loop : loops.temporal) steps *= static_cast<double>(loop.trips);
    return steps;
  }
  Extents point;
  point.fill(1);
  set_axes(loops, 0, loops.level_count, point);
  double steps = 1;
  for (std::uint8_t dim = 0; dim < bounds_.size(); ++dim) steps *= moments(dim, kEveryStep, loops);
  return steps;
}

double ExactCounter::copies(const Loops& loops, std::size_t level) {
  if (is_exact(loops)) return static_cast<double>(loops.used(level));
  set_axes(loops, level + 1, loops.level_count, loops.boundary[level]);
  double copies = 1;
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) copies *= static_cast<double>(axes_[dim].within_count);
  return copies;
}

double ExactCounter::sharers(std::size_t tensor, const Loops& loops, std::size_t parent) {
  if (is_exact(loops)) {
    double sharers = 1;
    for (std::size_t level = parent + 1; level < loops.level_count; ++level) {
      for (const Loop& loop : loops.spatial[level].loops) {
        if ((views_[tensor].relevant >> loop.dim & 1) == 0) sharers *= static_cast<double>(loop.trips);
      }
    }
    return sharers;
  }
  set_axes(loops, parent + 1, parent, loops.boundary[parent]);
  double sharers = 1;
  for (std::size_t dim = 0; dim < bounds_.size(); ++dim) {
    if ((views_[tensor].relevant >> dim & 1) == 0) sharers *= static_cast<double>(axes_[dim].above_count);
  }
  return sharers;
}

}  // namespace tilewright::hierarchy
