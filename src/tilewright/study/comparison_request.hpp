// What a run of `compare` was asked for, in its run.json: enough to do it again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/study/comparison_options.hpp"
#include "tilewright/study/mapping_options.hpp"

namespace tilewright {

// What a comparison searches where nobody says anything: two levels, because searchers are compared on what they find by
// themselves and not on what the classic dataflows add to a space.
inline MappingOptions plain_comparison() {
  MappingOptions options;
  options.levels = LevelRange{2, 2};
  return options;
}

struct CompareRequest {
  MappingInputs inputs = {};
  MappingOptions mapping = plain_comparison();
  bool classics = false;  // searchers are told the classic dataflows
  ComparisonOptions options = {};
  std::vector<std::string> command = {};  // the command line
};
OptionTable options_of(CompareRequest& request);
// Of the request, as read_any_job takes them.
MappingOptions mapping_of(const CompareRequest& request);

std::string run_json(const CompareRequest& request);
// The request of the run in a directory.
Result<CompareRequest> read_compare_run(const std::filesystem::path& directory);

}  // namespace tilewright
