#include <algorithm>

#include <fmt/format.h>

#include "tilewright/workload/data_calibration.hpp"

namespace tilewright {
namespace {

// A clip that all readers of the input see, as an integer model has it.
void join_clip_of_input(Draft& draft) {
  std::size_t readers = 0, clip = 0;
  for (std::size_t index = 1; index < draft.steps.size(); ++index) {
    for (const std::size_t input : draft.steps[index].step.inputs) {
      if (input != 0) continue;
      ++readers;
      clip = index;
    }
  }
  if (readers != 1 || draft.steps[clip].step.kind != StepKind::Clip || draft.steps.size() < 3) return;
  DraftStep& input = draft.steps[0];
  const DraftStep& from = draft.steps[clip];
  input.low = from.low;
  input.high = from.high;
  input.range_is_known = from.range_is_known;
  draft.input_range = {from.low, from.high};
  for (DraftStep& entry : draft.steps) {
    for (std::size_t& index : entry.step.inputs) {
      if (index == clip) index = 0;
      if (index > clip) --index;
    }
  }
  draft.steps.erase(draft.steps.begin() + static_cast<std::ptrdiff_t>(clip));
}

// A sum of two tensors, or a clip, as a depthwise convolution by one.
void become_product(DraftStep& entry, const TensorShape& shape) {
  QuantisedStep& step = entry.step;
  step.has_residual = step.kind == StepKind::Add;
  step.kind = StepKind::Product;
  step.is_extra = true;
  step.layer = convolution(step.name, {.batch = shape.batch,
                                       .out_channels = shape.channels,
                                       .in_channels = shape.channels,
                                       .in_height = shape.height,
                                       .in_width = shape.width,
                                       .groups = shape.channels});
  entry.weight.assign(static_cast<std::size_t>(shape.channels), 1);
}

}  // namespace

Result<RealNetwork> calibrated_form(Draft draft) {
  fuse(draft);
  join_clip_of_input(draft);
  TW_TRY(RealNetwork network, real_network(std::move(draft)));
  for (std::size_t index = 1; index < network.shapes.size(); ++index) {
    DraftStep& entry = network.draft.steps[index];
    const QuantisedStep& step = entry.step;
    if (step.kind == StepKind::Product && step.layer.op == Operator::MatrixMultiply) {
      return invalid(
          fmt::format("{}: step '{}': is a product of two tensors, expected constant weights: calibration by data "
                      "has no form for it",
                      network.draft.name, step.name));
    }
    if (step.kind == StepKind::Add || step.kind == StepKind::Clip) become_product(entry, network.shapes[index]);
  }
  return network;
}

}  // namespace tilewright
