// Energy of a layer from its access counts.
//
// Sound: this layer's own MACs, L1 accesses and L2 accesses (output reads included), each times its table entry.
// MAESTRO's CSV column: L2 accesses of this layer without output reads, plus the L1 accesses of the *previous* layer of the
// file, or of this one when it is flat; no MACs; fixed constants.
#pragma once

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

EnergyParts sound_energy(const Cost& cost, const EnergyTable& table);

// `previous` = the layer before this one in the file, or nullptr for the first.
Nanojoules maestro_energy(const Cost& cost, const Cost* previous);

}  // namespace tilewright
