#include "tilewright/workload/quantised_draft.hpp"

#include <algorithm>
#include <numeric>

namespace tilewright {
namespace {

bool is_bounded(const DraftStep& draft) {
  return draft.low != -std::numeric_limits<double>::infinity() || draft.high != std::numeric_limits<double>::infinity();
}

class Fuser {
 public:
  explicit Fuser(Draft& draft) : draft_(draft), stands_for_(draft.steps.size()), readers_(draft.steps.size(), 0) {
    std::iota(stands_for_.begin(), stands_for_.end(), std::size_t{0});
    for (const DraftStep& step : draft.steps) {
      for (const std::size_t input : step.step.inputs) ++readers_[input];
    }
    ++readers_.back();  // the result is read by whoever runs the network
  }

  void run() {
    for (std::size_t index = 0; index < draft_.steps.size(); ++index) {
      DraftStep& step = draft_.steps[index];
      for (std::size_t& input : step.step.inputs) input = stands_for_[input];
      if (step.step.kind == StepKind::Clip) join_clip(index);
      if (step.step.kind == StepKind::Add) join_add(index);
    }
    keep_used();
  }

 private:
  void join(std::size_t index, std::size_t with) {
    stands_for_[index] = with;
    readers_[with] = readers_[index];
  }

  void join_clip(std::size_t index) {
    const DraftStep& clip = draft_.steps[index];
    const std::size_t before = clip.step.inputs[0];
    DraftStep& joined = draft_.steps[before];
    const bool sums = joined.step.kind == StepKind::Product || joined.step.kind == StepKind::Add;
    if (!sums || readers_[before] != 1) return;
    joined.low = std::clamp(joined.low, clip.low, clip.high);
    joined.high = std::clamp(joined.high, clip.low, clip.high);
    joined.range_is_known = joined.range_is_known || clip.range_is_known;
    join(index, before);
  }

  void join_add(std::size_t index) {
    const std::vector<std::size_t> inputs = draft_.steps[index].step.inputs;
    const std::size_t later = std::max(inputs[0], inputs[1]), earlier = std::min(inputs[0], inputs[1]);
    DraftStep& product = draft_.steps[later];
    if (product.step.kind != StepKind::Product || product.step.is_average || product.step.has_residual) return;
    if (readers_[later] != 1 || is_bounded(product)) return;
    product.step.inputs.push_back(earlier);
    product.step.has_residual = true;
    join(index, later);
  }

  void keep_used() {
    const std::size_t result = stands_for_.back();
    std::vector<bool> used(draft_.steps.size(), false);
    used[0] = used[result] = true;
    for (std::size_t index = result + 1; index-- > 0;) {
      if (!used[index]) continue;
      for (const std::size_t input : draft_.steps[index].step.inputs) used[input] = true;
    }
    std::vector<std::size_t> place(draft_.steps.size(), 0);
    std::vector<DraftStep> kept;
    for (std::size_t index = 0; index <= result; ++index) {
      if (!used[index]) continue;
      place[index] = kept.size();
      for (std::size_t& input : draft_.steps[index].step.inputs) input = place[input];
      kept.push_back(std::move(draft_.steps[index]));
    }
    draft_.steps = std::move(kept);
  }

  Draft& draft_;
  std::vector<std::size_t> stands_for_;  // the step that a joined one has become part of
  std::vector<int> readers_;
};

}  // namespace

std::size_t add_step(Draft& draft, StepKind kind, std::string name, std::vector<std::size_t> inputs) {
  DraftStep added;
  added.step.name = std::move(name);
  added.step.kind = kind;
  added.step.inputs = std::move(inputs);
  draft.steps.push_back(std::move(added));
  return draft.steps.size() - 1;
}

std::size_t add_product(Draft& draft, Layer layer, std::vector<std::size_t> inputs) {
  const std::size_t index = add_step(draft, StepKind::Product, layer.name, std::move(inputs));
  draft.steps[index].step.layer = std::move(layer);
  return index;
}

std::size_t add_average(Draft& draft, std::string name, std::size_t input, const TensorShape& shape, const Window& window) {
  Layer layer = convolution(std::move(name), {.batch = shape.batch,
                                              .out_channels = shape.channels,
                                              .in_channels = shape.channels,
                                              .in_height = shape.height,
                                              .in_width = shape.width,
                                              .kernel_height = window.kernel_height,
                                              .kernel_width = window.kernel_width,
                                              .groups = shape.channels});
  layer.stride_height = window.stride_height;
  layer.stride_width = window.stride_width;
  layer.pad_top = window.pad_top;
  layer.pad_bottom = window.pad_bottom;
  layer.pad_left = window.pad_left;
  layer.pad_right = window.pad_right;
  const auto area = static_cast<float>(window.kernel_height * window.kernel_width);
  const std::int64_t weights = shape.channels * window.kernel_height * window.kernel_width;
  const std::size_t index = add_product(draft, std::move(layer), {input});
  draft.steps[index].step.is_average = true;
  draft.steps[index].weight.assign(static_cast<std::size_t>(weights), 1 / area);
  return index;
}

void fuse(Draft& draft) { Fuser(draft).run(); }

}  // namespace tilewright
