#include "tilewright/cost/evaluator.hpp"

#include <algorithm>
#include <limits>

#include "tilewright/cost/area.hpp"
#include "tilewright/cost/audit.hpp"
#include "tilewright/cost/energy.hpp"
#include "tilewright/cost/plan.hpp"
#include "tilewright/cost/stance_groups.hpp"
#include "tilewright/cost/stance_walk.hpp"

namespace tilewright {
namespace {

using Columns = EvaluateOptions::Columns;

constexpr std::int64_t kMostMacs = std::int64_t{1} << 56;  // beyond this, counts of accesses and cycles could wrap

std::int64_t sum_in_32_bits(const PerOperand<std::int64_t>& parts) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(parts[0] + parts[1] + parts[2]));
}

std::int64_t sum(const PerOperand<std::int64_t>& parts) { return parts[0] + parts[1] + parts[2]; }

// With no step counted, the real program converts infinities and NaN to integers, which x86 makes the most negative one.
Delay to_delay(const DelayStatistics& statistics, std::int64_t steps) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  if (steps == 0) return {kNone, 0, kNone};
  return {statistics.least, statistics.most, statistics.sum / steps};
}

CostDetail to_detail(const Analysis& analysis, const Cost& cost, Model model) {
  CostDetail detail;
  detail.ingress = to_delay(analysis.ingress, analysis.steps);
  detail.egress = to_delay(analysis.egress, analysis.steps);
  detail.compute = to_delay(analysis.compute, analysis.steps);
  detail.mean_bandwidth = static_cast<double>(analysis.bandwidth_sum / static_cast<long double>(analysis.steps));
  detail.utilised_pes = analysis.utilisation;
  detail.arithmetic_intensity = analysis.arithmetic_intensity;
  if (!is_maestro(model)) {
    const std::int64_t moved = cost.traffic[0].l2_read + cost.traffic[1].l2_read + cost.traffic[2].l2_write;
    detail.arithmetic_intensity = static_cast<double>(cost.macs.value) / static_cast<double>(moved);
  }
  return detail;
}

}  // namespace

struct Evaluator::Workspace {
  Nest nest;
  Accelerator accelerator;
  EvaluateOptions options;
  MachineRates rates;
  Macs true_macs;
  Plan plan;
  StanceGroups groups;

  Evaluation evaluate(const Mapping& mapping, const Cost* previous);
  Cost to_cost(const Analysis& analysis, const Cost* previous) const;
};

Evaluator::Evaluator(const Nest& nest, const Accelerator& accelerator, const EvaluateOptions& options)
    : workspace_(std::make_unique<Workspace>()) {
  reset(nest, accelerator, options);
}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

void Evaluator::reset(const Nest& nest, const Accelerator& accelerator, const EvaluateOptions& options) {
  workspace_->nest = nest;
  workspace_->accelerator = accelerator;
  workspace_->options = options;
  workspace_->rates = {accelerator.noc.bandwidth, accelerator.noc.latency(), accelerator.offchip_bandwidth,
                       accelerator.simd_lanes};
  workspace_->true_macs = macs(nest);
}

Evaluation Evaluator::evaluate(const Mapping& mapping, const Cost* previous) {
  return workspace_->evaluate(mapping, previous);
}

Evaluation Evaluator::Workspace::evaluate(const Mapping& mapping, const Cost* previous) {
  if (mapping.levels.empty()) return Infeasible{Infeasible::Reason::NoSpatialMap};
  if (!is_maestro(options.model) && (true_macs.value < 1 || true_macs.value > kMostMacs)) {
    return Infeasible{Infeasible::Reason::ImpossibleLayer, 0, Dim::K, true_macs.value, kMostMacs};
  }
  if (const auto failure = make_plan(plan, nest, mapping, accelerator.pes, options.model)) return *failure;

  auto outcome = groups.analyse(plan, rates, options.columns == Columns::All);
  if (std::holds_alternative<NotGrouped>(outcome)) {
    auto walked = walk_stances(plan, rates);
    if (const auto* failure = std::get_if<Infeasible>(&walked)) return *failure;
    outcome = std::get<Analysis>(walked);
  }
  if (const auto* failure = std::get_if<Infeasible>(&outcome)) return *failure;

  Cost cost = to_cost(std::get<Analysis>(outcome), previous);
  if (is_maestro(options.model)) return cost;
  if (const auto failure = audit(cost, true_macs, accelerator)) return *failure;
  cost.idle_macs = cost.leaf_macs - true_macs;
  cost.leaf_macs = true_macs;
  for (const Limit& limit : limits(cost, accelerator)) {
    if (!limit.broken()) continue;
    if (options.constraints == Constraints::Hard) return Infeasible{limit.reason, 0, Dim::K, limit.need, limit.limit};
    cost.violation += static_cast<double>(limit.need) / static_cast<double>(std::max<std::int64_t>(1, limit.limit)) - 1;
  }
  return cost;
}

Cost Evaluator::Workspace::to_cost(const Analysis& analysis, const Cost* previous) const {
  const bool compatible = is_maestro(options.model);
  Cost cost;
  cost.runtime = {analysis.runtime};
  cost.macs = {analysis.macs};
  cost.leaf_macs = {analysis.leaf_macs};
  cost.traffic = analysis.traffic;
  cost.l1_need = analysis.first_lower_need;
  cost.l2_need = analysis.upper_need;
  cost.l1 = {compatible ? sum_in_32_bits(cost.l1_need) : sum(cost.l1_need)};
  cost.l2 = {compatible ? sum_in_32_bits(cost.l2_need) : sum(cost.l2_need)};
  cost.peak_bandwidth = analysis.peak_bandwidth;
  cost.offchip_bandwidth = analysis.offchip_bandwidth;
  cost.flat = !analysis.descended;
  if (compatible) {
    cost.energy = maestro_energy(cost, previous);
    set_maestro_area_and_power(cost, accelerator);
  } else {
    cost.energy_parts = sound_energy(cost, accelerator.energy);
    cost.energy = {(cost.energy_parts.mac + cost.energy_parts.l1 + cost.energy_parts.l2).value / 1000};
    set_area_and_power(cost, accelerator);
  }
  if (options.columns == Columns::All) cost.detail = to_detail(analysis, cost, options.model);
  return cost;
}

Evaluation evaluate(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator, Model model,
                    Constraints constraints) {
  return Evaluator(nest, accelerator, {model, constraints, Columns::All}).evaluate(mapping);
}

}  // namespace tilewright
