// Small problems, machines and mappings by chance.
#pragma once

#include "tilewright/base/rng.hpp"
#include "tilewright/hierarchy/evaluator.hpp"

namespace tilewright::hierarchy {

struct Case {
  Problem problem;
  Machine machine;
  Mapping mapping;
};

// A convolution (strided, dilated, depthwise) or a product with at most a few hundred points; the mapping fits a machine
// without limits of capacity.
Case random_case(Rng& rng, Factors factors);

}  // namespace tilewright::hierarchy
