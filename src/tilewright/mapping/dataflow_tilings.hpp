// The tilings of a classic dataflow, for a judge to choose from.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/mapping/dataflow_tiles.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/mapping/row_stationary.hpp"

namespace tilewright {

// What one dataflow may be for a nest on a machine: its order of loops and the loops it spreads are fixed, its tiles are
// open. Which of them are best is for a judge to say; the estimate here knows no objective.
class DataflowTilings {
 public:
  using Tiling = std::variant<DataflowTiles, RowPlan>;

  // An Error names the nearest dataflow when `name` is none.
  static Result<DataflowTilings> make(std::string_view name, const Nest& nest, const Accelerator& accelerator,
                                      StridedTiles strided);

  std::vector<Tiling> starts() const;  // one or more, best first by the estimate
  std::vector<Tiling> around(const Tiling& tiling) const;
  Mapping mapping(const Tiling& tiling) const;

 private:
  struct Recipe;
  static const std::vector<Recipe>& recipes();
  friend const std::vector<Dataflow>& dataflows();
  DataflowTilings(const Recipe& recipe, RoleLoops loops, Accelerator machine)
      : recipe_(&recipe), loops_(std::move(loops)), machine_(std::move(machine)) {}
  MappingLevel level(LoopRole parallel, const PerRole<std::int64_t>& tiles) const;

  const Recipe* recipe_;
  RoleLoops loops_;
  Accelerator machine_;
};

}  // namespace tilewright
