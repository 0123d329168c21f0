// What the loops of a level contribute to volumes: one factor per temporal loop, one sum over units for the spatial loop.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tilewright/cost/plan.hpp"

namespace tilewright {

// What a loop contributes to a product when it is at an edge tile (1) or not (0).
struct Factors {
  std::array<std::int64_t, 2> egress{1, 1}, path{1, 1}, macs{1, 1};
};

// Spatial sums: what one step's units add up to, relative to the product over the temporal loops.
struct Spatial {
  const LevelPlan& level;
  bool exact;
  Dim dim;
  bool init_edge;
  std::array<bool, 2> ragged;  // at its first tile / a steady one (0) and at its edge (1)

  bool is_edge(int at) const { return at == 1 || init_edge; }

  template <typename Part>
  std::int64_t over_units(int at, const Part& part) const {
    if (!is_edge(at)) return part(true, false) + (level.units - 1) * part(false, false);
    const bool torn = ragged[static_cast<std::size_t>(at)];
    std::int64_t sum = part(true, level.edge_units == 1 && torn);
    if (level.edge_units > 1) {
      sum += std::max<std::int64_t>(level.edge_units - 1 - (torn ? 1 : 0), 0) * part(false, false);
      if (torn) sum += part(false, true);
    }
    return sum;
  }

  // One unit's share of an operand that must be sent; `fresh` = neighbours already hold the overlap.
  std::int64_t ingress(int at, bool fresh) const {
    const std::size_t d = index(dim);
    return over_units(at, [&](bool first, bool torn) {
      if (first || !fresh) return torn ? level.edge[d] : level.full[d];
      return torn ? level.fresh_edge[d] : level.fresh[d];
    });
  }

  std::int64_t first_ingress() const {  // in the very first step, each unit gets all it maps
    const std::size_t d = index(dim);
    return over_units(0, [&](bool first, bool torn) {
      if (!init_edge) return level.full[d];
      if (level.edge_units > 1) return torn ? level.edge[d] : level.full[d];
      return first || torn ? level.edge[d] : std::int64_t{1};
    });
  }

  static std::int64_t used(std::int64_t volume) { return volume != 0 ? volume : 1; }

  // One unit's factor of the outputs (`out` = its output dimension) or of the reduction (`out` = dim).
  std::int64_t result(int at, Dim out, bool reduction, bool first, bool torn, bool reuse) const {
    const std::size_t d = index(dim), o = index(out);
    if (at == 1) {
      if (level.edge_units == 1) return first || torn ? level.edge[exact ? o : d] : 1;  // MAESTRO takes inputs for outputs
      if (torn) return level.fresh_edge[o];
    } else if (init_edge && torn) {
      return !reduction && level.edge_units > 1 && reuse ? level.fresh_edge[o] : level.edge[o];
    }
    return first ? level.full[o] : used(level.fresh[o]);
  }

  Factors factors(bool in_output) const {
    const Dim out = in_output ? output_dim(dim) : dim;
    Factors f;
    for (int at = 0; at < 2; ++at) {
      const std::size_t i = static_cast<std::size_t>(at);
      const auto part = [&](bool first, bool torn, bool reuse) { return result(at, out, !in_output, first, torn, reuse); };
      if (in_output) f.egress[i] = over_units(at, [&](bool first, bool torn) { return part(first, torn, true); });
      const bool whole_torn = is_edge(at) && level.edge_units == 1 && ragged[i];
      f.path[i] = part(true, in_output && whole_torn, true);
      if (!is_edge(at)) {
        f.macs[i] = level.units * part(true, false, true);
        continue;
      }
      f.macs[i] = part(true, whole_torn, true);
      if (level.edge_units > 1) {
        f.macs[i] += std::max<std::int64_t>(level.edge_units - 1 - (ragged[i] ? 1 : 0), 0) * part(true, false, true);
        if (ragged[i]) f.macs[i] += part(false, true, false);
      }
    }
    return f;
  }
};

inline Factors temporal_factors(const LevelPlan& level, Dim dim, bool in_output) {
  const std::size_t out = index(in_output ? output_dim(dim) : dim);
  Factors f;
  f.path = f.macs = {level.full[out], level.edge[out]};
  if (in_output) f.egress = f.path;
  return f;
}

}  // namespace tilewright
