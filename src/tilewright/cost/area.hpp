// Area and power of the machine a mapping needs: processing elements, the buffers it fills, the network.
//
//   area  = P (a_pe simd + a_byte l1) + a_byte l2 + 101.7938 (14.662 P + 28.895) bw + 395.473 arbiter(P)
//   power = P (p_pe simd + p_byte l1) + p_byte l2 + 0.8 (14.662 P + 28.895)/1000 bw + 0.34 arbiter(P)/1000
//   bw = the NoC's bandwidth; where that is unlimited, the sound model takes the peak the mapping needs
//   arbiter(P) = 1.2886 P^2 + 5.5814 P - 23.711, and at least 1 in the area, 1000 in the power
#pragma once

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

// Sets area, power and power_parts of `cost` from its buffer needs.
void set_area_and_power(Cost& cost, const Accelerator& accelerator, Model model);

}  // namespace tilewright
