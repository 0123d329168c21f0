// Evaluations and explanations for people and for tables.
#pragma once

#include <string>

#include "tilewright/study/evaluation.hpp"
#include "tilewright/study/explanation.hpp"

namespace tilewright {

// One layer as a full page; of more a line each, with totals.
std::string to_text(const EvaluationStudy& study);
// MAESTRO's 52 columns.
std::string to_csv(const EvaluationStudy& study);
// Energy by component and utilisation, layer by layer: a self-contained picture. Not of MAESTRO's models, whose energy has
// no parts.
std::string to_svg(const EvaluationStudy& study);

std::string to_text(const ExplanationStudy& study);

}  // namespace tilewright
