// Which parameters depend on each other, which agents that makes, and how firmly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/agents/clustering.hpp"
#include "tilewright/agents/stability.hpp"
#include "tilewright/study/design_job.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright {

struct AssignmentOptions {
  std::int64_t samples = 20'000;   // of the whole network, shared equally by its distinct layers
  std::string explore = "random";  // as in AgentsOptions
  std::uint64_t seed = 1;
  Dependence correlation = Dependence::Pearson;
  double quantile = 0.1;  // best share of each layer's samples, 0 … 1; 1 = all samples, weighted by their rank
  bool contrast = false;  // take off the correlation that all samples have alike
  Linkage linkage = Linkage::Average;
  std::optional<double> threshold = {};     // cut the dendrogram at this distance (1 - correlation),
  std::optional<std::int64_t> agents = {};  // or into this many; with neither, the number with the best silhouette
  std::int64_t resamples = 100;             // bootstrap resamples, and subsets of the samples; 0 = none
  std::int64_t seeds = 5;                   // explorations with other seeds; 0 = none
  bool no_stability = false;                // only the assignment
};
OptionTable options_of(AssignmentOptions& options);

struct AssignmentStudy {
  std::string network, hardware;
  MappingOptions options;  // of the job
  AgentsQuestion question;
  std::vector<Parameter> parameters;
  std::int64_t samples = 0;            // of the exploration, all charged
  std::int64_t feasible = 0;           // of them
  std::int64_t stability_samples = 0;  // of the explorations that only the stability needed
  ClusteredAgents found;
  std::vector<StabilityRow> stability;  // empty when it was not asked for
  std::vector<std::string> command;     // the command line, for those who have one
  Coverage coverage;
};

// Explores, correlates, clusters, and asks how firm that is. Throws Stopped where the context stops it: half of it answers
// nothing.
Result<AssignmentStudy> assign(const DesignJob& job, const AssignmentOptions& options, RunContext& context);

// "mobilenet_v2 on eyeriss, edp".
std::string title_of(const AssignmentStudy& study);
// What the numbers mean where they are easily misread: each a sentence.
std::vector<std::string> remarks_of(const AssignmentStudy& study);
// The halfway distance between the last merge inside an agent and the first between two.
double cut_height(const ClusteredAgents& found);

std::string to_json(const AssignmentStudy& study);

}  // namespace tilewright
