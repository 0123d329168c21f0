#include "tilewright/mapping/dataflow_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright {

TileEstimator::TileEstimator(const RoleLoops& loops, const Accelerator& accelerator, bool two_levels)
    : loops_(loops),
      accelerator_(accelerator),
      two_levels_(two_levels),
      bandwidth_(static_cast<double>(std::min(accelerator.noc.bandwidth, accelerator.offchip_bandwidth))) {}

void TileEstimator::measure(TileCandidate& candidate) const {
  const DataflowTiles& tiles = candidate.tiles;
  const std::int64_t clusters = accelerator_.pes / tiles.cluster_size;
  const LoopRole outside = tiles.outer_parallel;
  const std::int64_t active = std::min(clusters, ceil_div(loops_[outside].extent, candidate.tile(outside)));
  const TensorRoles spread = tensors_with(outside, loops_.kind);
  const TileVolumes outer = volumes_of(loops_, tiles.outer);
  const TileVolumes inner = volumes_of(loops_, tiles.inner);
  const auto units = static_cast<double>(active);
  const double in = outer.input * (spread.input ? units : 1) + outer.weight * (spread.weight ? units : 1);
  // A strided neighbour is taken to write all outputs it would have without the stride.
  const auto per_neighbour = static_cast<double>(loops_.single(outside) ? loops_[outside].stride : 1);
  const double out = outer.output * (spread.output ? 1 + (units - 1) * per_neighbour : 1);

  double inner_steps = outer.macs / inner.macs;
  if (two_levels_) {
    const LoopRole inside = *tiles.inner_parallel;
    const std::int64_t positions = candidate.tile(inside) / tiles.inner[index(inside)];
    inner_steps *= static_cast<double>(ceil_div(positions, tiles.cluster_size)) / static_cast<double>(positions);
  }
  candidate.cycles = inner_steps * std::ceil(inner.macs / static_cast<double>(accelerator_.simd_lanes));
  candidate.steps = 1;
  double shortest = candidate.cycles;  // the step that takes the remainder of every loop, for which as much is loaded
  for (const LoopRole role : kRoles) {
    if (loops_[role].extent == 0) continue;
    const std::int64_t count = ceil_div(loops_[role].extent, candidate.tile(role));
    const std::int64_t last = loops_[role].extent - (count - 1) * candidate.tile(role);
    candidate.steps *= static_cast<double>(role == outside ? ceil_div(count, clusters) : count);
    if (two_levels_ && role == tiles.inner_parallel) continue;
    shortest *= static_cast<double>(last) / static_cast<double>(candidate.tile(role));
  }
  candidate.l1 = l1_need(tiles.inner);
  candidate.l2 = 2 * (in + out);
  candidate.bandwidth = std::max(in, out) / shortest;
  candidate.runtime = candidate.steps * std::max(candidate.cycles, std::max(in, out) / bandwidth_);
}

double TileEstimator::l1_need(const PerRole<std::int64_t>& inner) const {
  const TileVolumes volumes = volumes_of(loops_, inner);
  return 2 * (volumes.input + volumes.weight + volumes.output_at_input_size);
}

bool TileEstimator::fits_buffers(const TileCandidate& candidate) const {
  return candidate.l1 <= static_cast<double>(accelerator_.l1.value) &&
         candidate.l2 <= static_cast<double>(accelerator_.l2.value);
}

// Bandwidths are whole numbers; what is left of one costs a cycle now and then.
bool TileEstimator::is_fed(const TileCandidate& candidate) const { return std::floor(candidate.bandwidth) <= bandwidth_; }

}  // namespace tilewright
