#include "hierarchy_walk.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewright::hierarchy {
namespace {

using Position = std::vector<std::int64_t>;  // one number per dimension
using Word = std::vector<std::int64_t>;      // one number per rank
using Words = std::set<Word>;

struct AnyLoop {
  std::size_t dim, level;
  std::int64_t trips, step;
  bool spatial;
};

struct Nest {
  std::vector<AnyLoop> loops;     // all of them, the innermost first
  std::vector<Position> extents;  // of the tile of each level
};

Nest nest_of(const Problem& problem, const Mapping& mapping) {
  Nest nest;
  Position extents(problem.dims.size(), 1);
  for (std::size_t level = 0; level < mapping.levels.size(); ++level) {
    for (const bool spatial : {true, false}) {
      const Block& block = spatial ? mapping.levels[level].spatial : mapping.levels[level].temporal;
      for (std::size_t at = 0; at < problem.dims.size(); ++at) {
        const std::size_t dim = block.order[at];
        nest.loops.push_back({dim, level, block.factors[dim], extents[dim], spatial});
        extents[dim] *= block.factors[dim];
      }
    }
    nest.extents.push_back(extents);
  }
  return nest;
}

// Every combination of trips of the chosen loops, the innermost fastest, as the position it adds up to.
template <typename Choose>
std::vector<Position> positions(const Nest& nest, std::size_t dim_count, Choose choose) {
  std::vector<Position> all{Position(dim_count, 0)};
  for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend(); ++loop) {
    if (!choose(*loop)) continue;
    std::vector<Position> more;
    for (const Position& outer : all) {
      for (std::int64_t trip = 0; trip < loop->trips; ++trip) {
        more.push_back(outer);
        more.back()[loop->dim] += trip * loop->step;
      }
    }
    all = std::move(more);
  }
  return all;
}

bool inside(const Position& position, const Problem& problem) {
  for (std::size_t dim = 0; dim < position.size(); ++dim) {
    if (position[dim] >= problem.bounds[dim]) return false;
  }
  return true;
}

Position sum(const Position& a, const Position& b) {
  Position c = a;
  for (std::size_t dim = 0; dim < c.size(); ++dim) c[dim] += b[dim];
  return c;
}

Word word_at(const Tensor& tensor, const Position& position) {
  Word word;
  for (const auto& rank : tensor.ranks) {
    std::int64_t value = 0;
    for (const Term& term : rank) value += term.coefficient * position[term.dim];
    word.push_back(value);
  }
  return word;
}

bool is_relevant(const Tensor& tensor, std::size_t dim) {
  for (const auto& rank : tensor.ranks) {
    for (const Term& term : rank) {
      if (term.dim == dim) return true;
    }
  }
  return false;
}

// The words of a box that starts at `low`, cut at the bounds of the tensor's own dimensions.
Words words_of(const Tensor& tensor, const Position& low, const Position& extents, const Problem& problem) {
  Words words;
  std::vector<Position> points{low};
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    if (!is_relevant(tensor, dim)) continue;
    std::vector<Position> more;
    for (const Position& point : points) {
      for (std::int64_t at = 0; at < extents[dim] && low[dim] + at < problem.bounds[dim]; ++at) {
        more.push_back(point);
        more.back()[dim] += at;
      }
    }
    points = std::move(more);
  }
  for (const Position& point : points) words.insert(word_at(tensor, point));
  return words;
}

Words difference(const Words& a, const Words& b) {
  Words left;
  std::ranges::set_difference(a, b, std::inserter(left, left.end()));
  return left;
}

// Tiles of `level`, served by `parent`, for one tensor.
void walk_level(const Problem& problem, const Nest& nest, std::size_t tensor_index, std::size_t level, std::size_t parent,
                Walk& into) {
  const Tensor& tensor = problem.tensors[tensor_index];
  const std::size_t dims = problem.dims.size();
  const auto times = positions(nest, dims, [&](const AnyLoop& loop) { return !loop.spatial && loop.level > level; });
  const auto parents = positions(nest, dims, [&](const AnyLoop& loop) { return loop.spatial && loop.level > parent; });
  const auto children =
      positions(nest, dims, [&](const AnyLoop& loop) { return loop.spatial && loop.level > level && loop.level <= parent; });
  WalkCounts& own = into.levels[level][tensor_index];
  WalkCounts& outer = into.levels[parent][tensor_index];
  for (const Position& parent_at : parents) {
    if (!inside(parent_at, problem)) continue;  // never has anything to do
    std::map<Position, Words> held;
    Words seen;
    for (const Position& time : times) {
      if (!inside(time, problem)) continue;
      std::set<std::pair<Words, Words>> served;
      for (const Position& child_at : children) {
        const Position copy = sum(parent_at, child_at);
        if (!inside(copy, problem)) continue;
        const Words now = words_of(tensor, sum(copy, time), nest.extents[level], problem);
        const Words fresh = difference(now, held[child_at]);
        own.tile = std::max(own.tile, static_cast<std::int64_t>(now.size()));
        const bool first_of_group = served.insert({held[child_at], now}).second;
        if (tensor.kind != TensorKind::Output) {
          own.fills += static_cast<std::int64_t>(fresh.size());
          if (first_of_group) outer.reads += static_cast<std::int64_t>(fresh.size());
        } else {
          own.reads += static_cast<std::int64_t>(fresh.size());  // each leaves again
          if (first_of_group) {
            outer.updates += static_cast<std::int64_t>(fresh.size());
            const Words again = difference(fresh, difference(fresh, seen));
            outer.reads += static_cast<std::int64_t>(again.size());
            own.fills += static_cast<std::int64_t>(again.size());
          }
        }
        held[child_at] = now;
      }
      for (const auto& [then, now] : served) {
        for (const Word& word : now) seen.insert(word);
      }
    }
  }
}

// The MACs, served by `parent`, for one tensor.
void walk_macs(const Problem& problem, const Nest& nest, std::size_t tensor_index, std::size_t parent, Walk& into) {
  const Tensor& tensor = problem.tensors[tensor_index];
  const std::size_t dims = problem.dims.size();
  const auto times = positions(nest, dims, [](const AnyLoop& loop) { return !loop.spatial; });
  const auto parents = positions(nest, dims, [&](const AnyLoop& loop) { return loop.spatial && loop.level > parent; });
  const auto children = positions(nest, dims, [&](const AnyLoop& loop) { return loop.spatial && loop.level <= parent; });
  WalkCounts& outer = into.levels[parent][tensor_index];
  into.steps = into.computes = 0;
  for (const Position& time : times) into.steps += inside(time, problem) ? 1 : 0;
  for (const Position& parent_at : parents) {
    Words seen;
    for (const Position& time : times) {
      Words used;
      for (const Position& child_at : children) {
        const Position point = sum(sum(parent_at, child_at), time);
        if (!inside(point, problem)) continue;
        ++into.computes;
        used.insert(word_at(tensor, point));
      }
      if (tensor.kind != TensorKind::Output) {
        outer.reads += static_cast<std::int64_t>(used.size());
        continue;
      }
      outer.updates += static_cast<std::int64_t>(used.size());
      outer.reads += static_cast<std::int64_t>(used.size() - difference(used, seen).size());
      seen.insert(used.begin(), used.end());
    }
  }
}

}  // namespace

Walk walk(const Problem& problem, const Mapping& mapping) {
  const Nest nest = nest_of(problem, mapping);
  Walk result;
  result.levels.assign(mapping.levels.size(), std::vector<WalkCounts>(problem.tensors.size()));
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
    std::optional<std::size_t> inner;
    for (std::size_t level = 0; level < mapping.levels.size(); ++level) {
      if ((mapping.levels[level].keeps >> tensor & 1) == 0) continue;
      if (inner) {
        walk_level(problem, nest, tensor, *inner, level, result);
      } else {
        walk_macs(problem, nest, tensor, level, result);
      }
      inner = level;
    }
    result.levels[*inner][tensor].tile = static_cast<std::int64_t>(
        words_of(problem.tensors[tensor], Position(problem.dims.size(), 0), nest.extents[*inner], problem).size());
  }
  return result;
}

}  // namespace tilewright::hierarchy
