// A dataflow is a loop order for each of one or two levels, the loop of each level that runs in parallel, and a taste in
// tiles. Both levels name every loop, since Y' and X' only have a meaning beside R and S.
//
// `eyeriss` spreads kernel rows inside its clusters (row_stationary.hpp); the recipe here serves layers without such rows.
#include "tilewright/mapping/dataflows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/mapping/dataflow_tiles.hpp"
#include "tilewright/mapping/row_stationary.hpp"

namespace tilewright {
namespace {

using enum LoopRole;

struct Recipe {
  Dataflow dataflow;
  std::vector<LoopRole> order;  // outermost first, the same on both levels
  TileRequest tiles;
};

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

const std::vector<Recipe>& recipes() {
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
      {{"kcp_ws", "MAESTRO's name for nvdla"}, kWeightStationary, kOutIn},
      {{"yxp_os", "MAESTRO's name for shidiannao"}, kOutputStationary, kRowColumn},
      {{"rs", "MAESTRO's name for eyeriss"}, kRowStationary, kRowOutHeld},
  };
  return kRecipes;
}

MappingLevel level_of(const Recipe& recipe, const RoleLoops& loops, LoopRole parallel, const PerRole<std::int64_t>& tiles) {
  MappingLevel level;
  for (const LoopRole role : recipe.order) {
    if (loops[role].extent == 0) continue;
    const auto kind = role == parallel ? Directive::Kind::Spatial : Directive::Kind::Temporal;
    // A directive on Y' or X' counts output positions as if the stride were 1.
    const std::int64_t step = loops.slides(role) ? loops[role].stride : 1;
    const auto size = static_cast<std::int32_t>((tiles[index(role)] - 1) * step + 1);
    level.directives.push_back({kind, loops[role].dim, size, size});
  }
  return level;
}

}  // namespace

const std::vector<Dataflow>& dataflows() {
  static const std::vector<Dataflow> kDataflows = [] {
    std::vector<Dataflow> all;
    for (const Recipe& recipe : recipes()) all.push_back(recipe.dataflow);
    return all;
  }();
  return kDataflows;
}

Result<Mapping> dataflow(std::string_view name, const Nest& nest, const Accelerator& accelerator, StridedTiles strided) {
  const auto recipe = std::ranges::find_if(recipes(), [&](const Recipe& r) { return r.dataflow.name == name; });
  if (recipe == recipes().end()) {
    std::vector<std::string> names;
    for (const Recipe& known : recipes()) names.emplace_back(known.dataflow.name);
    return Error{ErrorCode::NotFound, fmt::format("dataflow '{}' is not known, expected one of {}{}", name,
                                                  join(names, ", "), did_you_mean(name, names))};
  }
  TW_TRY(const Accelerator machine, check(accelerator, "accelerator"));
  TW_TRY(RoleLoops loops, roles_of(nest));
  loops.single_strided = strided == StridedTiles::Single;
  if (recipe->order == kRowStationary) {
    if (const auto mapping = row_stationary(loops, machine)) return *mapping;
  }
  const Tiles tiles = choose_tiles(loops, recipe->tiles, machine);
  Mapping mapping;
  mapping.levels.push_back(level_of(*recipe, loops, tiles.outer_parallel, tiles.outer));
  if (tiles.inner_parallel) {
    mapping.levels.push_back(level_of(*recipe, loops, *tiles.inner_parallel, tiles.inner));
    mapping.levels.back().cluster_size = static_cast<std::int32_t>(tiles.cluster_size);
  }
  return mapping;
}

}  // namespace tilewright
