// What the page of a network on a machine with memory levels draws.
#pragma once

#include <string>

#include "tilewright/study/hierarchy_mapping.hpp"

namespace tilewright {

// A stacked bar per layer: the energy of all its copies, by level.
std::string layer_energy_section(const HierarchyStudy& study);
// How the search went, as on the pages of every mapped network.
std::string search_sections(const HierarchyStudy& study);

}  // namespace tilewright
