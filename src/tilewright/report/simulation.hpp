// A simulated program as it is shown.
#pragma once

#include <string>
#include <vector>

#include "tilewright/report/timeline.hpp"
#include "tilewright/study/simulation.hpp"

namespace tilewright {

std::string to_text(const SimulationStudy& study);
std::string to_json(const SimulationStudy& study);

// Loads, computing and stores of all streams, one after the other, with the tokens between them as links. Streams need
// their spans.
Timeline timeline_of(const std::vector<StreamResult>& streams);
// "load and compute work at the same time in 62 % of the cycles".
std::string overlap_sentence(const Timeline& timeline);
std::string timeline_page(const SimulationStudy& study);
std::string timeline_svg(const SimulationStudy& study);

}  // namespace tilewright
