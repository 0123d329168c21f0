// Small layers and mappings of them, drawn at random: what property tests of the cost model feed on.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/base/rng.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

enum class TileStyle {
  Dividing,  // every tile divides what its parent gives it; one spatial loop per level, kernels whole, tiles that meet
  Ragged,    // like Dividing, with tiles of any size up to their parent's
  Oversize,  // like Ragged, and some tiles are larger than what there is to cut
  Wild,      // gaps and overlaps, cut kernels, two spatial loops in a level, a dimension twice
};

struct RandomCase {
  Nest nest;
  Mapping mapping;       // 1 to 3 levels; some loops are left out, some are on inputs and some on outputs
  std::int64_t pes = 1;  // enough for the clusters, not always a multiple of them
};

// Convolutions (kernels 1 to 4, strides 1 to 3, with and without batch), depthwise and grouped ones, and matrix multiplies.
Nest random_nest(Rng& rng, std::int64_t most_macs);
RandomCase random_case(Rng& rng, TileStyle style, std::int64_t most_macs = 1000);

// The case as a person would write it down.
std::string to_text(const RandomCase& drawn);

}  // namespace tilewright
