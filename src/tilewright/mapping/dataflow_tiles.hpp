// How large the tiles of a dataflow are: the part of instantiating it that depends on the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/dataflow_roles.hpp"

namespace tilewright {

// What a dataflow asks for. Each list is in order of preference; roles the nest lacks are skipped.
struct TileRequest {
  std::vector<LoopRole>
      outer_parallel;  // spread over the clusters, or over all processing elements when `inner_parallel` is empty
  std::vector<LoopRole> inner_parallel;  // spread over the processing elements of a cluster
  std::vector<LoopRole> held;            // kept in L1 as far as it fits
  std::vector<LoopRole> grown;           // tiles of level 0 that may grow to spare bandwidth and start-up
  std::int64_t cluster_size = 16;        // wished for where the machine is not built in clusters
};

struct DataflowTiles {
  LoopRole outer_parallel = LoopRole::Out;
  std::optional<LoopRole> inner_parallel;  // nothing: one level only
  std::int64_t cluster_size = 1;
  PerRole<std::int64_t> outer{};  // indices given to a cluster at a time
  PerRole<std::int64_t> inner{};  // indices given to a processing element at a time

  bool operator==(const DataflowTiles&) const = default;
};

// For every cluster size worth trying, tiles that do every MAC once under MAESTRO's counting, and fit the machine's buffers
// and bandwidths wherever this can find tiles that do. Best first, by an estimate.
std::vector<DataflowTiles> tiles_by_cluster(const RoleLoops& loops, const TileRequest& request,
                                            const Accelerator& accelerator);

// `tiles` with one loop's tile changed, as far as the dataflow leaves it open. Not all of them are exact or fit.
std::vector<DataflowTiles> neighbours(const DataflowTiles& tiles, const RoleLoops& loops, const TileRequest& request);

}  // namespace tilewright
