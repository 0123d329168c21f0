// The classic dataflows as a search should know them: each with the best tiles its rule allows, judged by the model, the
// limits and the objective of the search.
//
// A dataflow fixes the order of loops and what is spread over the array; its tiles are open. They are chosen by judging the
// estimate's choice for every cluster size, and then changing one tile at a time for as long as the best of them gets
// better.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/cost/evaluator.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/space/mapping_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

// How tilings are judged: as the points of a mapping space are.
struct Judging {
  EvaluateOptions evaluate;
  bool gamma_rules = false;
  Objective objective;
};

// Several outputs of a strided row to a tile, where the model counts them right.
StridedTiles strided_for(Model model);

struct Classic {
  std::string_view name;  // of the dataflow
  Mapping mapping;
  Outcome outcome;  // feasible, and within the objective's limits
  Score score{};
  std::int64_t judged = 0;  // tilings that were evaluated to find it
};

// The best tiling of one dataflow; nothing when none was found that fits. An Error when there is no such dataflow.
Result<std::optional<Classic>> best_tiling(std::string_view name, const Nest& nest, const Accelerator& accelerator,
                                           const Judging& judging);

// Every classic dataflow that fits, aliases left out, best first; of equal ones the one listed first.
struct Classics {
  std::vector<Classic> fitting;
  std::int64_t judged = 0;  // tilings evaluated, those of dataflows that do not fit included
};
Classics classics_of(const Nest& nest, const Accelerator& accelerator, const Judging& judging);

// The mapping space of a layer that contains its classics. It has two cluster levels; three where a classic has them, or
// where two spread dimensions cannot fill the array; and one where a classic of one level is not the same with a one-unit
// level inside. `options` gives everything but the levels.
MappingSpace space_with(const Classics& classics, std::string name, const Nest& nest, const Accelerator& accelerator,
                        MappingSpaceOptions options);

// The classics that are points of a space, evaluating to the very same: best first.
std::vector<Point> points_of(const Classics& classics, const MappingSpace& space);

}  // namespace tilewright
