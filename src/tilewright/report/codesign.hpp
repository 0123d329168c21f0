// A co-design as people and tables take it. The directory of a run:
//
//   run.json          what was asked for, checksums of the rest     programs/     a .vtaprog per program, and manifest.json
//   store.sqlite      every measured point                          listing.txt   their instructions
//   machine.json      the machine                                   layers.csv    a line per layer
//   schedules.json    for `compile --schedules`                     convergence.csv, calibration.csv
//   result.json       everything, as --json prints it               report.html
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/study/codesign.hpp"

namespace tilewright {

std::string to_text(const CodesignStudy& study);
// The answer first, then layers, who worked when in the slowest, the machine beside the default one, convergence, and how
// well the surrogate predicted.
std::string to_html(const CodesignStudy& study);
std::string layers_csv(const CodesignStudy& study);
std::string convergence_csv(const CodesignStudy& study);
std::string calibration_csv(const CodesignStudy& study);

// All but what the study itself has written: points, programs and listing.
Result<Done> write_files(const CodesignStudy& study, const Network& network, const std::filesystem::path& directory);

}  // namespace tilewright
