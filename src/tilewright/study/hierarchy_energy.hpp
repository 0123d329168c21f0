// Where the energy of mappings on a machine with memory levels goes: to which level, and there to which tensor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/hierarchy/analysis.hpp"

namespace tilewright {

struct EnergyPart {
  std::string level;  // or what the machine calls its MACs
  std::string what;   // a tensor, "network" or "leakage"; of the MACs "computing"
  Picojoules energy;
  hierarchy::TensorCounts counts = {};             // of a tensor
  std::optional<hierarchy::TensorKind> kind = {};  // of a tensor
};

// All parts, the outermost level first: together they are the energy of the mapping.
std::vector<EnergyPart> energy_parts(const hierarchy::Analysis& analysis, const hierarchy::Problem& problem,
                                     const hierarchy::Machine& machine);

// Adds the energies of a layer, `count` times each. Layers call their tensors differently, so tensors are called by their
// kinds; counts are of one layer and left out. Parts of a level stay together.
void add_parts(std::vector<EnergyPart>& sums, const std::vector<EnergyPart>& parts, double count);

}  // namespace tilewright
