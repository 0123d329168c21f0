// The energy of mappings on a machine with memory levels, by level and tensor, for people and for tables.
#pragma once

#include <string>
#include <vector>

#include "tilewright/study/hierarchy_energy.hpp"

namespace tilewright {

// A line for every level that takes some: its energy, its share as a bar, and the tensors' shares of the whole.
std::string energy_text(const std::vector<EnergyPart>& parts);
// Likewise, as rows of a table of a page.
std::string energy_html(const std::vector<EnergyPart>& parts);
// "level,part,tile,reads,fills,updates,energy_pj", and a line of it.
std::string_view energy_csv_header();
std::string energy_csv(const EnergyPart& part);

}  // namespace tilewright
