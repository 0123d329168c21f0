// What a level needs before its groups are run: the sizes its loops can meet, and the factors of its volumes.
#include <algorithm>
#include <bit>

#include "tilewright/cost/stance_groups_state.hpp"

namespace tilewright {

using namespace stance_groups;

// The place of `size` among the sizes that a loop of a level can meet.
void StanceGroups::Workspace::add_variant(std::size_t number, std::size_t i, std::int64_t size, std::uint32_t& position) {
  const LevelPlan& level = plan->levels[number];
  const Loop& loop = level.loops[i];
  LevelLoop& entry = tables[number].loops[i];
  for (position = 0; position < entry.variant_count; ++position) {
    if (entry.variants[position].size == size) return;
  }
  if (entry.variant_count == kMostVariants) {
    not_grouped = true;
    position = 0;
    return;
  }
  LoopVariant& variant = entry.variants[entry.variant_count++];
  variant.size = size;
  variant.course = course_of(loop, size, level.units);
  if (!exact()) return;
  variant.tiles = tiles_of(loop, size);
  variant.edge_units = (variant.tiles.count - 1) % level.units + 1;
}

// Which sizes each loop can meet, and the bits of the keys that tell them apart.
void StanceGroups::Workspace::prepare_tables() {
  for (std::size_t number = 0; number < plan->levels.size(); ++number) {
    const LevelPlan& level = plan->levels[number];
    LevelTable& table = tables[number];
    table.loop_count = level.loops.size();
    unsigned bits = 0;
    for (std::size_t i = 0; i < table.loop_count; ++i) {
      LevelLoop& entry = table.loops[i];
      const std::size_t d = index(level.loops[i].dim);
      entry.variant_count = 0;
      std::uint32_t position = 0;
      if (number == 0) {
        add_variant(0, i, plan->sizes[d], position);
      } else {
        const LevelPlan& parent = plan->levels[number - 1];
        std::size_t j = 0;
        while (parent.loops[j].dim != level.loops[i].dim) ++j;
        LevelLoop& above = tables[number - 1].loops[j];
        for (std::size_t v = 0; v < above.variant_count; ++v) {
          LoopVariant& variant = above.variants[v];
          add_variant(number, i, exact() ? variant.tiles.full : parent.full[d], variant.full_child);
          add_variant(number, i, exact() ? variant.tiles.edge : parent.edge[d], variant.edge_child);
          variant.full_child <<= bits;
          variant.edge_child <<= bits;
        }
      }
      entry.shift = bits;
      const auto width = static_cast<unsigned>(std::bit_width(entry.variant_count - 1));
      entry.digits = (1u << width) - 1;
      bits += width;
    }
    not_grouped |= bits > kMostKeyBits;
    if (not_grouped) return;
  }
}

// Copies the tiles that `key` asks for to where the rest of the analysis looks for them.
void StanceGroups::Workspace::set_actual_tiles(std::size_t number, std::uint32_t key) {
  LevelPlan& level = actual[number];
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    const LoopVariant& variant = tables[number].loops[i].of(key);
    const std::size_t d = index(level.loops[i].dim);
    level.full[d] = variant.tiles.full;
    level.edge[d] = variant.tiles.edge;
    level.fresh[d] = variant.tiles.fresh;
    level.fresh_edge[d] = variant.tiles.fresh_edge;
    if (i == level.spatial) level.edge_units = variant.edge_units;
  }
  set_output_tiles(level, *plan);
}

void StanceGroups::Workspace::prepare_step(std::size_t number, std::uint32_t key) {
  if (exact() && number > 0) set_actual_tiles(number, key);
  const LevelPlan& level = level_at(number);
  const LevelTable& table = tables[number];
  Step& step = steps[number];
  step.active_count = step.toggle_count = 0;
  step.spatial_toggle = step.first_key = step.spatial_child = 0;

  std::array<const LoopCourse*, kMostLoops> courses;
  std::int64_t repeats = 1;
  std::size_t masks = 1;
  step.egress[0] = step.path[0] = step.macs[0] = 1;
  const DimMask outputs = plan->tensors.mask[kOutput];

  for (std::size_t i = 0; i < table.loop_count; ++i) {
    const LoopVariant& variant = table.loops[i].of(key);
    const LoopCourse& course = variant.course;
    courses[i] = &course;
    const Loop& loop = level.loops[i];
    const bool in_output = (outputs & bit(loop.dim)) != 0;

    Factors f;
    if (loop.spatial) {
      const Spatial spatial{level, exact(), loop.dim, course.init_edge, {course.init_edge, course.edge_ragged}};
      f = spatial.factors(in_output);
      step.spatial_edge = {course.init_edge, true};
      step.spatial_ragged = spatial.ragged;
      step.first_key |= variant.full_child;
      step.spatial_child = variant.full_child ^ variant.edge_child;
    } else {
      f = temporal_factors(level, loop.dim, in_output);
      step.first_key |= course.init_edge ? variant.edge_child : variant.full_child;
      if (course.init_edge) {
        f.egress[0] = f.egress[1];
        f.path[0] = f.path[1];
        f.macs[0] = f.macs[1];
      }
    }

    std::uint32_t toggle = 0;
    if (course.has_edge) {
      if (step.toggle_count == kMostBits) {
        not_grouped = true;
        return;
      }
      toggle = 1u << step.toggle_count;
      step.toggle_child[step.toggle_count++] = !loop.spatial ? variant.full_child ^ variant.edge_child : 0;
      if (loop.spatial) step.spatial_toggle = toggle;
      for (std::size_t mask = 0; mask < masks; ++mask) {
        step.egress[mask + masks] = step.egress[mask] * f.egress[1];
        step.path[mask + masks] = step.path[mask] * f.path[1];
        step.macs[mask + masks] = step.macs[mask] * f.macs[1];
      }
    }
    for (std::size_t mask = 0; mask < masks; ++mask) {
      step.egress[mask] *= f.egress[0];
      step.path[mask] *= f.path[0];
      step.macs[mask] *= f.macs[0];
    }
    if (toggle != 0) masks *= 2;

    if (!course.active()) continue;
    step.active[step.active_count] = i;
    step.steady[step.active_count] = course.steady;
    step.toggle[step.active_count++] = toggle;
    repeats *= std::max<std::int64_t>(course.steady, 1);
    if (repeats > kUnlimited) {  // some stance may count past 31 bits: only the walk knows which
      not_grouped = true;
      return;
    }
  }
  const Loop& loop = level.loops[level.spatial];
  const LoopCourse& course = *courses[level.spatial];
  prepare_ingress(number, courses, {level, exact(), loop.dim, course.init_edge, {course.init_edge, course.edge_ragged}});
}

// What must be sent when active loop a is the innermost that moved.
void StanceGroups::Workspace::prepare_ingress(std::size_t number, const std::array<const LoopCourse*, kMostLoops>& courses,
                                              const Spatial& spatial) {
  const LevelPlan& level = level_at(number);
  Step& step = steps[number];
  for (std::size_t a = 0; a < step.active_count; ++a) step.starved[a] = false;

  for (const std::size_t operand : {kInput, kWeight}) {
    const DimMask mask = plan->tensors.mask[operand];
    const bool spread = (mask & bit(spatial.dim)) != 0;
    // Temporal factors of the operand, and the product of those from each loop inwards.
    std::array<std::int64_t, kMostLoops> factor;
    std::array<std::int64_t, kMostLoops + 1> inwards;
    inwards[level.loops.size()] = 1;
    for (std::size_t i = level.loops.size(); i-- > 0;) {
      const std::size_t d = index(level.loops[i].dim);
      const bool counts = !level.loops[i].spatial && (mask >> d & 1) != 0;
      factor[i] = !counts ? 1 : courses[i]->init_edge ? level.edge[d] : level.full[d];
      inwards[i] = inwards[i + 1] * factor[i];
    }
    step.first_in[operand] = inwards[0] * (spread ? spatial.first_ingress() : 1);

    std::array<std::int64_t, 2> whole{1, 1}, fresh{1, 1};  // spatial sums, by whether the spatial loop is at its edge
    if (spread) {
      const bool reaches_edge = step.spatial_toggle != 0;
      whole = {spatial.ingress(0, false), reaches_edge ? spatial.ingress(1, false) : 0};
      fresh = {spatial.ingress(0, true), reaches_edge ? spatial.ingress(1, true) : 0};
    }

    bool restarts = false;  // some loop further in starts over with new data
    std::size_t a = step.active_count;
    for (std::size_t i = level.loops.size(); i-- > 0;) {
      const std::size_t d = index(level.loops[i].dim);
      const bool counts = (mask >> d & 1) != 0;
      if (a > 0 && step.active[a - 1] == i) {
        --a;
        auto& in = step.in[a];
        if (!counts && !(restarts && exact())) {
          in[0][operand] = in[1][operand] = 0;
        } else if (i == level.spatial) {
          const auto& sum = restarts ? whole : fresh;
          in[0][operand] = inwards[0] * sum[0];
          in[1][operand] = inwards[0] * sum[1];
        } else {
          std::int64_t product = inwards[0];
          if (!restarts) {
            step.starved[a] |= level.fresh[d] == 0;
            product = inwards[i + 1] * level.fresh[d];
            for (std::size_t j = 0; j < i; ++j) product *= factor[j];
          }
          const auto& sum = i < level.spatial ? fresh : whole;  // a spatial loop further in is at its first tile
          in[0][operand] = product * sum[0];
          in[1][operand] = product * sum[1];
        }
      }
      restarts |= counts && !courses[i]->unrolled;
    }
  }
  for (std::size_t a = 0; a < step.active_count; ++a) {
    for (const std::size_t at : {0u, 1u})
      step.in_delay[a][at] = rates.delay(step.in[a][at][kInput] + step.in[a][at][kWeight]);
  }
}

}  // namespace tilewright
