// Why a mapping does not fit a machine with memory levels, and the smallest change that makes it fit.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/hierarchy/relaxation.hpp"
#include "tilewright/space/objective.hpp"
#include "tilewright/study/explanation.hpp"
#include "tilewright/study/hierarchy_evaluation.hpp"

namespace tilewright {

// What is explained of a layer: the mapping that was given, or of all that are known the one that comes nearest.
struct HierarchyCandidate {
  std::string dataflow;  // "nvdla-like", or kOutermost; empty: a mapping file
  hierarchy::Mapping mapping;
  std::optional<hierarchy::Relaxation> relaxation;  // nothing when it fits the machine
  std::optional<hierarchy::Analysis> analysis;      // when it fits
  Metrics metrics;                                  // likewise
};
// Beside the classics: all loops in the outermost level, so that all others hold as little as can be.
inline constexpr std::string_view kOutermost = "outermost";

struct HierarchyExplainedLayer {
  std::string name;
  hierarchy::Problem problem;
  Result<HierarchyCandidate> candidate;  // an Error when there is no mapping
};

struct HierarchyExplanationStudy {
  std::string network;
  hierarchy::Machine machine;
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  Limits limits;
  bool is_nearest = false;  // of all mappings that are known: none was asked for
  std::vector<HierarchyExplainedLayer> layers;
};

Result<HierarchyExplanationStudy> explain_levels(const EvaluationOptions& options, const LimitOptions& limits);
bool is_feasible(const HierarchyExplanationStudy& study);  // every layer fits and keeps the limits
std::string to_json(const HierarchyExplanationStudy& study);

// Of either kind of machine.
using AnyExplanation = std::variant<ExplanationStudy, HierarchyExplanationStudy>;
Result<AnyExplanation> explain_any(const EvaluationOptions& options, const LimitOptions& limits);

}  // namespace tilewright
