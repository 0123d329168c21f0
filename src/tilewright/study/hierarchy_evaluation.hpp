// What given mappings cost on a machine with memory levels, layer by layer, or why they do not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/restriction.hpp"
#include "tilewright/study/evaluation.hpp"
#include "tilewright/study/loop_network.hpp"

namespace tilewright {

struct HierarchyLayerJob : LoopLayer {
  std::optional<hierarchy::Restriction> restriction;
  Result<hierarchy::Mapping> mapping;  // an Error when this layer has none
};

struct HierarchyEvaluationJob {
  std::string network;
  hierarchy::Machine machine;
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  Coverage coverage;
  std::vector<HierarchyLayerJob> layers;  // those of one shape together, unless a file says how they are mapped
};

// Reads everything the options name. Wrong input is an Error; a single layer without a mapping is not.
enum class NoMapping : std::uint8_t { Refused, Allowed };  // where neither a file nor a dataflow is named
Result<HierarchyEvaluationJob> read_hierarchy_evaluation_job(const EvaluationOptions& options,
                                                             NoMapping without = NoMapping::Refused);

// A job of either kind of machine.
using AnyEvaluationJob = std::variant<EvaluationJob, HierarchyEvaluationJob>;
Result<AnyEvaluationJob> read_any_evaluation_job(const EvaluationOptions& options);

struct HierarchyEvaluatedLayer {
  HierarchyLayerJob layer;
  std::optional<hierarchy::Analysis> analysis;
  std::string failure;  // the sentence, when there is none
  std::optional<hierarchy::Infeasible> infeasible;
};

struct HierarchyEvaluationStudy {
  std::string network;
  hierarchy::Machine machine;
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  Coverage coverage;
  std::vector<HierarchyEvaluatedLayer> layers;
};
HierarchyEvaluationStudy evaluate(const HierarchyEvaluationJob& job);
bool is_feasible(const HierarchyEvaluationStudy& study);  // every layer

std::string to_json(const HierarchyEvaluationStudy& study);

}  // namespace tilewright
