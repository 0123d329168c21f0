#include "timeloop_walk.hpp"

#include <algorithm>
#include <optional>

namespace tilewright::hierarchy {
namespace {

using Position = std::vector<std::int64_t>;
struct Side {
  std::int64_t low, high;  // both included
  bool operator==(const Side&) const = default;
};
using Box = std::vector<Side>;
using Boxes = std::vector<Box>;

double size_of(const Boxes& boxes) {
  double words = 0;
  for (const Box& box : boxes) {
    double product = 1;
    for (const Side& side : box) product *= static_cast<double>(side.high - side.low + 1);
    words += product;
  }
  return words;
}

Boxes moved(Boxes boxes, const Position& by) {
  for (Box& box : boxes) {
    for (std::size_t rank = 0; rank < box.size(); ++rank) box[rank].low += by[rank], box[rank].high += by[rank];
  }
  return boxes;
}

// What `box` has and `other` does not: left part, right part, then the middle, rank after rank.
Boxes difference(Box box, const Box& other) {
  for (std::size_t rank = 0; rank < box.size(); ++rank) {
    if (other[rank].high < box[rank].low || other[rank].low > box[rank].high) return {box};
  }
  Boxes parts;
  for (std::size_t rank = 0; rank < box.size(); ++rank) {
    if (box[rank].low < other[rank].low) {
      Box left = box;
      left[rank].high = other[rank].low - 1;
      parts.push_back(left);
      box[rank].low = other[rank].low;
    }
    if (box[rank].high > other[rank].high) {
      Box right = box;
      right[rank].low = other[rank].high + 1;
      parts.push_back(right);
      box[rank].high = other[rank].high;
    }
  }
  return parts;
}

struct WalkLoop {
  std::size_t dim;
  std::int64_t trips, step;
};

struct Stage {  // one loop in time, or a block in space
  std::size_t level = 0;
  bool spatial = false;
  std::vector<WalkLoop> loops;
  std::int64_t columns = 1, rows = 1;
  Position mold;  // extents that all loops up to here sweep
  std::optional<Box> last;
  std::optional<Position> translation;
  std::optional<Boxes> before;  // of the child, at the visit before
};

class Walker {
 public:
  Walker(const Problem& problem, const Machine& machine, const Mapping& mapping, std::size_t tensor)
      : tensor_(problem.tensors[tensor]), machine_(machine), networks(mapping.levels.size()) {
    Position extents(problem.dims.size(), 1);
    for (std::size_t level = 0; level < mapping.levels.size(); ++level) {
      Stage block;
      block.level = level;
      block.spatial = true;
      for (std::size_t at = 0; at < problem.dims.size(); ++at) {
        const std::size_t dim = mapping.levels[level].spatial.order[at];
        const std::int64_t factor = mapping.levels[level].spatial.factors[dim];
        if (factor == 1) continue;
        block.loops.push_back({dim, factor, extents[dim]});
        (at < mapping.levels[level].spatial.split ? block.columns : block.rows) *= factor;
        extents[dim] *= factor;
      }
      block.mold = extents;
      if (!block.loops.empty()) stages_.push_back(block);
      bool any = false;
      for (std::size_t at = 0; at <= problem.dims.size(); ++at) {
        const bool dummy = at == problem.dims.size();
        if (dummy && any) break;
        const std::size_t dim = dummy ? problem.dims.size() - 1 : mapping.levels[level].temporal.order[at];
        const std::int64_t factor = dummy ? 1 : mapping.levels[level].temporal.factors[dim];
        if (factor == 1 && !dummy) continue;
        any = true;
        Stage stage;
        stage.level = level;
        stage.loops = {{dim, factor, extents[dim]}};
        extents[dim] *= factor;
        stage.mold = extents;
        stages_.push_back(stage);
      }
    }
    visit(stages_.size() - 1, Position(problem.dims.size(), 0), 1);
  }

 private:
  Position project(const Position& position) const {
    Position word;
    for (const auto& rank : tensor_.ranks) {
      std::int64_t value = 0;
      for (const Term& term : rank) value += term.coefficient * position[term.dim];
      word.push_back(value);
    }
    return word;
  }

  Box project(const Position& origin, const Position& extents) const {
    Box box;
    for (const auto& rank : tensor_.ranks) {
      Side side{0, 0};
      for (const Term& term : rank) {
        const std::int64_t a = term.coefficient * origin[term.dim];
        const std::int64_t b = term.coefficient * (origin[term.dim] + extents[term.dim] - 1);
        side.low += std::min(a, b);
        side.high += std::max(a, b);
      }
      box.push_back(side);
    }
    return box;
  }

  Boxes own_delta(Stage& stage, const Box& box) {
    Boxes delta;
    if (!stage.last) {
      delta = {box};
    } else {
      Position shift;
      for (std::size_t rank = 0; rank < box.size(); ++rank) shift.push_back(box[rank].low - (*stage.last)[rank].low);
      if (std::ranges::all_of(shift, [](std::int64_t s) { return s == 0; })) {
        delta = {};
      } else if (!stage.translation || *stage.translation == shift) {
        delta = difference(box, *stage.last);
        stage.translation = shift;
      } else {
        delta = {box};
        stage.translation.reset();
      }
    }
    stage.last = box;
    return delta;
  }

  Boxes visit(std::size_t index, const Position& origin, double weight) {
    Stage& stage = stages_[index];
    if (stage.spatial) {
      const Boxes child = index > 0 ? visit(index - 1, origin, weight) : Boxes{project(origin, Position(origin.size(), 1))};
      spread(stage, child, weight);
    } else {
      const WalkLoop loop = stage.loops[0];
      double received = 0;
      for (std::int64_t trip = 0; trip < std::min<std::int64_t>(loop.trips, 2); ++trip) {
        const double share = trip == 0 ? 1 : static_cast<double>(loop.trips - 1);
        Position there = origin;
        there[loop.dim] += trip * loop.step;
        if (index > 0) received += share * size_of(visit(index - 1, there, weight * share));
      }
      if (index == 0) received = static_cast<double>(loop.trips);
      if (index == 0 || (!stages_[index - 1].spatial && stages_[index - 1].level < stage.level))
        networks[stage.level].records[{1, 1}].first += weight * received;
    }
    return own_delta(stage, project(origin, stage.mold));
  }

  struct Groups {
    std::map<std::pair<std::int64_t, std::int64_t>, double> hops;  // (multicast, scatter): hops of one word each
    std::size_t count = 0;
  };

  Groups group(const std::vector<Position>& offsets, const std::vector<bool>& served, std::int64_t width, double centre) {
    std::map<Position, std::vector<std::int64_t>> members;
    for (std::size_t element = 0; element < offsets.size(); ++element) {
      if (!served[element]) members[offsets[element]].push_back(static_cast<std::int64_t>(element));
    }
    std::map<std::int64_t, std::pair<std::int64_t, double>> by_size;
    for (const auto& [offset, elements] : members) {
      std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> columns;
      for (const std::int64_t element : elements) {
        const std::int64_t row = element / width;
        const auto [column, fresh] = columns.try_emplace(element % width, row, row);
        column->second.first = std::min(column->second.first, row);
        column->second.second = std::max(column->second.second, row);
      }
      double hops = static_cast<double>(columns.rbegin()->first);
      for (const auto& [column, rows] : columns) {
        hops += std::max(0.0, centre - static_cast<double>(rows.first)) +
                std::max(0.0, static_cast<double>(rows.second) - centre);
      }
      auto& [scatter, sum] = by_size[static_cast<std::int64_t>(elements.size())];
      ++scatter;
      sum += hops;
    }
    Groups groups;
    groups.count = members.size();
    for (const auto& [size, counted] : by_size) groups.hops[{size, counted.first}] = counted.second;
    return groups;
  }

  void spread(Stage& stage, const Boxes& child, double weight) {
    const std::optional<Boxes> before = std::exchange(stage.before, child);
    const double words = size_of(child);
    if (words == 0) return;
    std::vector<Position> offsets{Position(tensor_.ranks.size(), 0)};
    for (const WalkLoop& loop : stage.loops) {
      std::vector<Position> more;
      for (std::int64_t trip = 0; trip < loop.trips; ++trip) {
        Position step(stage.mold.size(), 0);
        step[loop.dim] = trip * loop.step;
        const Position by = project(step);
        for (Position offset : offsets) {
          for (std::size_t rank = 0; rank < by.size(); ++rank) offset[rank] += by[rank];
          more.push_back(offset);
        }
      }
      offsets = std::move(more);
    }
    const std::int64_t width = std::max(machine_.fan_x(stage.level), stage.columns);
    const double centre = static_cast<double>(std::max(machine_.fan_y(stage.level), stage.rows) - 1) / 2;
    const auto count = static_cast<std::int64_t>(offsets.size());
    std::vector<bool> served(offsets.size(), false);
    Groups chosen = group(offsets, served, width, centre);
    if (before && size_of(*before) > 0) {
      for (std::int64_t c = 0; c < count; ++c) {
        const Boxes wanted = moved(child, offsets[static_cast<std::size_t>(c)]);
        for (const auto& [dx, dy] : {std::pair<std::int64_t, std::int64_t>{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
          const std::int64_t column = c % width + dx, p = c + dx + dy * width;
          if (column < 0 || column >= width || p < 0 || p >= count) continue;
          if (moved(*before, offsets[static_cast<std::size_t>(p)]) == wanted) served[static_cast<std::size_t>(c)] = true;
        }
      }
      const Groups linked = group(offsets, served, width, centre);
      if (linked.count < chosen.count) {
        chosen = linked;
        networks[stage.level].links += weight * words * static_cast<double>(std::ranges::count(served, true));
      }
    }
    for (const auto& [signature, hops] : chosen.hops) {
      auto& [accesses, all_hops] = networks[stage.level].records[signature];
      accesses += weight * words * static_cast<double>(signature.second);
      all_hops += weight * words * hops;
    }
  }

  const Tensor& tensor_;
  const Machine& machine_;
  std::vector<Stage> stages_;

 public:
  std::vector<WalkedNetwork> networks;
};

}  // namespace

std::vector<WalkedNetwork> walk_as_timeloop(const Problem& problem, const Machine& machine, const Mapping& mapping,
                                            std::size_t tensor) {
  return Walker(problem, machine, mapping, tensor).networks;
}

}  // namespace tilewright::hierarchy
