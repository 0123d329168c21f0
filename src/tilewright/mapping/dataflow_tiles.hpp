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

struct Tiles {
  LoopRole outer_parallel = LoopRole::Out;
  std::optional<LoopRole> inner_parallel;  // nothing: one level only
  std::int64_t cluster_size = 1;
  PerRole<std::int64_t> outer{};  // indices given to a cluster at a time
  PerRole<std::int64_t> inner{};  // indices given to a processing element at a time
};

// Tiles that do every MAC once under MAESTRO's counting, and fit the machine's buffers and bandwidths wherever this can find
// tiles that do.
Tiles choose_tiles(const RoleLoops& loops, const TileRequest& request, const Accelerator& accelerator);

}  // namespace tilewright
