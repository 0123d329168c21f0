// What mapping a network leaves behind besides the mappings, whatever the kind of machine: what was asked, how the samples
// went, what the classic dataflows need. A study, and each of its layers, is a record that knows more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/agents/agents_searcher.hpp"
#include "tilewright/search/pareto.hpp"
#include "tilewright/study/design_job.hpp"
#include "tilewright/study/search_study.hpp"

namespace tilewright {

struct LayerRecord {
  std::string name;
  std::int64_t count = 1;
  std::vector<std::string> members;  // names of the network's layers that have this shape; of an ONNX model, of its nodes
  double log10_size = 0;             // of the space
  std::string explain;               // the command that tells more, when nothing was found

  std::vector<std::pair<std::string, double>> dataflows;  // the classics that fit, and their objective; best first
  std::string dataflow;                                   // the one to compare with
  std::optional<Metrics> dataflow_metrics;
  std::optional<double> dataflow_factor;  // its objective by ours

  Ledger ledger;
  std::vector<std::pair<std::string, std::int64_t>> rejected;  // most frequent first
};

struct StudyRecord {
  std::string network;
  Objective objective;
  std::string search;
  std::int64_t samples = 0;  // per layer
  std::uint64_t seed = 1;
  std::vector<SettingValue> settings;
  std::vector<std::string> command;  // the command line, for those who have one
  bool interrupted = false;
  Coverage coverage;
  NetworkFront front;                 // of the whole network; empty unless every layer has one
  std::optional<AgentsStory> agents;  // of a searcher that is one team for all layers
  std::string from;                   // the trained team it began with
  std::int64_t known_before = 0;      // points that the store had; not part of the result
};

inline bool has_front(const StudyRecord& study) { return study.objective.form == Objective::Form::Pareto; }

// Sums over layers.
struct SampleTotals {
  std::int64_t classics = 0, samples = 0, valid = 0, repeated = 0;
  std::size_t failed = 0;  // layers without a mapping
};

// What a job and its search say of a study and of a layer.
void record(StudyRecord& study, const DesignJob& job, const SearchOptions& options, const SearchStudy& found);
void record(LayerRecord& layer, const DesignProblem& problem, const Ledger& ledger);

// A classic dataflow is better, by more than rounding.
bool is_loss(const LayerRecord& layer);

// Sentences about how the search went: stopped early, layers without a mapping, classics that are better.
struct LayerAnswer {
  const LayerRecord* layer;
  bool found = false;
  const Metrics* nearest = nullptr;  // to the limits, where they are why nothing was found
};
std::vector<std::string> search_remarks(const StudyRecord& study, const std::vector<LayerAnswer>& layers);

// Parts of result files, which both kinds write and read alike.
void add_search(nlohmann::ordered_json& json, const StudyRecord& study);
void add_agents(nlohmann::ordered_json& json, const StudyRecord& study);
void add_dataflows(nlohmann::ordered_json& json, const LayerRecord& layer);
void add_samples(nlohmann::ordered_json& json, const LayerRecord& layer);
void add_samples(nlohmann::ordered_json& json, const SampleTotals& totals);
// Of a layer whose ledger tells how near the search came to the limits: the least that was seen of each.
void add_limits(nlohmann::ordered_json& json, const LayerRecord& layer, const Limits& limits);
void read_limits(const nlohmann::ordered_json& json, LayerRecord& layer, const Limits& limits);
// Everything that does not follow from something else.
Result<Done> read_record(const nlohmann::ordered_json& json, StudyRecord& study);
void read_record(const nlohmann::ordered_json& json, LayerRecord& layer);

}  // namespace tilewright
