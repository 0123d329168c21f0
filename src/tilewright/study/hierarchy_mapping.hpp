// The best mapping of every layer of a network on a machine with memory levels: from a job to a study, and its JSON.
//
//   TW_TRY(const HierarchyJob job, read_hierarchy_job({.network = "net.onnx", .hardware = "zoo:eyeriss-dram"}, {},
//   threads)); TW_TRY(const HierarchyStudy study, map(job, {.samples = 20'000}, context));
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/optimum/goal.hpp"
#include "tilewright/study/hierarchy_energy.hpp"
#include "tilewright/study/hierarchy_job.hpp"
#include "tilewright/study/mapping_record.hpp"

namespace tilewright {

struct HierarchyLayer : LayerRecord {
  hierarchy::Problem problem;

  struct Found {
    hierarchy::Mapping mapping;
    hierarchy::Analysis analysis;
    Metrics metrics;
    Score score{};
  };
  std::optional<Found> found;
  std::optional<Found> nearest;  // to the limits, when nothing keeps them; without an analysis
  // Mappings of which none is better than another in all metrics, where that was the objective.
  struct Member {
    hierarchy::Mapping mapping;
    Metrics metrics;
    std::int64_t sample = 0;
  };
  std::vector<Member> front;

  // What is proven of the objective, where it is latency, energy or edp: in cycles, pJ or J·cycles.
  struct Bound {
    double value = 0, lower_bound = 0;  // of the mapping found, and of every mapping
    double gap() const { return value / lower_bound - 1; }
    bool proven() const { return gap() <= optimum::kProvenGap; }
  };
  std::optional<Bound> bound;
  std::optional<optimum::Certificate> certificate;  // of a search for the optimum
};

struct HierarchyStudy : StudyRecord {
  hierarchy::Machine machine;
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  std::string restriction;
  std::vector<HierarchyLayer> layers;
};

// Of the whole network, each layer as often as it is there; layers without a mapping are left out.
struct HierarchyTotals : SampleTotals {
  Metrics metrics;
  Cycles cycles;
  Picojoules energy, mac_energy;
  std::vector<Picojoules> levels;  // storage and the network inside it
  std::optional<double> dataflow_factor;
};
HierarchyTotals totals_of(const HierarchyStudy& study);
// Likewise of its bounds: layers' latencies and energies add up, and the product of sums is least when all layers have the
// same ratio. Nothing when a layer has none.
std::optional<HierarchyLayer::Bound> bound_of(const HierarchyStudy& study);
// Where its energy goes.
std::vector<EnergyPart> energy_of(const HierarchyStudy& study);

std::vector<std::string> remarks_of(const HierarchyStudy& study);

// The front that layers' fronts make for the network.
NetworkFront front_of(const HierarchyStudy& study);

Result<HierarchyStudy> map(const HierarchyJob& job, const SearchOptions& options, RunContext& context);

// Everything that follows from the mapping of a layer. A mapping that breaks a rule is said.
std::optional<std::string> judge(HierarchyLayer& layer, const HierarchySpace& space,
                                 const std::vector<HierarchyClassic>& classics, const Objective& objective);

inline constexpr std::string_view kHierarchyResultFormat = "tilewright-map-2";
// The result file, which `verify` reads.
std::string to_json(const HierarchyStudy& study);

}  // namespace tilewright
