// What map, agents and compare begin with on a machine with memory levels.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/study/design_job.hpp"

namespace tilewright {

// One distinct layer, or the problem of a Timeloop file.
struct HierarchyProblem : DesignProblem {
  std::vector<HierarchyClassic> classics;

  const HierarchySpace& mappings() const { return static_cast<const HierarchySpace&>(*space); }
};

// The options have the judge.
struct HierarchyJob : JobOf<HierarchyProblem> {
  std::string network_text;  // what the network's checksum is of
  hierarchy::Machine machine;
  std::string restriction;  // the text of a Timeloop file; may be empty
};

// Whether the machine is one with memory levels, or is to be read as one.
Result<bool> has_memory_levels(const std::string& hardware, const LevelOptions& options);
// An Error when there is nothing to map, or when an option that is not as in `plain` does not go with such machines.
Result<HierarchyJob> hierarchy_job(const Network& network, hierarchy::Machine machine, const MappingOptions& options,
                                   ThreadPool& threads);
// Reads both first. The network may also be a problem of Timeloop's.
Result<HierarchyJob> read_hierarchy_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads,
                                        const MappingOptions& plain = {});

}  // namespace tilewright
