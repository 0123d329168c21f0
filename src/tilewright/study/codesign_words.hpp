// What the text, the files and the report of `codesign` say in the same words and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/study/codesign_result.hpp"

namespace tilewright {

std::string tile_words(const vta::Schedule& schedule);              // "b1 h14 w14 ci1 co4"
std::string thread_words(const vta::Schedule& schedule);            // "1x2"
std::string machine_words(const vta::Machine& machine);             // "1 x 64 x 8, buffers of uop 8, … KiB"
std::string space_words(const CodesignResult& result);              // limits, core and memory
std::vector<std::string> remarks_on(const CodesignResult& result);  // what a reader might take for granted

double ideal_share(const CodesignedLayer::Found& found);  // GEMM steps per cycle
double mac_share(const CodesignedLayer::Found& found, const vta::Machine& machine);
std::int64_t buffer_bytes(const vta::Machine& machine, vta::Buffer buffer);

struct CodesignPower {
  double watts = 0, celsius = 0;
};
CodesignPower power_of(const CodesignResult& result, const CodesignTotals& totals);

// Means over layers, by round; layers that had fewer rounds are left out of the later ones.
std::vector<Calibration> mean_calibrations(const CodesignResult& result);

}  // namespace tilewright
