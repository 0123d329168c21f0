// Evaluations and explanations on machines with memory levels for people and for tables.
#pragma once

#include <string>

#include "tilewright/study/hierarchy_evaluation.hpp"
#include "tilewright/study/hierarchy_explanation.hpp"

namespace tilewright {

// One layer as a full page; of more a line each, with totals.
std::string to_text(const HierarchyEvaluationStudy& study);
// A line for every level, tensor and network of a layer: accesses and energy.
std::string to_csv(const HierarchyEvaluationStudy& study);
// Energy by level and utilisation, layer by layer: a self-contained picture.
std::string to_svg(const HierarchyEvaluationStudy& study);

std::string to_text(const HierarchyExplanationStudy& study);

}  // namespace tilewright
