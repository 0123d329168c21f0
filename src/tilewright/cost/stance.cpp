#include "tilewright/cost/stance.hpp"

#include <algorithm>

namespace tilewright {
namespace {

using Position = LoopState::Position;

std::int64_t used(std::int64_t volume) { return volume != 0 ? volume : 1; }

}  // namespace

bool Stance::restarts(std::size_t operand) const {
  for (std::size_t i = static_cast<std::size_t>(changed + 1); i < level.loops.size(); ++i) {
    if (on(i, operand) && at(i).position == Position::Init && !at(i).unrolled) return true;
  }
  return false;
}

std::int64_t Stance::mapped(std::size_t operand, bool first, bool ragged) const {
  std::int64_t volume = 1;
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    if (!on(i, operand)) continue;
    const std::size_t d = index(level.loops[i].dim);
    if (!level.loops[i].spatial) {
      volume *= at(i).is_edge() ? level.edge[d] : level.full[d];
    } else if (!at(i).is_edge()) {
      volume *= level.full[d];
    } else if (level.edge_units > 1) {
      volume *= ragged ? level.edge[d] : level.full[d];
    } else if (first || ragged) {
      volume *= level.edge[d];
    }
  }
  return volume;
}

std::int64_t Stance::ingress(std::size_t operand, bool first, bool ragged) {
  if (changed < 0) return mapped(operand, first, ragged);
  const bool restarted = restarts(operand);
  if (!on(static_cast<std::size_t>(changed), operand)) {
    // MAESTRO sends nothing, also where loops further in begin again with tiles that are long gone.
    if (!restarted || plan.model != Model::Exact) return 0;
  }
  std::int64_t volume = 1;
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    if (!on(i, operand)) continue;
    const std::size_t d = index(level.loops[i].dim);
    const LoopState& s = at(i);
    const bool moves = static_cast<int>(i) == changed && !restarted;
    if (!level.loops[i].spatial) {
      if (s.position == Position::Init) {
        volume *= s.is_edge() ? level.edge[d] : level.full[d];
      } else if (moves) {
        starved |= level.fresh[d] == 0;
        volume *= level.fresh[d];
      } else {
        volume *= level.full[d];
      }
      continue;
    }
    const std::int64_t whole = ragged ? level.edge[d] : level.full[d];
    const std::int64_t fresh = ragged ? level.fresh_edge[d] : level.fresh[d];
    if (first) {
      volume *= whole;
    } else if (s.position == Position::Init) {
      volume *= static_cast<int>(i) > changed ? fresh : whole;
    } else {
      volume *= moves ? fresh : whole;
    }
  }
  return volume;
}

Stance::SpatialView Stance::spatial_on(std::size_t operand) const {
  SpatialView view;
  for (const Dim dim : plan.tensors.dims[operand]) {
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      if (level.loops[i].dim != dim) continue;
      if (level.loops[i].spatial) {
        view.any = true;
        view.edge |= at(i).is_edge();
        view.ragged = at(i).ragged;
      }
      break;  // only the first loop on a dimension is asked
    }
  }
  return view;
}

template <typename Part>
std::int64_t Stance::over_units(const SpatialView& view, const Part& part) const {
  if (!view.any) return part(true, false);
  if (!view.edge) return part(true, false) + (level.units - 1) * part(false, false);
  std::int64_t sum = part(true, level.edge_units == 1 && view.ragged);
  if (level.edge_units > 1) {
    const std::int64_t ragged_units = view.ragged ? 1 : 0;
    sum += std::max<std::int64_t>(level.edge_units - 1 - ragged_units, 0) * part(false, false);
    if (ragged_units > 0) sum += part(false, true);
  }
  return sum;
}

std::int64_t Stance::array_ingress(std::size_t operand) {
  return over_units(spatial_on(operand), [&](bool first, bool ragged) { return ingress(operand, first, ragged); });
}

std::int64_t Stance::reduction_factor(std::size_t i, bool first, bool ragged) const {
  const std::size_t d = index(level.loops[i].dim);
  const LoopState& s = at(i);
  if (!level.loops[i].spatial) return s.is_edge() ? level.edge[d] : level.full[d];
  switch (s.position) {
    case Position::Init:
      if (s.is_edge() && ragged) return level.edge[d];
      break;
    case Position::Steady:
      break;
    case Position::Edge:
      if (level.edge_units == 1) return first || ragged ? level.edge[d] : 1;
      if (ragged) return level.fresh_edge[d];
      break;
  }
  return first ? level.full[d] : used(level.fresh[d]);
}

std::int64_t Stance::output_factor(std::size_t i, bool first, bool ragged, bool reuse) const {
  const std::size_t d = index(level.loops[i].dim);
  const std::size_t out = index(output_dim(level.loops[i].dim));
  const LoopState& s = at(i);
  if (!level.loops[i].spatial) return s.is_edge() ? level.edge[out] : level.full[out];
  switch (s.position) {
    case Position::Init:
      if (s.is_edge() && ragged) return level.edge_units > 1 && reuse ? level.fresh_edge[out] : level.edge[out];
      break;
    case Position::Steady:
      break;
    case Position::Edge:
      if (level.edge_units == 1 && plan.model == Model::Exact) return first || ragged ? level.edge[out] : 1;
      if (level.edge_units == 1) return first || ragged ? level.edge[d] : 1;  // the input size, as MAESTRO has it
      if (ragged) return level.fresh_edge[out];
      break;
  }
  return first ? level.full[out] : used(level.fresh[out]);
}

std::int64_t Stance::outputs(bool partial_sums, bool first, bool ragged, bool reuse) const {
  std::int64_t volume = 1;
  DimMask seen = 0;
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    const DimMask dim = bit(level.loops[i].dim);
    if (!on(i, kOutput)) {
      if (partial_sums) volume *= reduction_factor(i, first, ragged);
    } else if ((seen & dim) == 0) {
      volume *= output_factor(i, first, ragged, reuse);
    }
    seen |= dim;
  }
  return volume;
}

std::int64_t Stance::egress() const {
  return over_units(spatial_on(kOutput), [&](bool first, bool ragged) { return outputs(false, first, ragged, true); });
}

std::int64_t Stance::critical_path() const {
  const SpatialView view = spatial_on(kOutput);
  return outputs(true, true, view.edge && level.edge_units == 1 && view.ragged, true);
}

std::int64_t Stance::array_macs() const {
  SpatialView view;
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    if (!level.loops[i].spatial) continue;
    view.any = true;
    view.edge |= at(i).is_edge();
    view.ragged = at(i).ragged;
  }
  if (!view.edge) return level.units * outputs(true, true, false, true);
  std::int64_t sum = outputs(true, true, level.edge_units == 1 && view.ragged, true);
  if (level.edge_units > 1) {
    const std::int64_t ragged_units = view.ragged ? 1 : 0;
    sum += std::max<std::int64_t>(level.edge_units - 1 - ragged_units, 0) * outputs(true, true, false, true);
    if (ragged_units > 0) sum += outputs(true, false, true, false);
  }
  return sum;
}

DimSizes Stance::inner_sizes(bool ragged) const {
  DimSizes sizes{};
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    const std::size_t d = index(level.loops[i].dim);
    if (sizes[d] != 0) continue;
    const bool edge = at(i).is_edge() && (!level.loops[i].spatial || level.edge_units == 1 || ragged);
    sizes[d] = edge ? level.edge[d] : level.full[d];
  }
  return sizes;
}

}  // namespace tilewright
