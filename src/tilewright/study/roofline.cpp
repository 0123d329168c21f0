#include "tilewright/study/roofline.hpp"

#include <algorithm>

namespace tilewright {

double Roofline::lowest_roof() const { return std::min({compute_roof, noc_roof, offchip_roof}); }

Roofline roofline(const Cost& cost, const Accelerator& accelerator) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const auto& [input, weight, output] = cost.traffic;
  const double macs = number(cost.macs.value);
  Roofline roof;
  roof.achieved = macs / number(cost.runtime.value);
  roof.compute_roof = number(accelerator.pes * accelerator.simd_lanes);
  roof.noc_intensity = macs / number(std::max(input.l2_read + weight.l2_read, output.l2_write));  // the two ways overlap
  roof.noc_roof = roof.noc_intensity * number(accelerator.noc.bandwidth);
  roof.offchip_intensity = macs / number(input.l2_write + weight.l2_write + output.l2_read);
  roof.offchip_roof = roof.offchip_intensity * number(accelerator.offchip_bandwidth);
  const double lowest = roof.lowest_roof();
  roof.bound = lowest == roof.compute_roof ? "compute" : lowest == roof.noc_roof ? "NoC" : "off-chip";
  return roof;
}

}  // namespace tilewright
