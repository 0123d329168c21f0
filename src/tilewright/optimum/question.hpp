// What a bound or an optimum is asked of.
#pragma once

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/restriction.hpp"

namespace tilewright::optimum {

// References, which outlive everything made of it. The judge does not refuse the problem.
struct Question {
  const hierarchy::Problem& problem;
  const hierarchy::Machine& machine;
  hierarchy::Judge judge;
  const hierarchy::Restriction& restriction;
};

}  // namespace tilewright::optimum
