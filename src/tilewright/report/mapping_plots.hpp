// What the page of a mapped network draws.
#pragma once

#include <cstddef>
#include <string>

#include "tilewright/study/mapping.hpp"

namespace tilewright {

inline constexpr std::size_t kMostColouredLayers = 8;
inline constexpr std::size_t kLayerColours[kMostColouredLayers] = {0, 1, 2, 3, 4, 5, 8, 6};

// The objective as people write it.
std::string shown(const Objective& objective);
// EDP of all copies of the layer.
double weight_of(const MappedLayer& layer);

// Each is empty where there is nothing to draw.
std::string front_section(const MappingStudy& study);
std::string convergence_section(const MappingStudy& study);
std::string agent_section(const MappingStudy& study);

}  // namespace tilewright
