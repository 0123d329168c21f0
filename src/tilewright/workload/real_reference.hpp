// The numbers a Draft computes before anything is rounded: what its integers are compared with.
#pragma once

#include <span>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/workload/quantised_draft.hpp"

namespace tilewright {

// A Draft with the shapes of its results and every weight as a number.
struct RealNetwork {
  Draft draft;
  std::vector<TensorShape> shapes;  // by step
};
// An Error about the first step that cannot be, or has a weight that is no number.
Result<RealNetwork> real_network(Draft draft);

using RealTensors = std::vector<std::vector<float>>;  // by step

// What a Product or Add is before its bounds.
std::vector<float> real_sums(const RealNetwork& network, std::size_t step, const RealTensors& tensors, ThreadPool& pool);
// The result of any step but the input, whose inputs' results are in `tensors`.
std::vector<float> run_real_step(const RealNetwork& network, std::size_t step, const RealTensors& tensors, ThreadPool& pool);
// In place, the bounds of a step.
void clip(const DraftStep& step, std::vector<float>& numbers);

}  // namespace tilewright
