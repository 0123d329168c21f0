#include "tilewright/mapping/row_stationary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tilewright {
namespace {

// The cost model's needs for full tiles.
bool fits(const RowPlan& plan, const RoleLoops& loops, const Accelerator& accelerator) {
  const RoleLoop &row = loops[LoopRole::Row], &column = loops[LoopRole::Column];
  const std::int64_t taps_y = loops[LoopRole::FilterRow].extent, taps_x = loops[LoopRole::FilterColumn].extent;
  const std::int64_t rows = std::min(plan.clusters, row.extent);
  const std::int64_t reach = (plan.columns - 1) * column.stride + taps_x;
  const bool shared_rows = plan.groups > 1;  // all rows of the layer in one step: their halos are sent once
  const std::int64_t input = plan.in * reach * (shared_rows ? (rows - 1) * row.stride + taps_y : rows * taps_y);
  const std::int64_t weight = plan.groups * plan.out * plan.in * taps_y * taps_x;
  const std::int64_t output = plan.groups * (loops.kind == NestKind::Depthwise ? plan.in : plan.out) * rows * plan.columns;
  const std::int64_t cycles = plan.columns * std::max<std::int64_t>(1, plan.out * plan.in * taps_x / accelerator.simd_lanes);
  const std::int64_t bandwidth = std::max(input + weight, output) / cycles;
  const std::int64_t outs = loops.kind == NestKind::Depthwise ? plan.in : plan.out;
  const std::int64_t l1 = 2 * (plan.in * taps_x + plan.out * plan.in * taps_x + outs * taps_x);
  const bool feeds_itself = !shared_rows || rows * taps_y <= plan.out * accelerator.noc.bandwidth;
  return feeds_itself && l1 <= accelerator.l1.value && 2 * (input + weight + output) <= accelerator.l2.value &&
         bandwidth <= accelerator.noc.bandwidth && bandwidth <= accelerator.offchip_bandwidth;
}

// The largest tile of channels that fits; tiles divide their channels, so that all are whole.
std::optional<RowPlan> with_channels(RowPlan plan, const RoleLoops& loops, const Accelerator& accelerator) {
  constexpr std::int64_t kMost = 64;  // beyond this, what L1 saves is small beside what it costs
  const std::int64_t outs = std::max<std::int64_t>(1, loops[LoopRole::Out].extent), ins = loops[LoopRole::In].extent;
  std::optional<RowPlan> best;
  for (plan.out = 1; plan.out <= std::min(outs / plan.groups, kMost); ++plan.out) {
    if (outs % (plan.groups * plan.out) != 0) continue;  // or the last groups would rest
    for (plan.in = 1; plan.in <= std::min(ins, kMost); ++plan.in) {
      if (ins % plan.in != 0 || (best && plan.out * plan.in <= best->out * best->in)) continue;
      if (fits(plan, loops, accelerator)) best = plan;
    }
  }
  return best;
}

// Groups of clusters, when one group has a cluster for every row and at least two fit.
void add_groups(std::vector<RowPlan>& plans, const RoleLoops& loops, const Accelerator& accelerator) {
  const std::int64_t rows = loops[LoopRole::Row].extent, taps = loops[LoopRole::FilterRow].extent;
  for (std::int64_t groups = accelerator.pes / (rows * taps); groups > 1; groups -= std::max<std::int64_t>(1, groups / 16)) {
    const RowPlan plan{.groups = groups, .clusters = rows, .cluster_size = taps, .columns = loops[LoopRole::Column].extent};
    if (const auto found = with_channels(plan, loops, accelerator)) plans.push_back(*found);
  }
}

// Larger clusters leave processing elements idle: fewer clusters are easier to feed, and a last round with a single one,
// which the cost models miscount, is avoided.
void add_clusters(std::vector<RowPlan>& plans, const RoleLoops& loops, const Accelerator& accelerator) {
  const std::int64_t rows = loops[LoopRole::Row].extent;
  std::int64_t tried = 0;
  for (std::int64_t clusters = accelerator.pes / loops[LoopRole::FilterRow].extent; clusters >= 1; --clusters) {
    const std::int64_t size = accelerator.pes / clusters;
    if (size == tried || accelerator.pes / size != clusters) continue;
    if (clusters > 2 * rows && !plans.empty()) continue;  // most of them without a row
    tried = size;
    if (rows > clusters && rows % clusters == 1) continue;
    if (const auto found = with_channels({.clusters = clusters, .cluster_size = size}, loops, accelerator)) {
      plans.push_back(*found);
    }
  }
}

// How often a step of level 0 occurs is counted in 31 bits.
bool is_countable(const RowPlan& plan, const RoleLoops& loops) {
  double steps = 1;
  const auto walk = [&](LoopRole role, std::int64_t tile) {
    if (loops[role].extent > 0) steps *= std::ceil(static_cast<double>(loops[role].extent) / static_cast<double>(tile));
  };
  walk(LoopRole::Batch, 1);
  walk(LoopRole::Group, 1);
  walk(LoopRole::Row, plan.clusters);
  walk(LoopRole::Out, plan.out * plan.groups);
  walk(LoopRole::In, plan.in);
  walk(LoopRole::Column, plan.columns);
  return steps < std::numeric_limits<std::int32_t>::max();
}

}  // namespace

Mapping to_mapping(const RoleLoops& loops, const RowPlan& plan) {
  constexpr LoopRole kOrder[] = {LoopRole::Batch, LoopRole::Group,     LoopRole::Row,          LoopRole::Out,
                                 LoopRole::In,    LoopRole::FilterRow, LoopRole::FilterColumn, LoopRole::Column};
  constexpr auto T = Directive::Kind::Temporal;
  constexpr auto S = Directive::Kind::Spatial;
  const bool grouped = plan.groups > 1;
  const auto tile_of = [&](LoopRole role) -> std::int64_t {
    switch (role) {
      case LoopRole::Out:
        return plan.out;
      case LoopRole::In:
        return plan.in;
      case LoopRole::Row:
        return grouped ? (loops[role].extent - 1) * loops[role].stride + 1 : 1;
      case LoopRole::Column:
        return (plan.columns - 1) * loops[role].stride + 1;
      case LoopRole::FilterRow:
      case LoopRole::FilterColumn:
        return loops[role].extent;
      default:
        return 1;
    }
  };
  MappingLevel outer, inner, middle;
  for (const LoopRole role : kOrder) {
    if (loops[role].extent == 0) continue;
    const auto size = static_cast<std::int32_t>(tile_of(role));
    outer.directives.push_back({role == (grouped ? LoopRole::Out : LoopRole::Row) ? S : T, loops[role].dim, size, size});
  }
  middle.cluster_size = static_cast<std::int32_t>(plan.clusters);
  for (const LoopRole taps : {LoopRole::FilterRow, LoopRole::FilterColumn}) {
    const auto size = static_cast<std::int32_t>(loops[taps].extent);
    middle.directives.push_back({T, loops[taps].dim, size, size});
  }
  middle.directives.push_back({S, Dim::OutY, 1, 1});
  middle.directives.push_back({T, Dim::OutX, 1, 1});
  inner.cluster_size = static_cast<std::int32_t>(plan.cluster_size);
  inner.directives.push_back({S, Dim::Y, 1, 1});
  inner.directives.push_back({S, Dim::R, 1, 1});

  Mapping mapping;
  mapping.levels.push_back(outer);
  if (grouped) mapping.levels.push_back(middle);
  mapping.levels.push_back(inner);
  return mapping;
}

std::vector<RowPlan> row_plans(const RoleLoops& loops, const Accelerator& accelerator) {
  std::vector<RowPlan> plans;
  if (loops.kind == NestKind::MatrixMultiply || loops[LoopRole::FilterRow].extent < 2) return plans;
  const bool strided = loops.single(LoopRole::Row) || loops.single(LoopRole::Column);
  if (!strided) add_groups(plans, loops, accelerator);
  add_clusters(plans, loops, accelerator);
  std::erase_if(plans, [&](const RowPlan& plan) { return !is_countable(plan, loops); });
  return plans;
}

std::vector<RowPlan> neighbours(const RowPlan& plan, const RoleLoops& loops) {
  std::vector<RowPlan> all;
  const auto vary = [&](std::int64_t RowPlan::*member, std::int64_t extent) {
    for (std::int64_t size = 1; size <= extent; ++size) {
      if (extent % size != 0 || size == plan.*member) continue;
      RowPlan next = plan;
      next.*member = size;
      if (is_countable(next, loops)) all.push_back(next);
    }
  };
  const std::int64_t outs = std::max<std::int64_t>(1, loops[LoopRole::Out].extent);
  if (outs % plan.groups == 0) vary(&RowPlan::out, outs / plan.groups);
  vary(&RowPlan::in, loops[LoopRole::In].extent);
  if (!loops.single(LoopRole::Column)) vary(&RowPlan::columns, loops[LoopRole::Column].extent);
  return all;
}

}  // namespace tilewright
