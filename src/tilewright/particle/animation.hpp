// An episode as an SVG that plays in any browser.
#pragma once

#include <string>
#include <vector>

#include "tilewright/particle/particle_environment.hpp"

namespace tilewright {

// `frames[t]` are the bodies at step t; the picture loops, `seconds_per_step` long each.
std::string animated_svg(const std::vector<std::vector<Body>>& frames, const std::string& title,
                         double seconds_per_step = 0.1);

}  // namespace tilewright
