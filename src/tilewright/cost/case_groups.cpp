#include "tilewright/cost/case_groups.hpp"

#include <algorithm>
#include <bit>

#include "tilewright/cost/loop_states.hpp"
#include "tilewright/cost/tile_factors.hpp"

namespace tilewright {
namespace {

using Reason = Infeasible::Reason;

constexpr std::size_t kMostLoops = 12;
constexpr std::size_t kMostBits = 8;  // loops of a level that can be at an edge or not
constexpr std::size_t kMasks = std::size_t{1} << kMostBits;
constexpr std::size_t kMostKeyBits = 10;  // to tell the sizes apart that the loops of a level can meet
constexpr std::size_t kKeys = std::size_t{1} << kMostKeyBits;
constexpr std::size_t kInput = 0, kWeight = 1, kOutput = 2;

// A loop at work on one of the sizes that the level above can give it.
struct LoopVariant {
  std::int64_t size = 0;
  LoopCourse course;
  LoopTiles tiles;                               // of the exact model only, like
  std::int64_t edge_units = 1;                   // E, should the loop be the spatial one
  std::uint32_t full_child = 0, edge_child = 0;  // what its full and edge tiles set in the key of the level below
};
constexpr std::size_t kMostVariants = 4;

struct LevelLoop {
  std::array<LoopVariant, kMostVariants> variants;
  std::size_t variant_count = 0;
  unsigned shift = 0;  // where a key says which variant it is
  std::uint32_t digits = 0;

  const LoopVariant& of(std::uint32_t key) const { return variants[key >> shift & digits]; }
};

struct LevelTable {
  std::size_t loop_count = 0;
  std::array<LevelLoop, kMostLoops> loops;
};

// Result of a level below the top for one key.
struct Inner {
  std::uint64_t stamp = 0;
  std::int64_t runtime = 0;
  std::int64_t leaf_macs = 0;
  double utilisation = 0;
  bool starts = false;          // its first case is counted
  std::uint32_t first_key = 0;  // the key its first case gives the level below it
};

}  // namespace

struct CaseGroups::Workspace {
  const Plan* plan = nullptr;
  MachineRates rates;
  bool detailed = false;
  bool skips = true;  // cases without a result are not counted (all models but the oldest)
  std::uint64_t stamp = 0;
  bool not_grouped = false;
  std::optional<Infeasible> failure;
  std::array<LevelTable, kMaxLevels> tables;
  std::array<LevelPlan, kMaxLevels> actual;  // exact: a level with the tiles of the sizes it works on at the moment
  std::array<std::array<Inner, kKeys>, kMaxLevels> known;

  // One level at work: everything a group needs, by active loop and mask.
  struct Step {
    std::size_t active_count = 0;
    std::array<std::size_t, kMostLoops> active;         // loop indices
    std::array<std::int64_t, kMostLoops> steady;        // by active
    std::array<std::uint32_t, kMostLoops> toggle;       // by active: its bit in a mask, 0 if it has no edge
    std::array<std::uint32_t, kMostBits> toggle_child;  // by bit: what it changes in the key of the level below
    std::size_t toggle_count = 0;
    std::uint32_t spatial_toggle = 0;
    std::uint32_t first_key = 0;      // of the level below, all loops at their first tiles, the spatial loop's a full one
    std::uint32_t spatial_child = 0;  // what an edge tile of the spatial loop changes in a key
    std::array<bool, 2> spatial_edge{}, spatial_ragged{};
    std::array<std::int64_t, 2> first_in{};                                   // by operand, in the very first case
    std::array<std::array<std::array<std::int64_t, 2>, 2>, kMostLoops> in{};  // [active][at edge of spatial][operand]
    std::array<std::array<std::int64_t, 2>, kMostLoops> in_delay{};
    std::array<bool, kMostLoops> starved{};
    std::array<std::int64_t, kMasks> egress, path, macs;
    std::array<std::int64_t, kMasks> compute;
    std::array<long double, kMasks> units_busy;

    std::size_t at(std::uint32_t mask) const { return (mask & spatial_toggle) != 0 ? 1 : 0; }
  };
  std::array<Step, kMaxLevels> steps;

  const LevelPlan& level_at(std::size_t number) const {
    return exact() && number > 0 ? actual[number] : plan->levels[number];
  }
  bool exact() const { return plan->model == Model::Exact; }
  void prepare_tables();
  void add_variant(std::size_t number, std::size_t loop, std::int64_t size, std::uint32_t& position);
  void set_actual_tiles(std::size_t number, std::uint32_t key);
  void prepare_step(std::size_t number, std::uint32_t key);
  void prepare_ingress(std::size_t number, const std::array<const LoopCourse*, kMostLoops>& courses, const Spatial& spatial);
  std::uint32_t inner_key(const Step& step, std::uint32_t mask) const;
  void compute_inner(std::size_t number, std::uint32_t mask, std::int64_t& leaf);
  const Inner& inner(std::size_t number, std::uint32_t key);
  Analysis top();
  void top_needs(Analysis& result);
  void order_pass(std::size_t number, Analysis& result);
  bool stopped() const { return not_grouped || failure.has_value(); }
  bool counted(std::int64_t path) const { return path > 0 || !skips; }
};

CaseGroups::CaseGroups() : workspace_(std::make_unique<Workspace>()) {}
CaseGroups::~CaseGroups() = default;

std::variant<Analysis, Infeasible, NotGrouped> CaseGroups::analyse(const Plan& plan, const MachineRates& rates,
                                                                   bool all_columns) {
  for (const LevelPlan& level : plan.levels) {
    if (level.repeats_dim || level.spatial_count != 1 || level.loops.size() > kMostLoops) return NotGrouped{};
  }
  if (rates.noc_bandwidth <= 0 || rates.offchip_bandwidth <= 0) return NotGrouped{};
  Workspace& w = *workspace_;
  w.plan = &plan;
  w.rates = rates;
  w.detailed = all_columns;
  w.skips = plan.model != Model::MaestroE1d8efd;
  w.not_grouped = false;
  w.failure.reset();
  ++w.stamp;
  if (w.exact()) std::copy(plan.levels.begin(), plan.levels.end(), w.actual.begin());
  w.prepare_tables();
  if (w.not_grouped) return NotGrouped{};
  const Analysis result = w.top();
  if (w.not_grouped) return NotGrouped{};
  if (w.failure) return *w.failure;
  return result;
}

// The place of `size` among the sizes that a loop of a level can meet.
void CaseGroups::Workspace::add_variant(std::size_t number, std::size_t i, std::int64_t size, std::uint32_t& position) {
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
void CaseGroups::Workspace::prepare_tables() {
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
void CaseGroups::Workspace::set_actual_tiles(std::size_t number, std::uint32_t key) {
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

void CaseGroups::Workspace::prepare_step(std::size_t number, std::uint32_t key) {
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
    if (repeats > kUnlimited) {  // some case may count past 31 bits: only the walk knows which
      not_grouped = true;
      return;
    }
  }
  const Loop& loop = level.loops[level.spatial];
  const LoopCourse& course = *courses[level.spatial];
  prepare_ingress(number, courses, {level, exact(), loop.dim, course.init_edge, {course.init_edge, course.edge_ragged}});
}

// What must be sent when active loop a is the innermost that moved.
void CaseGroups::Workspace::prepare_ingress(std::size_t number, const std::array<const LoopCourse*, kMostLoops>& courses,
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

// The key of the level below when the loops of `mask` are at their edges, the spatial loop left out.
std::uint32_t CaseGroups::Workspace::inner_key(const Step& step, std::uint32_t mask) const {
  std::uint32_t key = step.first_key;
  for (; mask != 0; mask &= mask - 1) key ^= step.toggle_child[static_cast<std::size_t>(std::countr_zero(mask))];
  return key;
}

// Cycles of the units below for one mask, how many are busy, and the MACs that reach the processing elements in one step.
void CaseGroups::Workspace::compute_inner(std::size_t number, std::uint32_t mask, std::int64_t& leaf) {
  const LevelPlan& level = level_at(number);
  Step& step = steps[number];
  const std::size_t at = step.at(mask);
  const bool edge = step.spatial_edge[at];
  leaf = step.macs[mask];
  step.units_busy[mask] = static_cast<long double>(edge ? level.edge_units : level.units);
  if (number + 1 == plan->levels.size()) {
    step.compute[mask] = compute_cycles(step.path[mask], rates.simd_lanes);
    return;
  }
  const std::uint32_t key = inner_key(step, mask);
  const std::uint32_t spatial_key = key ^ step.spatial_child;
  leaf = 0;
  std::int64_t compute = 0;
  long double busy = 0;
  const auto descend = [&](std::uint32_t inner_level_key, std::int64_t weight) {
    const Inner& below = inner(number + 1, inner_level_key);
    compute = std::max(compute, below.runtime);
    leaf += weight * below.leaf_macs;
    busy += static_cast<long double>(below.utilisation * static_cast<double>(weight));
  };
  if (!edge) {
    descend(key, level.units);
  } else if (!step.spatial_ragged[at]) {
    descend(level.edge_units == 1 ? spatial_key : key, level.edge_units);
  } else {
    descend(spatial_key, 1);
    if (level.edge_units > 1) descend(key, level.edge_units - 1);
  }
  step.compute[mask] = compute;
  if (busy != 0) step.units_busy[mask] = busy;
}

const Inner& CaseGroups::Workspace::inner(std::size_t number, std::uint32_t key) {
  Inner& result = known[number][key];
  if (result.stamp == stamp || stopped()) return result;
  prepare_step(number, key);
  Step& step = steps[number];
  result = {stamp, 0, 0, 0, false, 0};
  if (stopped()) return result;
  result.starts = counted(step.path[0]);

  std::int64_t steps_counted = 0;
  long double busy_sum = 0;
  const std::uint32_t masks = 1u << step.toggle_count;
  for (std::uint32_t mask = 0; mask < masks; ++mask) {
    if (!counted(step.path[mask])) continue;
    std::int64_t leaf = 0;
    compute_inner(number, mask, leaf);
    if (stopped()) return result;
    const std::size_t at = step.at(mask);
    const std::int64_t floor = std::max(rates.delay(step.egress[mask]), step.compute[mask]);
    std::int64_t before = 1;
    std::uint32_t left = mask;  // loops of the mask not passed yet
    for (std::size_t a = 0; a < step.active_count; ++a) {
      const std::uint32_t toggle = step.toggle[a] & mask;
      left &= ~toggle;
      // This loop is the innermost that moved if all of the mask is passed, in its edge or in each of its steady steps.
      const std::int64_t moves = left != 0 ? 0 : toggle != 0 ? 1 : step.steady[a];
      if (moves > 0) {
        if (step.starved[a]) {
          failure = Infeasible{Reason::NothingNew, static_cast<std::uint8_t>(number),
                               plan->levels[number].loops[step.active[a]].dim};
          return result;
        }
        result.runtime += before * moves * std::max(floor, step.in_delay[a][at]);
      }
      if (toggle == 0) before *= 1 + step.steady[a];
    }
    if (mask == 0) result.runtime += step.compute[0] + rates.delay(step.first_in[kInput] + step.first_in[kWeight]);
    result.leaf_macs += before * leaf;
    steps_counted += before;
    busy_sum += static_cast<long double>(before) * step.units_busy[mask];
  }
  if (number + 1 < plan->levels.size()) {
    const bool torn = step.spatial_edge[0] && (step.spatial_ragged[0] || level_at(number).edge_units == 1);
    result.first_key = step.first_key ^ (torn ? step.spatial_child : 0);
  }
  if (!detailed || steps_counted == 0) return result;
  if (number + 1 == plan->levels.size()) {
    result.utilisation = static_cast<double>(busy_sum) / static_cast<double>(steps_counted);
  } else {
    Analysis ordered;
    order_pass(number, ordered);
    result.utilisation = ordered.utilisation / static_cast<double>(steps_counted);
  }
  return result;
}

Analysis CaseGroups::Workspace::top() {
  Analysis result;
  prepare_step(0, 0);
  if (stopped()) return result;
  Step& step = steps[0];
  if (!counted(step.path[0])) {
    not_grouped = true;
    return result;
  }
  top_needs(result);
  const std::int64_t out_need = result.upper_need[kOutput];
  const std::int64_t in_need = result.upper_need[kInput] + result.upper_need[kWeight];
  const std::int64_t offchip = std::max(out_need / rates.offchip_bandwidth / 2, in_need / rates.offchip_bandwidth / 2);

  const std::uint32_t masks = 1u << step.toggle_count;
  for (std::uint32_t mask = 0; mask < masks; ++mask) {
    const std::size_t at = step.at(mask);
    const bool counts = counted(step.path[mask]);
    const std::int64_t out_delay = rates.delay(step.egress[mask]);
    std::int64_t leaf = 0, floor = 0, compute = 1;
    if (counts) {
      compute_inner(0, mask, leaf);
      if (stopped()) return result;
      if (step.compute[mask] == 0) {
        failure = Infeasible{Reason::NoComputation};
        return result;
      }
      compute = step.compute[mask];
      floor = std::max({out_delay, compute, offchip});
    }
    const auto add = [&](std::int64_t occurrences, const std::array<std::int64_t, 2>& in, std::int64_t in_delay,
                         std::int64_t delay) {
      result.runtime += occurrences * delay;
      result.traffic[kInput].l2_read += occurrences * in[kInput];
      result.traffic[kWeight].l2_read += occurrences * in[kWeight];
      result.peak_bandwidth =
          std::max(result.peak_bandwidth, std::max(in[kInput] + in[kWeight], step.egress[mask]) / compute);
      if (!detailed) return;
      result.ingress.add(in_delay, occurrences);
      result.egress.add(out_delay, occurrences);
      result.compute.add(compute, occurrences);
    };
    std::int64_t before = 1;
    std::uint32_t left = mask;
    for (std::size_t a = 0; a < step.active_count; ++a) {
      const std::uint32_t toggle = step.toggle[a] & mask;
      left &= ~toggle;
      const std::int64_t moves = left != 0 ? 0 : toggle != 0 ? 1 : step.steady[a];
      if (moves > 0 && counts) {
        if (step.starved[a]) {
          failure = Infeasible{Reason::NothingNew, 0, plan->levels[0].loops[step.active[a]].dim};
          return result;
        }
        add(before * moves, step.in[a][at], step.in_delay[a][at], std::max(floor, step.in_delay[a][at]));
      }
      if (toggle == 0) before *= 1 + step.steady[a];
    }
    result.traffic[kOutput].l2_write += before * step.egress[mask];
    result.traffic[kOutput].l1_write += before * step.macs[mask];
    if (!counts) continue;
    if (mask == 0) {
      const std::int64_t in_delay = rates.delay(step.first_in[kInput] + step.first_in[kWeight]);
      add(1, step.first_in, in_delay, std::max(compute + in_delay, offchip));
    }
    result.macs += before * step.macs[mask];
    result.leaf_macs += before * leaf;
    result.steps += before;
    if (!is_maestro(plan->model)) {
      result.offchip_bandwidth = std::max(result.offchip_bandwidth, std::max(out_need, in_need) / compute / 2);
    }
  }
  result.traffic[kOutput].l1_read = result.traffic[kOutput].l1_write;
  for (const std::size_t operand : {kInput, kWeight}) {
    result.traffic[operand].l1_write = result.traffic[operand].l2_read;
    result.traffic[operand].l1_read = result.macs;
  }
  if (detailed) {
    order_pass(0, result);
    result.utilisation /= static_cast<double>(result.steps);
  }
  return result;
}

void CaseGroups::Workspace::top_needs(Analysis& result) {
  const Step& step = steps[0];
  const auto tile_need = [&](const LevelPlan& level, std::size_t operand) {
    std::int64_t tile = 2;
    const bool outputs = operand == kOutput && exact();
    for (const Dim dim : plan->tensors.dims[operand]) tile *= level.full[index(outputs ? output_dim(dim) : dim)];
    return tile;
  };
  for (const std::size_t operand : {kInput, kWeight, kOutput}) {
    std::int64_t whole = 1;
    for (const Dim dim : plan->tensors.dims[operand]) {
      std::int64_t size = plan->sizes[index(dim)];
      if (operand == kOutput && (dim == Dim::X || dim == Dim::Y)) {
        const Dim taps = dim == Dim::X ? Dim::S : Dim::R;
        size = outputs_in(size, plan->sizes[index(taps)], plan->stride[index(dim)], plan->model);
      }
      whole *= size;
    }
    (operand == kOutput ? result.traffic[operand].l2_read : result.traffic[operand].l2_write) = whole;
    result.upper_need[operand] = 2 * (operand == kOutput ? step.egress[0] : step.first_in[operand]);
    result.lower_need[operand] = tile_need(plan->levels[0], operand);
  }
  result.descended = plan->levels.size() > 1;
  // The analysis that ends first is the innermost one under the first case of every level.
  std::uint32_t key = 0;
  if (result.descended) {
    const bool torn = step.spatial_edge[0] && (step.spatial_ragged[0] || plan->levels[0].edge_units == 1);
    key = step.first_key ^ (torn ? step.spatial_child : 0);
  }
  for (std::size_t number = 1; number < plan->levels.size(); ++number) {
    const Inner& below = inner(number, key);
    if (stopped()) return;
    if (!below.starts) {
      not_grouped = true;
      return;
    }
    key = below.first_key;
  }
  for (const std::size_t operand : {kInput, kWeight, kOutput}) {
    result.first_lower_need[operand] = tile_need(plan->levels.back(), operand);
  }
}

// Visits the counted cases of a level in MAESTRO's order for what depends on it: roundings of the mean bandwidth and of the
// utilisation, the off-chip bandwidth that is halved at every case, and the intensity of the last one.
void CaseGroups::Workspace::order_pass(std::size_t number, Analysis& result) {
  const Step& step = steps[number];
  const std::int64_t out_need = result.upper_need[kOutput];
  const std::int64_t in_need = result.upper_need[kInput] + result.upper_need[kWeight];
  const auto visit = [&](std::uint32_t mask, std::int64_t occurrences, std::int64_t in) {
    const long double busy = step.units_busy[mask] * static_cast<long double>(occurrences);
    result.utilisation = static_cast<double>(static_cast<long double>(result.utilisation) + busy);
    if (number > 0) return;
    const std::int64_t compute = step.compute[mask];
    result.bandwidth_sum += static_cast<long double>(occurrences * std::max(in, step.egress[mask]) / compute);
    result.arithmetic_intensity = static_cast<double>(step.macs[mask]) / static_cast<double>(in);
    if (is_maestro(plan->model)) {
      result.offchip_bandwidth = std::max({result.offchip_bandwidth, out_need / compute, in_need / compute}) / 2;
    }
  };
  if (counted(step.path[0])) visit(0, 1, step.first_in[kInput] + step.first_in[kWeight]);

  // A case number counts like a clock whose digits are the active loops, each starting at its second state.
  std::array<std::size_t, kMostLoops> digit{};
  std::array<std::size_t, kMostLoops> state_count{};
  std::int64_t cases = 1;
  for (std::size_t a = 0; a < step.active_count; ++a) {
    state_count[a] = 1 + (step.steady[a] > 0 ? 1 : 0) + (step.toggle[a] != 0 ? 1 : 0);
    cases *= static_cast<std::int64_t>(state_count[a]);
  }
  for (std::int64_t number_of_case = 1; number_of_case < cases; ++number_of_case) {
    std::uint32_t mask = 0;
    std::int64_t occurrences = 1;
    std::size_t moved = 0;
    for (std::size_t a = 0; a < step.active_count; ++a) {
      const std::size_t state = digit[a] + 1 == state_count[a] ? 0 : digit[a] + 1;
      if (state == 0) continue;
      moved = a;
      if (step.toggle[a] != 0 && state + 1 == state_count[a]) {
        mask |= step.toggle[a];
      } else {
        occurrences *= step.steady[a];
      }
    }
    if (counted(step.path[mask])) {
      const auto& in = step.in[moved][step.at(mask)];
      visit(mask, occurrences, in[kInput] + in[kWeight]);
    }
    for (std::size_t a = step.active_count; a-- > 0;) {
      if (++digit[a] < state_count[a]) break;
      digit[a] = 0;
    }
  }
}

}  // namespace tilewright
