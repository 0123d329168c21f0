// Why a mapping does not fit a machine, and the least that would have to give: the limits, or the tiles.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/cost/audit.hpp"
#include "tilewright/cost/evaluator.hpp"

namespace tilewright {

// One tile (or cluster) made smaller or larger. Tiles of the same dimension further in are cut to fit.
struct TileChange {
  std::size_t level = 0;
  std::optional<Dim> dim;  // nothing: the cluster size of the level
  std::int32_t from = 0;
  std::int32_t to = 0;
};

struct Relaxation {
  Infeasible why;
  std::vector<Limit> raised_limits;  // all that must be raised together, `need` being the new limit; empty if limits are
                                     // not the reason
  std::optional<Cost> with_raised_limits;
  std::vector<TileChange> tiles;   // the smallest change found; empty if none was
  std::optional<Mapping> changed;  // the mapping with `tiles` applied
  std::optional<Cost> with_changed_tiles;
};

// Nothing when the mapping is feasible. `model` is Sound or Exact; constraints are hard. Looks for one tile first, the
// nearest size that fits winning; then for several: as they are, clipped to their dimensions, or rounded down to divisors,
// and shrunk from there, always the one that helps most.
std::optional<Relaxation> relax(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator,
                                Model model = Model::Sound);

}  // namespace tilewright
