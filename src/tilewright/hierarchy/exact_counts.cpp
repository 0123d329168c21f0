#include "tilewright/hierarchy/exact_counts.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tilewright::hierarchy {
namespace {

constexpr std::int64_t kMostRemainders = 1 << 12;

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
