// Searchers across the border: ours as objects for Python, and Python's for our loop.
#pragma once

#include <memory>
#include <string>

#include <nanobind/nanobind.h>

#include "space.hpp"

#include "tilewright/study/comparison_plan.hpp"

namespace tilewright::python {

// One row of what a searcher is told: tilewright.VERDICT in NumPy.
struct VerdictRow {
  std::uint8_t feasible, reason;
  double objective;
  double score[kMostObjectives], terms[kMostObjectives];
};
nb::object verdict_array(std::span<const Verdict> verdicts);
// Of rows of tilewright.VERDICT, or of tilewright.OUTCOME, judged by the objective.
std::vector<Verdict> verdicts_from(nb::handle array, const Objective& objective, const std::string& place);

// `factory(space, samples, seed)` gives an object with ask(n) and tell(points, verdicts), one for each layer.
OwnSearcher own_searcher(const std::string& name, const nb::object& factory, std::shared_ptr<const AnyDesign> design);

}  // namespace tilewright::python
