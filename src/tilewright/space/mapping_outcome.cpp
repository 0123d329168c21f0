#include "tilewright/space/mapping_outcome.hpp"

namespace tilewright {
namespace {

using Reason = Infeasible::Reason;

Outcome rejected(Reason reason) { return {false, static_cast<std::uint8_t>(reason), {}}; }

}  // namespace

Outcome outcome_of(const Evaluation& evaluation, Macs true_macs, const Accelerator& accelerator, bool gamma_rules) {
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) return rejected(infeasible->reason);
  const Cost& cost = std::get<Cost>(evaluation);
  if (gamma_rules) {
    if (cost.runtime.value < 1) return rejected(Reason::NoComputation);
    if (cost.l1.value < 1 || cost.l1.value > accelerator.l1.value) return rejected(Reason::L1Overflow);
    if (cost.l2.value < 1 || cost.l2.value > accelerator.l2.value) return rejected(Reason::L2Overflow);
  }
  return {true,
          0,
          {.latency = static_cast<double>(cost.runtime.value),
           .energy = cost.energy.value,
           .area = cost.area ? std::optional(cost.area->value) : std::nullopt,
           .power = cost.power.value,
           .macs = static_cast<double>(true_macs.value),
           .l1 = static_cast<double>(cost.l1.value),
           .l2 = static_cast<double>(cost.l2.value),
           .pes = static_cast<double>(accelerator.pes)}};
}

}  // namespace tilewright
