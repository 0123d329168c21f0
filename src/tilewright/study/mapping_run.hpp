// What a run of `map` was asked for, in its run.json: enough to do it again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/study/any_job.hpp"
#include "tilewright/study/search_study.hpp"

namespace tilewright {

struct MapRequest {
  MappingInputs inputs = {};
  MappingOptions mapping = {};
  SearchOptions search = {};
  std::vector<std::string> command = {};  // the command line
};
OptionTable options_of(MapRequest& request);

// Everything the run depends on, as JSON; nothing about how or where it is done.
std::string run_json(const MapRequest& request, const MappingJob& job);
std::string run_json(const MapRequest& request, const HierarchyJob& job);
// The request of the run in a directory.
Result<MapRequest> read_map_run(const std::filesystem::path& directory);

}  // namespace tilewright
