// What given mappings cost, layer by layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/cost/evaluator.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/study/mapping_options.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

struct EvaluationOptions {
  std::string network = {};
  std::string layer = {};  // empty = all
  std::string hardware = {};
  std::string mapping = {};            // a file; empty = see dataflow
  std::string dataflow = {};           // a name of dataflows(); empty = the mapping file, or the one in a .m network
  std::vector<std::string> dims = {};  // "sequence=128": open dimensions of an ONNX model
  std::int64_t batch = 1;              // images, of a dynamic one
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  LevelOptions levels = {};
};
// All but `batch`.
OptionTable options_of(EvaluationOptions& options);

struct LayerJob {
  std::string name;
  std::int64_t count = 1;
  std::optional<Layer> layer;        // nothing when a MAESTRO model takes it from a .m file as it is
  std::vector<std::string> members;  // printable names of the network's layers it stands for
  Nest nest;
  Result<Mapping> mapping;  // an Error when this layer has none
};

struct EvaluationJob {
  std::string network;
  Accelerator accelerator;
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  Coverage coverage;
  std::vector<LayerJob> layers;  // layers of one shape stand together when all of a network are asked for
};

// Reads everything the options name. Wrong input is an Error; a single layer without a mapping is not.
Result<EvaluationJob> read_evaluation_job(const EvaluationOptions& options);

struct EvaluatedLayer {
  LayerJob layer;
  std::optional<Cost> cost;
  std::string failure;  // the sentence, when there is no cost
  std::optional<Infeasible> infeasible;
};

struct EvaluationStudy {
  std::string network;
  Accelerator accelerator;
  Model model = Model::Sound;
  Coverage coverage;
  std::vector<EvaluatedLayer> layers;
};
EvaluationStudy evaluate(const EvaluationJob& job);
bool is_feasible(const EvaluationStudy& study);  // every layer

std::string to_json(const EvaluationStudy& study);

// Of the processing elements, 0 … 1; and the time that it takes.
double utilisation(const Cost& cost, const Accelerator& accelerator);
double milliseconds(const Cost& cost, const Accelerator& accelerator);

}  // namespace tilewright
