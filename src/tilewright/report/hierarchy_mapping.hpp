// The mapping of a network on a machine with memory levels as people and tables take it. The directory of a run is that of
// mapping.hpp, with mappings of format tilewright-mapping-2, and with energy.csv: every layer by level and tensor.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/report/front.hpp"
#include "tilewright/study/hierarchy_bounds.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"

namespace tilewright {

std::string to_text(const HierarchyStudy& study);
std::string to_text(const BoundStudy& study);
// "optimal", or how far above its bound an objective is.
std::string gap_text(const std::optional<HierarchyLayer::Bound>& bound);
std::string to_html(const HierarchyStudy& study);
std::string layers_csv(const HierarchyStudy& study);
std::string convergence_csv(const HierarchyStudy& study);
// A line for every level, tensor and network of a layer: accesses and energy.
std::string energy_csv(const HierarchyStudy& study);
Fronts fronts_of(const HierarchyStudy& study);

// Everything but the points and run.json.
Result<Done> write_files(const HierarchyStudy& study, const std::filesystem::path& directory);

}  // namespace tilewright
