// What `evaluate` and `explain` work on: layers of a network, each as a nest with its mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cost/evaluator.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

struct JobArguments {
  std::string network;
  std::string layer;  // empty = all
  std::string hardware;
  std::string mapping;   // a file; empty = see dataflow
  std::string dataflow;  // a name; empty = the mapping file, or the one in a .m network
  std::string model = "sound";
  std::string constraints = "hard";
  std::int64_t batch = 1;         // for a dynamic batch of an ONNX model
  std::vector<std::string> dims;  // "sequence=128": its other open dimensions
};

struct LayerJob {
  std::string name;
  std::int64_t count = 1;
  std::optional<Layer> layer;        // nothing when a MAESTRO model takes it from a .m file as it is
  std::vector<std::string> members;  // printable names of the network's layers it stands for
  Nest nest;
  Result<Mapping> mapping;  // an Error when this layer has none
};

struct Job {
  std::string network;
  Accelerator accelerator;
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  Coverage coverage;
  std::vector<LayerJob> layers;  // layers of one shape stand together when all of a network are asked for
};

// Reads everything the arguments name. Wrong input is an Error; a single layer without a mapping is not.
Result<Job> read_job(const JobArguments& arguments);

}  // namespace tilewright
