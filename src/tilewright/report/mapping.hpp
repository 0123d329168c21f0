// The mapping of a network as people and tables take it. The directory of a run:
//
//   run.json          what was asked for: enough to do it again; and the checksums of everything else
//   store.sqlite      every evaluated point
//   result.json       the answer, as `verify` reads it          best/       its mappings, one file per layer
//   layers.csv        a line per layer                          team/       the trained agents, for --from
//   convergence.csv   every new best of every layer             report.html
//   pareto.csv        the fronts, where they were asked for
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/report/front.hpp"
#include "tilewright/study/mapping.hpp"

namespace tilewright {

std::string to_text(const MappingStudy& study);
// The answer first, then layers, convergence, agents, mappings, provenance.
std::string to_html(const MappingStudy& study);
std::string layers_csv(const MappingStudy& study);
std::string convergence_csv(const MappingStudy& study);
Fronts fronts_of(const MappingStudy& study);

// Everything but the points and run.json.
Result<Done> write_files(const MappingStudy& study, const std::filesystem::path& directory);

}  // namespace tilewright
