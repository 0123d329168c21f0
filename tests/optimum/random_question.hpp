// Small machines, problems and restrictions by chance, with everything a machine can have.
#pragma once

#include "tilewright/base/rng.hpp"
#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/restriction.hpp"

namespace tilewright::optimum {

struct RandomQuestion {
  hierarchy::Problem problem;
  hierarchy::Machine machine;
  hierarchy::Judge judge = hierarchy::Judge::Timeloop;
  hierarchy::Restriction restriction;
};

RandomQuestion random_question(Rng& rng);

}  // namespace tilewright::optimum
