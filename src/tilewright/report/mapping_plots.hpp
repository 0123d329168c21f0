// What the page of a mapped network draws.
#pragma once

#include <string>

#include "tilewright/report/search_sections.hpp"
#include "tilewright/study/mapping.hpp"

namespace tilewright {

// EDP of all copies of the layer.
double weight_of(const MappedLayer& layer);

// Empty where there is nothing to draw.
std::string front_section(const MappingStudy& study);

}  // namespace tilewright
