// The sums over tiles of one rank: of the words of the new tile, and of those that the old one had as well.
#include <algorithm>

#include "tilewright/hierarchy/exact_counts.hpp"

namespace tilewright::hierarchy {
namespace {

std::int64_t cut(std::int64_t low, std::int64_t extent, std::int64_t bound) {
  return std::clamp<std::int64_t>(bound - low, 0, extent);
}

}  // namespace

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

}  // namespace tilewright::hierarchy
