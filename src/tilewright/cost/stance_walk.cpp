#include "tilewright/cost/stance_walk.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "tilewright/cost/stance.hpp"

namespace tilewright {
namespace {

using Position = LoopState::Position;
using Reason = Infeasible::Reason;

constexpr std::int64_t kMostStances =
    2'000'000;  // per level: a dozen loops in three states each; the real program takes hours

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
