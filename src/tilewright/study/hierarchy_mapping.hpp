// The best mapping of every layer of a network on a machine with memory levels: from a job to a study, and its JSON.
//
//   TW_TRY(const HierarchyJob job, read_hierarchy_job({.network = "net.onnx", .hardware = "zoo:eyeriss-dram"}, {},
//   threads)); TW_TRY(const HierarchyStudy study, map(job, {.samples = 20'000}, context));
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/agents/agents_searcher.hpp"
#include "tilewright/study/hierarchy_energy.hpp"
#include "tilewright/study/hierarchy_job.hpp"

namespace tilewright {

struct HierarchyLayer {
  std::string name;
  std::int64_t count = 1;
  std::vector<std::string> members;
  hierarchy::Problem problem;
  double log10_size = 0;  // of the space

  struct Found {
    hierarchy::Mapping mapping;
    hierarchy::Analysis analysis;
    Metrics metrics;
    Score score{};
  };
  std::optional<Found> found;
  std::vector<std::pair<std::string, double>> dataflows;  // the classics that fit, and their objective; best first
  std::optional<Metrics> dataflow_metrics;                // of the best
  std::optional<double> dataflow_factor;                  // its objective by ours
  std::string explain;                                    // the command that tells more, when nothing was found

  // Mappings of which none is better than another in all metrics, where that was the objective.
  struct Member {
    hierarchy::Mapping mapping;
    Metrics metrics;
    std::int64_t sample = 0;
  };
  std::vector<Member> front;

  Ledger ledger;
  std::vector<std::pair<std::string, std::int64_t>> rejected;  // most frequent first
};

struct HierarchyStudy {
  std::string network;
  hierarchy::Machine machine;
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  std::string restriction;
  Objective objective;
  std::string search;
  std::int64_t samples = 0;  // per layer
  std::uint64_t seed = 1;
  std::vector<SettingValue> settings;
  std::vector<std::string> command;
  bool interrupted = false;
  std::vector<HierarchyLayer> layers;
  Coverage coverage;
  NetworkFront front;  // of the whole network; empty unless every layer has one
  std::optional<AgentsStory> agents;
  std::string from;
  std::int64_t known_before = 0;  // points that the store had; not part of the result
};

// Of the whole network, each layer as often as it is there; layers without a mapping are left out.
struct HierarchyTotals {
  Metrics metrics;
  Cycles cycles;
  Picojoules energy, mac_energy;
  std::vector<Picojoules> levels;  // storage and the network inside it
  std::optional<double> dataflow_factor;
  std::int64_t classics = 0, samples = 0, valid = 0, repeated = 0;
  std::size_t failed = 0;  // layers
};
HierarchyTotals totals_of(const HierarchyStudy& study);
// Where its energy goes.
std::vector<EnergyPart> energy_of(const HierarchyStudy& study);

std::vector<std::string> remarks_of(const HierarchyStudy& study);

inline bool has_front(const HierarchyStudy& study) { return study.objective.form == Objective::Form::Pareto; }
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
