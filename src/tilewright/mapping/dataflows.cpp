// A dataflow is a loop order for each of one or two levels, the loop of each level that runs in parallel, and a taste in
// tiles. Both levels name every loop, since Y' and X' only have a meaning beside R and S.
//
// `eyeriss` spreads kernel rows inside its clusters (row_stationary.hpp); the recipe here serves layers without such rows.
#include "tilewright/mapping/dataflows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/mapping/dataflow_tilings.hpp"

namespace tilewright {
namespace {

using enum LoopRole;

const std::vector<LoopRole> kWeightStationary = {Group, Out, In, FilterRow, FilterColumn, Batch, Row, Column};
const std::vector<LoopRole> kOutputStationary = {Batch, Group, Out, Row, Column, In, FilterRow, FilterColumn};
const std::vector<LoopRole> kRowStationary = {Batch, Group, Row, Out, In, FilterRow, FilterColumn, Column};

// What comes after the named loops is for layers without them: depthwise ones have no Out, matrix multiplies no Column, and
// a fully connected layer only one Row and Column.
const TileRequest kOutIn = {
    {Out, In, Group, Row, Column, Batch}, {In, Column, Row, Group, Batch, Out}, {}, {Column, Row, Batch}, 64};
const TileRequest kInOut = {
    {In, Out, Group, Row, Column, Batch}, {Out, Row, Column, Group, Batch, In}, {}, {Column, Row, Batch}, 256};
const TileRequest kRowColumn = {
    {Row, Column, Out, In, Group, Batch}, {Column, Out, In, Row, Group, Batch}, {}, {In, Out, Batch}, 8};
const TileRequest kRowOut = {
    {Row, Column, Out, In, Group, Batch}, {Out, In, Column, Row, Group, Batch}, {}, {In, Column, Batch}, 16};
const TileRequest kRowOutHeld = {
    {Row, Column, Out, In, Group, Batch}, {Out, In, Column, Row, Group, Batch}, {In}, {Column, In, Batch}, 12};
const TileRequest kIn = {{In, Out, Group, Row, Column, Batch}, {}, {}, {Out, Column, Row, Batch}, 1};
const TileRequest kColumn = {{Column, Row, Out, In, Group, Batch}, {}, {}, {Out, Row, In, Batch}, 1};

}  // namespace

struct DataflowTilings::Recipe {
  Dataflow dataflow;
  std::vector<LoopRole> order;  // outermost first, the same on both levels
  TileRequest tiles;
};

const std::vector<DataflowTilings::Recipe>& DataflowTilings::recipes() {
  static const std::vector<Recipe> kRecipes = {
      {{"nvdla", "weight stationary; output channels over clusters, input channels inside"}, kWeightStationary, kOutIn},
      {{"eyeriss", "row stationary; output rows over clusters, kernel rows inside"}, kRowStationary, kRowOutHeld},
      {{"shidiannao", "output stationary; output rows over clusters, output columns inside"}, kOutputStationary, kRowColumn},
      {{"tpu", "weight stationary, systolic; input channels over clusters, output channels inside"},
       kWeightStationary,
       kInOut},
      {{"nlr", "no local reuse; input channels over all processing elements, outputs pass by"}, kOutputStationary, kIn},
      {{"xp_ws", "weight stationary; output columns over all processing elements"}, kWeightStationary, kColumn},
      {{"ykp_os", "output stationary; output rows over clusters, output channels inside"}, kOutputStationary, kRowOut},
      {{"kcp_ws", "MAESTRO's name for nvdla", true}, kWeightStationary, kOutIn},
      {{"yxp_os", "MAESTRO's name for shidiannao", true}, kOutputStationary, kRowColumn},
      {{"rs", "MAESTRO's name for eyeriss", true}, kRowStationary, kRowOutHeld},
  };
  return kRecipes;
}

MappingLevel DataflowTilings::level(LoopRole parallel, const PerRole<std::int64_t>& tiles) const {
  MappingLevel level;
  for (const LoopRole role : recipe_->order) {
    if (loops_[role].extent == 0) continue;
    const auto kind = role == parallel ? Directive::Kind::Spatial : Directive::Kind::Temporal;
    // A directive on Y' or X' counts output positions as if the stride were 1.
    const std::int64_t step = loops_.slides(role) ? loops_[role].stride : 1;
    const auto size = static_cast<std::int32_t>((tiles[index(role)] - 1) * step + 1);
    level.directives.push_back({kind, loops_[role].dim, size, size});
  }
  return level;
}

const std::vector<Dataflow>& dataflows() {
  static const std::vector<Dataflow> kDataflows = [] {
    std::vector<Dataflow> all;
    for (const DataflowTilings::Recipe& recipe : DataflowTilings::recipes()) all.push_back(recipe.dataflow);
    return all;
  }();
  return kDataflows;
}

Result<DataflowTilings> DataflowTilings::make(std::string_view name, const Nest& nest, const Accelerator& accelerator,
                                              StridedTiles strided) {
  const auto recipe = std::ranges::find_if(recipes(), [&](const Recipe& r) { return r.dataflow.name == name; });
  if (recipe == recipes().end()) {
    std::vector<std::string> names;
    for (const Recipe& known : recipes()) names.emplace_back(known.dataflow.name);
    return Error{ErrorCode::NotFound, fmt::format("dataflow '{}' is not known, expected one of {}{}", name,
                                                  join(names, ", "), did_you_mean(name, names))};
  }
  TW_TRY(Accelerator machine, check(accelerator, "accelerator"));
  TW_TRY(RoleLoops loops, roles_of(nest));
  loops.single_strided = strided == StridedTiles::Single;
  return DataflowTilings(*recipe, std::move(loops), std::move(machine));
}

std::vector<DataflowTilings::Tiling> DataflowTilings::starts() const {
  std::vector<Tiling> all;
  if (recipe_->order == kRowStationary) {
    for (const RowPlan& plan : row_plans(loops_, machine_)) all.emplace_back(plan);
  }
  if (!all.empty()) return all;
  for (const DataflowTiles& tiles : tiles_by_cluster(loops_, recipe_->tiles, machine_)) all.emplace_back(tiles);
  return all;
}

std::vector<DataflowTilings::Tiling> DataflowTilings::around(const Tiling& tiling) const {
  std::vector<Tiling> all;
  if (const auto* plan = std::get_if<RowPlan>(&tiling)) {
    for (const RowPlan& next : neighbours(*plan, loops_)) all.emplace_back(next);
  } else {
    for (const DataflowTiles& next : neighbours(std::get<DataflowTiles>(tiling), loops_, recipe_->tiles))
      all.emplace_back(next);
  }
  return all;
}

Mapping DataflowTilings::mapping(const Tiling& tiling) const {
  if (const auto* plan = std::get_if<RowPlan>(&tiling)) return to_mapping(loops_, *plan);
  const DataflowTiles& tiles = std::get<DataflowTiles>(tiling);
  Mapping mapping;
  mapping.levels.push_back(level(tiles.outer_parallel, tiles.outer));
  if (tiles.inner_parallel) {
    mapping.levels.push_back(level(*tiles.inner_parallel, tiles.inner));
    mapping.levels.back().cluster_size = static_cast<std::int32_t>(tiles.cluster_size);
  }
  return mapping;
}

Result<Mapping> dataflow(std::string_view name, const Nest& nest, const Accelerator& accelerator, StridedTiles strided) {
  TW_TRY(const DataflowTilings tilings, DataflowTilings::make(name, nest, accelerator, strided));
  return tilings.mapping(tilings.starts().front());
}

}  // namespace tilewright
