// The mapping of a network on a machine with memory levels as people and tables take it. The directory of a run is that of
// mapping.hpp, with mappings of format tilewright-mapping-2.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/study/hierarchy_mapping.hpp"

namespace tilewright {

std::string to_text(const HierarchyStudy& study);
std::string to_html(const HierarchyStudy& study);
std::string layers_csv(const HierarchyStudy& study);
std::string convergence_csv(const HierarchyStudy& study);

// Everything but the points and run.json.
Result<Done> write_files(const HierarchyStudy& study, const std::filesystem::path& directory);

}  // namespace tilewright
