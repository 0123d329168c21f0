// What map, agents and compare begin with on an array with L1 and L2: the layers' shapes and classics, and how to read the
// points of their spaces.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/space/classics.hpp"
#include "tilewright/study/design_job.hpp"

namespace tilewright {

// One distinct layer.
struct MappingProblem : DesignProblem {
  Layer layer;
  Nest nest;
  // The mapping a point of the space stands for, and the machine it runs on.
  std::function<Mapping(PointView)> mapping;
  std::function<Accelerator(PointView)> machine;
  Classics classics;  // the dataflows that fit, with their best tiles
};

struct MappingJob : JobOf<MappingProblem> {
  Network network;
  Accelerator accelerator;  // no larger than max_pes, max_l1 and max_l2
};

// An Error when there is nothing to map, or when the options do not go with the machine.
Result<MappingJob> mapping_job(Network network, Accelerator accelerator, const MappingOptions& options, ThreadPool& threads);
// Reads both first.
Result<MappingJob> read_mapping_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads);

// Makes what follows from a problem's nest by the options of the job on its machine: classics, space and what the search is
// told.
void prepare(MappingProblem& problem, const MappingJob& job);

// The machine with no more than the limits; `where` is what an Error calls it.
Result<Accelerator> within_limits(Accelerator accelerator, const LimitOptions& options, const std::string& where);
// An Error when the objective or its limits need an area that the machine does not give.
Result<Done> check_area(const Objective& objective, const Accelerator& accelerator, const std::string& where);

}  // namespace tilewright
