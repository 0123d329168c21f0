#include "tilewright/cost/stance_walk.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "tilewright/cost/loop_states.hpp"

namespace tilewright {
namespace {

using Position = LoopState::Position;
using Reason = Infeasible::Reason;

constexpr std::int64_t kMostStances =
    2'000'000;  // per level: a dozen loops in three states each; the real program takes hours

constexpr std::size_t kInput = 0, kWeight = 1, kOutput = 2;

// One combination of loop states of one level, and the volumes that follow from it (docs/cost_model.md).
struct Stance {
  const Plan& plan;
  const LevelPlan& level;
  std::array<LoopState, kMaxDirectives> state;
  int changed = -1;      // index of the innermost loop that is not at its first tile
  bool starved = false;  // a tile that brings nothing new was asked for

  const LoopState& at(std::size_t loop) const { return state[loop]; }
  bool on(std::size_t loop, std::size_t operand) const {
    return (plan.tensors.mask[operand] & bit(level.loops[loop].dim)) != 0;
  }

  bool restarts(std::size_t operand) const {
    for (std::size_t i = static_cast<std::size_t>(changed + 1); i < level.loops.size(); ++i) {
      if (on(i, operand) && at(i).position == Position::Init && !at(i).unrolled) return true;
    }
    return false;
  }

  std::int64_t mapped(std::size_t operand, bool first, bool ragged) const {
    std::int64_t volume = 1;
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      if (!on(i, operand)) continue;
      const std::size_t d = index(level.loops[i].dim);
      if (!level.loops[i].spatial) {
        volume *= at(i).is_edge() ? level.edge[d] : level.full[d];
      } else if (!at(i).is_edge()) {
        volume *= level.full[d];
      } else if (level.edge_units > 1) {
        volume *= ragged ? level.edge[d] : level.full[d];
      } else if (first || ragged) {
        volume *= level.edge[d];
      }
    }
    return volume;
  }

  // What one unit must be sent.
  std::int64_t ingress(std::size_t operand, bool first, bool ragged) {
    if (changed < 0) return mapped(operand, first, ragged);
    const bool restarted = restarts(operand);
    if (!on(static_cast<std::size_t>(changed), operand)) {
      // MAESTRO sends nothing, also where loops further in begin again with tiles that are long gone.
      if (!restarted || plan.model != Model::Exact) return 0;
    }
    std::int64_t volume = 1;
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      if (!on(i, operand)) continue;
      const std::size_t d = index(level.loops[i].dim);
      const LoopState& s = at(i);
      const bool moves = static_cast<int>(i) == changed && !restarted;
      if (!level.loops[i].spatial) {
        if (s.position == Position::Init) {
          volume *= s.is_edge() ? level.edge[d] : level.full[d];
        } else if (moves) {
          starved |= level.fresh[d] == 0;
          volume *= level.fresh[d];
        } else {
          volume *= level.full[d];
        }
        continue;
      }
      const std::int64_t whole = ragged ? level.edge[d] : level.full[d];
      const std::int64_t fresh = ragged ? level.fresh_edge[d] : level.fresh[d];
      if (first) {
        volume *= whole;
      } else if (s.position == Position::Init) {
        volume *= static_cast<int>(i) > changed ? fresh : whole;
      } else {
        volume *= moves ? fresh : whole;
      }
    }
    return volume;
  }

  struct SpatialView {
    bool any = false;
    bool edge = false;
    bool ragged = false;
  };

  // The spatial loops on a tensor's dimensions; its last spatial dimension says whether the last unit is ragged.
  SpatialView spatial_on(std::size_t operand) const {
    SpatialView view;
    for (const Dim dim : plan.tensors.dims[operand]) {
      for (std::size_t i = 0; i < level.loops.size(); ++i) {
        if (level.loops[i].dim != dim) continue;
        if (level.loops[i].spatial) {
          view.any = true;
          view.edge |= at(i).is_edge();
          view.ragged = at(i).ragged;
        }
        break;  // only the first loop on a dimension is asked
      }
    }
    return view;
  }

  // Sums `part(first, ragged)` over the units at work.
  template <typename Part>
  std::int64_t over_units(const SpatialView& view, const Part& part) const {
    if (!view.any) return part(true, false);
    if (!view.edge) return part(true, false) + (level.units - 1) * part(false, false);
    std::int64_t sum = part(true, level.edge_units == 1 && view.ragged);
    if (level.edge_units > 1) {
      const std::int64_t ragged_units = view.ragged ? 1 : 0;
      sum += std::max<std::int64_t>(level.edge_units - 1 - ragged_units, 0) * part(false, false);
      if (ragged_units > 0) sum += part(false, true);
    }
    return sum;
  }

  std::int64_t array_ingress(std::size_t operand) {
    return over_units(spatial_on(operand), [&](bool first, bool ragged) { return ingress(operand, first, ragged); });
  }

  static std::int64_t used(std::int64_t volume) { return volume != 0 ? volume : 1; }

  std::int64_t reduction_factor(std::size_t i, bool first, bool ragged) const {
    const std::size_t d = index(level.loops[i].dim);
    const LoopState& s = at(i);
    if (!level.loops[i].spatial) return s.is_edge() ? level.edge[d] : level.full[d];
    switch (s.position) {
      case Position::Init:
        if (s.is_edge() && ragged) return level.edge[d];
        break;
      case Position::Steady:
        break;
      case Position::Edge:
        if (level.edge_units == 1) return first || ragged ? level.edge[d] : 1;
        if (ragged) return level.fresh_edge[d];
        break;
    }
    return first ? level.full[d] : used(level.fresh[d]);
  }

  std::int64_t output_factor(std::size_t i, bool first, bool ragged, bool reuse) const {
    const std::size_t d = index(level.loops[i].dim);
    const std::size_t out = index(output_dim(level.loops[i].dim));
    const LoopState& s = at(i);
    if (!level.loops[i].spatial) return s.is_edge() ? level.edge[out] : level.full[out];
    switch (s.position) {
      case Position::Init:
        if (s.is_edge() && ragged) return level.edge_units > 1 && reuse ? level.fresh_edge[out] : level.edge[out];
        break;
      case Position::Steady:
        break;
      case Position::Edge:
        if (level.edge_units == 1 && plan.model == Model::Exact) return first || ragged ? level.edge[out] : 1;
        if (level.edge_units == 1) return first || ragged ? level.edge[d] : 1;  // the input size, as MAESTRO has it
        if (ragged) return level.fresh_edge[out];
        break;
    }
    return first ? level.full[out] : used(level.fresh[out]);
  }

  std::int64_t outputs(bool partial_sums, bool first, bool ragged, bool reuse) const {
    std::int64_t volume = 1;
    DimMask seen = 0;
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      const DimMask dim = bit(level.loops[i].dim);
      if (!on(i, kOutput)) {
        if (partial_sums) volume *= reduction_factor(i, first, ragged);
      } else if ((seen & dim) == 0) {
        volume *= output_factor(i, first, ragged, reuse);
      }
      seen |= dim;
    }
    return volume;
  }

  std::int64_t egress() const {
    return over_units(spatial_on(kOutput), [&](bool first, bool ragged) { return outputs(false, first, ragged, true); });
  }

  std::int64_t critical_path() const {
    const SpatialView view = spatial_on(kOutput);
    return outputs(true, true, view.edge && level.edge_units == 1 && view.ragged, true);
  }

  std::int64_t array_macs() const {
    SpatialView view;
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      if (!level.loops[i].spatial) continue;
      view.any = true;
      view.edge |= at(i).is_edge();
      view.ragged = at(i).ragged;
    }
    if (!view.edge) return level.units * outputs(true, true, false, true);
    std::int64_t sum = outputs(true, true, level.edge_units == 1 && view.ragged, true);
    if (level.edge_units > 1) {
      const std::int64_t ragged_units = view.ragged ? 1 : 0;
      sum += std::max<std::int64_t>(level.edge_units - 1 - ragged_units, 0) * outputs(true, true, false, true);
      if (ragged_units > 0) sum += outputs(true, false, true, false);
    }
    return sum;
  }

  // The sizes a unit below sees.
  DimSizes inner_sizes(bool ragged) const {
    DimSizes sizes{};
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      const std::size_t d = index(level.loops[i].dim);
      if (sizes[d] != 0) continue;
      const bool edge = at(i).is_edge() && (!level.loops[i].spatial || level.edge_units == 1 || ragged);
      sizes[d] = edge ? level.edge[d] : level.full[d];
    }
    return sizes;
  }
};

class StanceWalk {
 public:
  StanceWalk(const Plan& plan, const MachineRates& rates) : plan_(plan), rates_(rates) {}

  std::variant<Analysis, Infeasible> run() {
    Analysis top = analyse(0, plan_.sizes);
    if (failure_) return *failure_;
    return top;
  }

 private:
  // All stances of a level, by number.
  struct StanceList {
    std::array<LoopStates, kMaxDirectives> states;
    std::array<std::int64_t, kMaxDirectives> stride{};  // stances per state of the loop
    std::array<std::size_t, kMaxDirectives> speaker{};  // the last loop on the same dimension: its state is the dimension's
    std::int64_t count = 1;
  };

  StanceList list_stances(std::size_t number, const LevelPlan& level, const DimSizes& sizes) {
    StanceList list;
    const auto refuse = [&](std::int64_t stances) {
      fail({Reason::TooManyStances, static_cast<std::uint8_t>(number), Dim::K, stances, kMostStances});
      return list;
    };
    for (std::size_t i = level.loops.size(); i-- > 0;) {
      list.states[i] = states_of(level.loops[i], sizes[index(level.loops[i].dim)], level.units);
      list.stride[i] = list.count;
      list.count *= static_cast<std::int64_t>(list.states[i].size());
      if (list.count > kMostStances) return refuse(list.count);
    }
    walked_ += list.count;
    if (walked_ > kMostStances) return refuse(walked_);
    for (std::size_t i = 0; i < level.loops.size(); ++i) {
      for (std::size_t j = i; j < level.loops.size(); ++j) {
        if (level.loops[j].dim == level.loops[i].dim) list.speaker[i] = j;
      }
    }
    return list;
  }

  // Puts a stance of the list into `stance`; the value is how often it occurs, in 32 bits that wrap around.
  static std::int32_t choose(Stance& stance, const StanceList& list, std::int64_t number) {
    std::uint32_t occurrences = 1;
    std::array<LoopState, kMaxDirectives> own;
    for (std::size_t i = 0; i < stance.level.loops.size(); ++i) {
      const auto count = static_cast<std::int64_t>(list.states[i].size());
      const std::int64_t chosen = number == 0 ? 0 : ((number - 1) / list.stride[i] + 1) % count;
      own[i] = list.states[i][static_cast<std::size_t>(chosen)];
      occurrences *= static_cast<std::uint32_t>(own[i].count);
    }
    for (std::size_t i = 0; i < stance.level.loops.size(); ++i) {
      stance.state[i] = own[list.speaker[i]];
      if (stance.state[i].position != Position::Init) stance.changed = static_cast<int>(i);
    }
    return static_cast<std::int32_t>(occurrences);
  }

  // The busy units of a level that work on tiles of one size; at a ragged edge the last of them has less.
  struct Units {
    bool ragged = false;
    std::int64_t count = 0;
  };
  static std::array<Units, 2> units_of(const Stance& stance) {
    const LoopState& spatial = stance.at(stance.level.spatial);
    if (!spatial.is_edge()) return {Units{false, stance.level.units}, {}};
    if (!spatial.ragged) return {Units{false, stance.level.edge_units}, {}};
    return {Units{true, 1}, {false, stance.level.edge_units - 1}};
  }

  Analysis analyse(std::size_t number, const DimSizes& sizes) {
    LevelPlan level = plan_.levels[number];
    if (plan_.model == Model::Exact) set_tiles(level, sizes, plan_);
    const bool innermost = number + 1 == plan_.levels.size();
    const StanceList list = list_stances(number, level, sizes);
    if (failure_) return {};

    Analysis result;
    for (std::int64_t stance_number = 0; stance_number < list.count; ++stance_number) {
      Stance stance{plan_, level, {}, -1, false};
      const std::int32_t occurrences = choose(stance, list, stance_number);
      if (result.steps == 0) update_needs(result, stance, number, sizes);
      if (occurrences <= 0) return fail({Reason::CounterOverflow, static_cast<std::uint8_t>(number)});
      const std::int64_t n = occurrences;

      const std::int64_t out = stance.egress();
      const std::int64_t macs = stance.array_macs();
      result.traffic[kOutput].l2_write += n * out;
      result.traffic[kOutput].l1_write += n * macs;
      result.traffic[kOutput].l1_read += n * macs;
      const std::int64_t path = stance.critical_path();
      if (stance.starved) return fail({Reason::NothingNew, static_cast<std::uint8_t>(number), changed_dim(stance)});
      if (path <= 0 && plan_.model != Model::MaestroE1d8efd) continue;

      std::int64_t in = 0;
      for (const std::size_t operand : {kInput, kWeight}) {
        const std::int64_t volume = stance.array_ingress(operand);
        result.traffic[operand].l2_read += n * volume;
        result.traffic[operand].l1_write = result.traffic[operand].l2_read;
        result.traffic[operand].l1_read += n * macs;
        in += volume;
      }
      if (stance.starved) return fail({Reason::NothingNew, static_cast<std::uint8_t>(number), changed_dim(stance)});
      result.arithmetic_intensity = static_cast<double>(macs) / static_cast<double>(in);

      std::int64_t compute = 0;
      long double active = 0;
      if (innermost) {
        compute = compute_cycles(path, rates_.simd_lanes);
        result.leaf_macs += n * macs;
      } else {
        for (const Units& units : units_of(stance)) {
          if (units.count == 0) continue;
          const Analysis& inner = inner_analysis(number + 1, stance.inner_sizes(units.ragged));
          if (!result.descended) result.first_lower_need = inner.first_lower_need;
          result.descended = true;
          compute = std::max(compute, inner.runtime);
          active += static_cast<long double>(inner.utilisation * static_cast<double>(units.count));
          result.leaf_macs += n * units.count * inner.leaf_macs;
        }
        if (failure_) return {};
      }

      if (rates_.noc_bandwidth <= 0 || (number == 0 && rates_.offchip_bandwidth <= 0)) return fail({Reason::NoBandwidth});
      const std::int64_t ingress_delay = rates_.delay(in);
      const std::int64_t egress_delay = rates_.delay(out);
      std::int64_t delay = stance.changed < 0 ? compute + ingress_delay : std::max({egress_delay, compute, ingress_delay});
      if (number == 0) {
        if (compute == 0) return fail({Reason::NoComputation, 0});
        delay = std::max(delay, wait_for_memory(result, compute));
      }
      result.runtime += n * delay;
      result.macs += n * macs;
      if (active == 0) {
        active = static_cast<long double>(stance.at(level.spatial).is_edge() ? level.edge_units : level.units);
      }
      result.utilisation =
          static_cast<double>(static_cast<long double>(result.utilisation) + active * static_cast<long double>(n));

      result.ingress.add(ingress_delay, n);
      result.egress.add(egress_delay, n);
      add_compute(result, n, compute == 0 ? 1 : compute, std::max(in, out));
      result.steps += n;
    }
    if (result.steps != 0) result.utilisation /= static_cast<double>(result.steps);
    if (!result.descended) result.first_lower_need = result.lower_need;
    return result;
  }

  // Cycles of a step that memory outside needs; takes down the bandwidth that would not keep the array waiting.
  std::int64_t wait_for_memory(Analysis& result, std::int64_t compute) const {
    const std::int64_t out_need = result.upper_need[kOutput];
    const std::int64_t in_need = result.upper_need[kInput] + result.upper_need[kWeight];
    const std::int64_t wanted = std::max(out_need / compute, in_need / compute);
    result.offchip_bandwidth = !is_maestro(plan_.model) ? std::max(result.offchip_bandwidth, wanted / 2)
                                                        : std::max(result.offchip_bandwidth, wanted) / 2;
    return std::max(out_need / rates_.offchip_bandwidth / 2, in_need / rates_.offchip_bandwidth / 2);
  }

  static void add_compute(Analysis& result, std::int64_t occurrences, std::int64_t compute, std::int64_t moved) {
    result.peak_bandwidth = std::max(result.peak_bandwidth, moved / compute);
    result.bandwidth_sum += static_cast<long double>(occurrences * moved / compute);
    result.compute.add(compute, occurrences);
  }

  static Dim changed_dim(const Stance& stance) {
    return stance.changed < 0 ? Dim::K : stance.level.loops[static_cast<std::size_t>(stance.changed)].dim;
  }

  void update_needs(Analysis& result, Stance& stance, std::size_t number, const DimSizes& sizes) const {
    const DimSizes& largest = plan_.levels[number].full;
    for (const std::size_t operand : {kInput, kWeight, kOutput}) {
      std::int64_t whole = 1, tile = 1;
      for (const Dim dim : plan_.tensors.dims[operand]) {
        std::int64_t size = sizes[index(dim)];
        if (operand == kOutput && dim == Dim::X)
          size = outputs_in(size, sizes[index(Dim::S)], plan_.stride[index(dim)], plan_.model);
        if (operand == kOutput && dim == Dim::Y)
          size = outputs_in(size, sizes[index(Dim::R)], plan_.stride[index(dim)], plan_.model);
        whole *= size;
        const std::size_t d = index(operand == kOutput && plan_.model == Model::Exact ? output_dim(dim) : dim);
        if (largest[d] != 0) tile *= largest[d];
      }
      if (operand == kOutput) {
        result.upper_need[operand] = 2 * stance.egress();
        result.lower_need[operand] = 2 * tile;
        result.traffic[operand].l2_read = whole;
      } else {
        result.upper_need[operand] += 2 * stance.array_ingress(operand);
        result.lower_need[operand] += 2 * tile;
        result.traffic[operand].l2_write = whole;
      }
    }
  }

  // A level below depends only on the sizes it is given, so each table is analysed once.
  const Analysis& inner_analysis(std::size_t number, const DimSizes& sizes) {
    auto& known = known_[number];
    const auto found = known.find(sizes);
    if (found != known.end()) return found->second;
    return known.emplace(sizes, analyse(number, sizes)).first->second;
  }

  Analysis fail(const Infeasible& failure) {
    if (!failure_) failure_ = failure;
    return {};
  }

  const Plan& plan_;
  const MachineRates& rates_;
  std::optional<Infeasible> failure_;
  std::int64_t walked_ = 0;
  std::array<std::map<DimSizes, Analysis>, kMaxLevels> known_;
};

}  // namespace

std::variant<Analysis, Infeasible> walk_stances(const Plan& plan, const MachineRates& rates) {
  return StanceWalk(plan, rates).run();
}

}  // namespace tilewright
