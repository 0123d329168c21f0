// Why a mapping does not fit, and the smallest change that makes it fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/cost/relaxation.hpp"
#include "tilewright/space/objective.hpp"
#include "tilewright/study/evaluation.hpp"

namespace tilewright {

// What is explained of a layer: the mapping that was given, or the classic dataflow that comes nearest.
struct Candidate {
  std::string dataflow;  // empty: a mapping file
  Mapping mapping;
  std::optional<Relaxation> relaxation;  // nothing when it fits the machine
  std::optional<Cost> cost;              // when it fits
  Metrics metrics;                       // likewise
};

struct ExplainedLayer {
  std::string name;
  Result<Candidate> candidate;  // an Error when there is no mapping
};

struct ExplanationStudy {
  std::string network;
  Accelerator accelerator;
  Limits limits;
  bool is_nearest = false;  // of all classic dataflows: none was asked for
  std::vector<ExplainedLayer> layers;
};

// Of the mapping that the options name; without one, of the classic dataflow that is nearest to fitting. An Error when the
// options are wrong, or about a MAESTRO model, which refuses nothing.
Result<ExplanationStudy> explain(const EvaluationOptions& options, const LimitOptions& limits);
// Whether every layer fits the machine and keeps the limits.
bool is_feasible(const ExplanationStudy& study);

std::string to_json(const ExplanationStudy& study);

}  // namespace tilewright
