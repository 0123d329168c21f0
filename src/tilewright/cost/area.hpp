// Area and power of the machine a mapping needs: processing elements, the buffers it fills, and in MAESTRO the network.
//
// Sound and exact, from the machine's own figures; area is unknown where they are not given:
//   area  = P a_pe simd + P a_l1byte l1 + a_byte l2
//   power = energy / time + leakage,   time = cycles / clock          (pJ GHz / cycles are mW)
//
// MAESTRO, by its regression, whose quadratic arbiter and 2^31 wires make large machines as large as cities:
//   area  = P (283 simd + 0.104 l1) + 0.104 l2 + 101.7938 (14.662 P + 28.895) bw + 395.473 arbiter(P)
//   power = P (1.2223 simd + 0.00345 l1) + 0.00345 l2 + 0.8 (14.662 P + 28.895)/1000 bw + 0.34 arbiter(P)/1000
//   bw = the NoC's bandwidth
//   arbiter(P) = 1.2886 P^2 + 5.5814 P - 23.711, and at least 1 in the area, 1000 in the power
#pragma once

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

// By the machine's figures, with buffers of the given sizes; nothing when the figures are not given.
std::optional<AreaParts> area_of(const Accelerator& accelerator, Bytes l1, Bytes l2);

// `energy` over the time `cycles` take, and what leaks all the while.
Milliwatts power_of(Nanojoules energy, double cycles, const Accelerator& accelerator);

// Set area and power of `cost` and their parts from what it has already: buffer needs, runtime, energy parts.
void set_area_and_power(Cost& cost, const Accelerator& accelerator);
void set_maestro_area_and_power(Cost& cost, const Accelerator& accelerator);

}  // namespace tilewright
