// A network's evaluation as a picture: energy by component and utilisation, layer by layer.
#pragma once

#include <string>
#include <vector>

#include "tilewright/report/evaluation_text.hpp"

namespace tilewright {

// A self-contained SVG. Sound model only: the other models' energy has no parts.
std::string results_as_svg(const Job& job, const std::vector<LayerResult>& results);

}  // namespace tilewright
