#include "tilewright/cost/audit.hpp"

namespace tilewright {

using Reason = Infeasible::Reason;

std::optional<Infeasible> audit(const Cost& cost, Macs true_macs, const Accelerator& accelerator) {
  if (cost.macs != true_macs) return Infeasible{Reason::MacsMiscounted, 0, Dim::K, true_macs.value, cost.macs.value};
  if (cost.leaf_macs < true_macs) return Infeasible{Reason::MacsLost, 0, Dim::K, true_macs.value, cost.leaf_macs.value};
  const std::int64_t per_cycle = accelerator.pes * accelerator.simd_lanes;
  const std::int64_t least = (true_macs.value + per_cycle - 1) / per_cycle;
  if (cost.runtime.value < least) return Infeasible{Reason::FasterThanPossible, 0, Dim::K, least, cost.runtime.value};
  return std::nullopt;
}

std::array<Limit, 4> limits(const Cost& cost, const Accelerator& accelerator) {
  return {Limit{Reason::L1Overflow, cost.l1.value, accelerator.l1.value},
          Limit{Reason::L2Overflow, cost.l2.value, accelerator.l2.value},
          Limit{Reason::NocBandwidth, cost.peak_bandwidth, accelerator.noc.bandwidth},
          Limit{Reason::OffchipBandwidth, cost.offchip_bandwidth, accelerator.offchip_bandwidth}};
}

}  // namespace tilewright
