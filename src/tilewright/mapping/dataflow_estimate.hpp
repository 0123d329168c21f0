// What a choice of tiles asks of the machine: the few numbers that decide how a dataflow's tiles grow. They follow the cost
// model's formulas for full tiles and are exact for the buffers, close for the rest.
#pragma once

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/dataflow_tiles.hpp"

namespace tilewright {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct TileCandidate {
  DataflowTiles tiles;
  double l1 = 0;         // bytes of one processing element, double buffered
  double l2 = 0;         // bytes, double buffered
  double bandwidth = 0;  // elements per cycle into or out of L2 while the array computes one step
  double cycles = 0;     // of one step of level 0, if nothing waits
  double steps = 0;      // of level 0
  double runtime = 0;    // cycles

  std::int64_t tile(LoopRole role) const { return tiles.outer[index(role)]; }
  bool is_parallel(LoopRole role) const { return role == tiles.outer_parallel || role == tiles.inner_parallel; }
};

class TileEstimator {
 public:
  // `two_levels`: the parallel loop inside a cluster has work for all its units; otherwise only one of them works.
  TileEstimator(const RoleLoops& loops, const Accelerator& accelerator, bool two_levels);

  // Fills in everything but the tiles.
  void measure(TileCandidate& candidate) const;

  double l1_need(const PerRole<std::int64_t>& inner) const;
  bool fits_buffers(const TileCandidate& candidate) const;
  bool is_fed(const TileCandidate& candidate) const;  // the bandwidths suffice
  bool fits(const TileCandidate& candidate) const { return fits_buffers(candidate) && is_fed(candidate); }

 private:
  const RoleLoops& loops_;
  const Accelerator& accelerator_;
  bool two_levels_;
  double bandwidth_;
};

}  // namespace tilewright
