// Where an evaluation stands under the roofs of the machine: its processing elements, its NoC, its off-chip memory.
#pragma once

#include <string_view>

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

struct Roofline {
  double achieved = 0;           // MACs per cycle
  double compute_roof = 0;       // PEs x SIMD lanes
  double noc_intensity = 0;      // MACs per element between L2 and the array, in the busier direction
  double noc_roof = 0;           // MACs per cycle the NoC could feed at that intensity
  double offchip_intensity = 0;  // MACs per element when each tensor crosses the chip's edge once
  double offchip_roof = 0;
  std::string_view bound;  // "compute", "NoC" or "off-chip": the lowest roof
  double lowest_roof() const;
};
Roofline roofline(const Cost& cost, const Accelerator& accelerator);

}  // namespace tilewright
