// What `map`, `agents` and `compare` begin with: a network and a machine, and the design space of every distinct layer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/space/archgym_space.hpp"
#include "tilewright/space/classics.hpp"
#include "tilewright/space/mapping_space.hpp"
#include "tilewright/space/objective.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

// Limits as on the command line.
struct LimitArguments {
  std::optional<std::int64_t> max_pes, max_l1, max_l2;                 // of the machine
  std::optional<double> max_latency, max_energy, max_area, max_power;  // of a layer
};
// The machine with no more than that.
Result<Accelerator> within_limits(Accelerator accelerator, const LimitArguments& arguments, const std::string& where);
// An Error when the objective or its limits need an area that the machine does not give.
Result<Done> check_area(const Objective& objective, const Accelerator& accelerator, const std::string& where);
Result<Limits> limits_from(const LimitArguments& arguments);

// As on the command line; every field has its flag.
struct MappingArguments : LimitArguments {
  std::string network;
  std::string hardware;
  std::string layer;  // one layer only; empty = all
  std::int64_t batch = 1;
  std::vector<std::string> dims;  // "sequence=128": open dimensions of an ONNX model
  std::string objective = "edp";
  std::string model = "sound";
  std::string constraints = "hard";
  std::string space = "mapping";  // mapping, archgym
  std::string tiles = "divisors";
  std::string levels = "auto";  // by array and layer; 1, 2, 3, or a range like 1-3
  bool no_classics = false;     // the search is not told the classic dataflows
  bool search_pes = false;
};

// One distinct layer.
struct MappingProblem {
  std::string name;
  std::int64_t count = 1;  // how often the network has it
  Layer layer;
  std::vector<std::string> members;  // printable names of the network's layers that have this shape
  Nest nest;
  std::unique_ptr<DesignSpace> space;
  Classics classics;         // the dataflows that fit, with their best tiles
  std::vector<Point> known;  // those the search is told

  // The mapping a point of the space stands for, and the machine it runs on.
  Mapping mapping(PointView point) const;
  Accelerator machine(PointView point) const;
};

struct MappingJob {
  Network network;
  std::string network_name;  // printable
  Accelerator accelerator;   // with --max-pes, --max-l1 and --max-l2 applied
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  Objective objective;
  std::vector<MappingProblem> problems;
  Coverage coverage;  // of the network by the problems

  std::vector<const DesignSpace*> spaces() const;
  std::vector<Proposal> known() const;  // of all problems
  EvaluateOptions evaluate() const { return {.model = model, .constraints = constraints}; }
};

// Makes what follows from a problem's nest, by `space`, `tiles`, `levels`, `search_pes` and `no_classics` of the arguments
// on the job's machine: its classics, its space and what the search is told.
Result<Done> prepare(MappingProblem& problem, const MappingArguments& arguments, const MappingJob& job);
// "mapping with tiles divisors, levels 2", and the arguments that it says.
std::string space_text(const MappingArguments& arguments);
MappingArguments space_arguments(const std::string& text);

Result<MappingJob> read_mapping_job(const MappingArguments& arguments, ThreadPool& threads);

}  // namespace tilewright
