// What every mapping costs at least, in a fraction of a millisecond: each multiplication takes its operands from somewhere,
// and every word comes from the outermost level once.
//
//   energy >= MACs + sum over tensors of the cheapest way from the outermost level to the MACs
//   cycles >= computes / MACs that factors can occupy, and what each port has to carry
//
// Under model timeloop some shifts of a sliding tensor are free although data moves, so only dimensions that are alone in
// their rank count there; under model hierarchy all different words do.
#pragma once

#include "tilewright/optimum/goal.hpp"
#include "tilewright/optimum/question.hpp"

namespace tilewright::optimum {

struct Floor {
  double cycles = 1;
  double energy = 0;  // pJ
  std::uint8_t bottleneck = hierarchy::kMacLevel;

  double value(Goal goal) const { return value_of(goal, energy, cycles); }
};

// Of every mapping that the restriction allows and that spreads loops only where a level has several copies inside; of
// ragged ones, too (model hierarchy).
Floor floor_of(const Question& question);

}  // namespace tilewright::optimum
