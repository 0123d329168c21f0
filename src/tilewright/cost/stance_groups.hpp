// The same model as stance_walk.hpp without visiting every stance.
//
// Three facts make that possible. (1) Everything a stance produces, its multiplicity apart, depends only on which loops are
// at an edge tile (the mask) and on the innermost loop that is not at its first tile (`changed`); the first tile and a
// steady one of an outer loop are alike. (2) A level below depends only on the sizes it is given, and each dimension has
// few: full and edge tiles of the levels above. It is analysed once per combination (its key). (3) Volumes are products of
// one factor per loop. Stances with equal (changed, mask) are one group whose multiplicity is a product. Only four columns
// need the true order of stances; they are gathered in a light second pass when asked for.
#pragma once

#include <memory>
#include <variant>

#include "tilewright/cost/analysis.hpp"

namespace tilewright {

// The mapping has a property the grouping does not cover: walk its stances.
struct NotGrouped {};

class StanceGroups {
 public:
  StanceGroups();
  ~StanceGroups();

  // Uses its own memory over and over; allocates nothing.
  std::variant<Analysis, Infeasible, NotGrouped> analyse(const Plan& plan, const MachineRates& rates, bool all_columns);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace tilewright
