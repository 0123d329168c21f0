// The directory of a `map` run.
//
//   run.json          what was asked for: enough to do it again; and the checksums of everything else
//   store.sqlite      every evaluated point
//   result.json       the answer, as `verify` reads it          best/       its mappings, one file per layer
//   layers.csv        a line per layer                          team/       the trained agents, for --from
//   convergence.csv   every new best of every layer             report.html
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tilewright/study/map_command.hpp"
#include "tilewright/study/map_search.hpp"

namespace tilewright {

// Everything a run depends on, as JSON; nothing about how or where it is done.
std::string run_json(const MapArguments& arguments, const MappingJob& job);

// The arguments of the run in a directory.
Result<MapArguments> read_map_run(const std::filesystem::path& directory);

Result<Done> write_results(const MapSearch& search, const std::filesystem::path& directory);

}  // namespace tilewright
