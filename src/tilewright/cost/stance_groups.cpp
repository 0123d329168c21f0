#include "tilewright/cost/stance_groups.hpp"

#include <algorithm>
#include <bit>

#include "tilewright/cost/stance_groups_state.hpp"

namespace tilewright {

using namespace stance_groups;
using Reason = Infeasible::Reason;

StanceGroups::StanceGroups() : workspace_(std::make_unique<Workspace>()) {}
StanceGroups::~StanceGroups() = default;

std::variant<Analysis, Infeasible, NotGrouped> StanceGroups::analyse(const Plan& plan, const MachineRates& rates,
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

// The key of the level below when the loops of `mask` are at their edges, the spatial loop left out.
std::uint32_t StanceGroups::Workspace::inner_key(const Step& step, std::uint32_t mask) const {
  std::uint32_t key = step.first_key;
  for (; mask != 0; mask &= mask - 1) key ^= step.toggle_child[static_cast<std::size_t>(std::countr_zero(mask))];
  return key;
}

// Cycles of the units below for one mask, how many are busy, and the MACs that reach the processing elements in one step.
void StanceGroups::Workspace::compute_inner(std::size_t number, std::uint32_t mask, std::int64_t& leaf) {
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

const stance_groups::Inner& StanceGroups::Workspace::inner(std::size_t number, std::uint32_t key) {
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

namespace {

// What the processing elements read and write follows from what reaches them and what they compute.
void settle_l1(Analysis& result) {
  result.traffic[kOutput].l1_read = result.traffic[kOutput].l1_write;
  for (const std::size_t operand : {kInput, kWeight}) {
    result.traffic[operand].l1_write = result.traffic[operand].l2_read;
    result.traffic[operand].l1_read = result.macs;
  }
}

}  // namespace

Analysis StanceGroups::Workspace::top() {
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
  settle_l1(result);
  if (detailed) {
    order_pass(0, result);
    result.utilisation /= static_cast<double>(result.steps);
  }
  return result;
}

void StanceGroups::Workspace::top_needs(Analysis& result) {
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
  // The analysis that ends first is the innermost one under the first stance of every level.
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

// Visits the counted stances of a level in MAESTRO's order for what depends on it: roundings of the mean bandwidth and of
// the utilisation, the off-chip bandwidth that is halved at every stance, and the intensity of the last one.
void StanceGroups::Workspace::order_pass(std::size_t number, Analysis& result) {
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

  // A stance number counts like a clock whose digits are the active loops, each starting at its second state.
  std::array<std::size_t, kMostLoops> digit{};
  std::array<std::size_t, kMostLoops> state_count{};
  std::int64_t stances = 1;
  for (std::size_t a = 0; a < step.active_count; ++a) {
    state_count[a] = 1 + (step.steady[a] > 0 ? 1 : 0) + (step.toggle[a] != 0 ? 1 : 0);
    stances *= static_cast<std::int64_t>(state_count[a]);
  }
  for (std::int64_t stance_number = 1; stance_number < stances; ++stance_number) {
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
