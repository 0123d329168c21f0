// The search behind `map`: from a job to a result.
#pragma once

#include <functional>
#include <string>

#include "tilewright/search/stored_memory.hpp"
#include "tilewright/study/map_command.hpp"
#include "tilewright/study/map_result.hpp"

namespace tilewright {

struct MapSearch {
  MapResult result;
  std::optional<SavedTeam> team;  // of agents
};

// Searches until the samples are spent or `keep_going` (asked after every round) says no. `memory` may be null.
Result<MapSearch> search_mappings(const MappingJob& job, const MapArguments& arguments, ThreadPool& threads,
                                  StoredMemory* memory, const std::function<bool(const SearchLoop&)>& keep_going);

// Everything that follows from the mapping of a layer: its cost, and how it compares with the exact model, the classic
// dataflows and the optimum of a small space. A mapping that breaks a rule of the job is said.
std::optional<std::string> judge(MappedLayer& layer, const MappingProblem& problem, const MappingJob& job,
                                 ThreadPool& threads);

}  // namespace tilewright
