// The best mapping of every layer of a network: from a job to a study, and its JSON.
//
//   ThreadPool threads;
//   RunContext context{threads};
//   TW_TRY(const MappingJob job, read_mapping_job({.network = "net.onnx", .hardware = "zoo:eyeriss"}, {}, threads));
//   TW_TRY(const MappingStudy study, map(job, {.samples = 500}, context));
//   const double cycles = totals_of(study).metrics.latency;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/study/mapping_job.hpp"
#include "tilewright/study/mapping_record.hpp"

namespace tilewright {

struct MappedLayer : LayerRecord {
  Layer layer;
  Nest nest;

  struct Found {
    Mapping mapping;
    Accelerator machine;
    Metrics metrics;
    Score score{};
    std::optional<double> exact_factor = {};  // objective by the exact model, by ours; nothing when it refuses the mapping
    std::string exact_refusal = {};           // why it does
  };
  std::optional<Found> found;
  std::optional<Found> nearest;  // to the limits, when nothing keeps them

  std::optional<double> optimum_factor;  // ours by the true optimum, where the space was small enough to walk
  // Mappings of which none is better than another in all metrics, where that was the objective.
  struct Member {
    Mapping mapping;
    Accelerator machine;
    Metrics metrics;
    std::int64_t sample = 0;
  };
  std::vector<Member> front;
};

struct MappingStudy : StudyRecord {
  Accelerator machine;
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
  bool gamma_rules = false;
  std::string space;  // "mapping, tiles divisors, levels 2"
  std::vector<MappedLayer> layers;
};

// Of the processing elements, 0 … 1.
double utilisation(const Metrics& metrics, std::int64_t lanes);

// Of the whole network, each layer as often as it is there; layers without a mapping are left out.
struct MappingTotals : SampleTotals {
  Metrics metrics;                        // latency, energy and MACs are sums; area and buffers the largest; power is energy
                                          // over time, MAESTRO's the largest
  std::optional<double> dataflow_factor;  // the objective with every layer's best classic dataflow, by ours
};
MappingTotals totals_of(const MappingStudy& result);
// What follows from sums over the network.
void finish_totals(Metrics& sums, const MappingStudy& result);

// Sentences about what a reader might take for granted.
std::vector<std::string> remarks_of(const MappingStudy& result);

// The front that layers' fronts make for the network.
NetworkFront front_of(const MappingStudy& study);

// Searches until the samples are spent or the context stops it.
using MapOptions = SearchOptions;
Result<MappingStudy> map(const MappingJob& job, const MapOptions& options, RunContext& context);

// Everything that follows from the mapping of a layer: its cost, and how it compares with the exact model, the classic
// dataflows and the optimum of a small space. A mapping that breaks a rule of the job is said.
std::optional<std::string> judge(MappedLayer& layer, const MappingProblem& problem, const MappingJob& job,
                                 ThreadPool& threads);

// The result file, which `verify` reads.
std::string to_json(const MappingStudy& study);

}  // namespace tilewright
