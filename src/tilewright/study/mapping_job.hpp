// What map, agents and compare begin with: the design space of every distinct layer of a network, and how to read its
// points.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/space/classics.hpp"
#include "tilewright/study/mapping_options.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

// One distinct layer.
struct MappingProblem {
  std::string name;
  std::int64_t count = 1;  // how often the network has it
  Layer layer;
  std::vector<std::string> members;  // printable names of the network's layers that have this shape
  Nest nest;
  std::unique_ptr<DesignSpace> space;
  // The mapping a point of the space stands for, and the machine it runs on.
  std::function<Mapping(PointView)> mapping;
  std::function<Accelerator(PointView)> machine;
  Classics classics;         // the dataflows that fit, with their best tiles
  std::vector<Point> known;  // those the search is told
};

struct MappingJob {
  MappingInputs inputs;    // what it was read from; empty names where it was made of objects
  MappingOptions options;  // with the limits in the objective
  Network network;
  std::string network_name;  // printable
  Accelerator accelerator;   // no larger than max_pes, max_l1 and max_l2
  std::vector<MappingProblem> problems;
  Coverage coverage;  // of the network by the problems

  std::vector<const DesignSpace*> spaces() const;
  std::vector<Proposal> known() const;  // of all problems
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
