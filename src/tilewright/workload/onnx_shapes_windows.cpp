// Shape rules of operators that slide windows, resize, reduce or run over a sequence.
#include <cmath>
#include <unordered_map>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/onnx_recurrent.hpp"
#include "tilewright/workload/onnx_shapes.hpp"

namespace tilewright::onnx_file {
namespace {

Shapes pool(const NodeView& view) {
  const Dims* input = view.shape(0);
  const auto windows = pool_windows(view);
  if (!windows) return {};
  Dims result(input->begin(), input->begin() + 2);
  result.insert(result.end(), windows->out.begin(), windows->out.end());
  return {result, result};
}

Shapes global_pool(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr || input->size() < 2) return {};
  Dims result(input->size(), 1);
  result[0] = (*input)[0];
  const bool channels_last = view.integer("channels_last", 0) != 0;
  (channels_last ? result.back() : result[1]) = channels_last ? input->back() : (*input)[1];
  return {result};
}

// Axes are an attribute or the second input; none given means all of them, unless the node says that it means none.
Shapes reduce(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto axes = view.integers("axes", 1);
  const bool keeps = view.integer("keepdims", 1) != 0;
  if (!axes && view.input(1) != nullptr) return keeps ? Shapes{Dims(input->size(), kUnknown)} : Shapes{};
  const bool has_axes = axes && !axes->empty();
  if (!has_axes && view.integer("noop_with_empty_axes", 0) != 0) return {*input};
  std::vector<bool> is_reduced(input->size(), !has_axes);
  for (const std::int64_t axis : axes.value_or(Dims{})) {
    const auto index = axis_in(axis, input->size());
    if (!index) return {};
    is_reduced[*index] = true;
  }
  Dims result;
  for (std::size_t i = 0; i < input->size(); ++i) {
    if (!is_reduced[i]) result.push_back((*input)[i]);
    if (is_reduced[i] && keeps) result.push_back(1);
  }
  return {result};
}

Shapes arg_reduce(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto axis = axis_in(view.integer("axis", 0), input->size());
  if (!axis) return {};
  Dims result = *input;
  result[*axis] = 1;
  if (view.integer("keepdims", 1) == 0) result.erase(result.begin() + static_cast<std::ptrdiff_t>(*axis));
  return {result};
}

Shapes top_k(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const auto axis = axis_in(view.integer("axis", -1), input->size());
  if (!axis) return {};
  const auto count = to_integers(view.elements(1));
  Dims result = *input;
  result[*axis] = view.integer("k", count && count->size() == 1 ? (*count)[0] : kUnknown);
  return {result, result};
}

// Scales, or sizes, for all axes or for those the node names.
Shapes resize(const NodeView& view) {
  const Dims* input = view.shape(0);
  if (input == nullptr) return {};
  const Dims unknown(input->size(), kUnknown);
  auto axes = integers(view.node, "axes");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < input->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  // Upsample and the first Resize have the scales second, later ones third and sizes fourth.
  const bool is_early = view.node.inputs.size() <= 2;
  const auto attribute = numbers(view.node, "scales");
  const auto* scales = attribute ? &*attribute : view.elements(is_early ? 1 : 2);
  const auto* sizes = view.elements(3);
  const bool has_scales = scales != nullptr && scales->size() == axes->size();
  const bool has_sizes = sizes != nullptr && sizes->size() == axes->size();
  const std::string policy = text(view.node, "keep_aspect_ratio_policy");
  if ((!has_scales && !has_sizes) || (has_sizes && !policy.empty() && policy != "stretch")) return {unknown};
  Dims result = *input;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_in((*axes)[i], input->size());
    if (!axis) return {};
    std::int64_t& dim = result[*axis];
    if (has_sizes) {
      dim = to_integer((*sizes)[i]).value_or(kUnknown);
    } else if (dim != kUnknown) {
      // In single precision, as the scales are and as runtimes multiply.
      dim = to_integer(std::floor(static_cast<float>(dim) * static_cast<float>((*scales)[i]))).value_or(kUnknown);
    }
  }
  return {result};
}

Shapes recurrent(const NodeView& view) {
  const auto it = recurrent_of(view);
  if (!it) return {};
  if (it->is_batch_first) {
    const Dims last{it->batch, it->directions, it->hidden};
    return {Dims{it->batch, it->steps, it->directions, it->hidden}, last, last};
  }
  const Dims last{it->directions, it->batch, it->hidden};
  return {Dims{it->steps, it->directions, it->batch, it->hidden}, last, last};
}

// The offsets, [batch, …, positions…], have one entry for every position of the window.
Shapes deformable(const NodeView& view) {
  const Dims* weight = view.shape(1);
  const Dims* offsets = view.shape(2);
  if (weight == nullptr || offsets == nullptr || weight->empty() || offsets->size() < 3) return {};
  Dims result = *offsets;
  result[1] = (*weight)[0];
  return {result};
}

Shapes roi_align(const NodeView& view) {
  const Dims* input = view.shape(0);
  const Dims* rois = view.shape(1);
  if (input == nullptr || rois == nullptr || input->size() != 4 || rois->empty()) return {};
  const auto pooled =
      integers(view.node, "pooled_shape").value_or(Dims{view.integer("output_height", 1), view.integer("output_width", 1)});
  if (pooled.size() != 2) return {};
  return {Dims{(*rois)[0], (*input)[1], pooled[0], pooled[1]}};
}

Shapes grid_sample(const NodeView& view) {
  const Dims* input = view.shape(0);
  const Dims* grid = view.shape(1);
  if (input == nullptr || grid == nullptr || input->size() < 3 || grid->size() != input->size()) return {};
  Dims result{(*input)[0], (*input)[1]};
  result.insert(result.end(), grid->begin() + 1, grid->end() - 1);
  return {result};
}

Shapes max_unpool(const NodeView& view) {
  if (const auto given = to_integers(view.elements(2))) return {*given};
  const Dims* input = view.shape(0);
  const auto kernel = integers(view.node, "kernel_shape");
  if (view.input(2) != nullptr || input == nullptr || !kernel || input->size() != kernel->size() + 2) return {};
  const Dims ones(kernel->size(), 1), zeros(2 * kernel->size(), 0);
  const Dims stride = integers(view.node, "strides").value_or(ones), pads = integers(view.node, "pads").value_or(zeros);
  if (stride.size() != kernel->size() || pads.size() != 2 * kernel->size()) return {};
  Dims result = *input;
  for (std::size_t i = 0; i < kernel->size(); ++i) {
    const std::int64_t grown = plus(times((*input)[i + 2] - 1, stride[i]), (*kernel)[i]);
    const std::int64_t cut = plus(pads[i], pads[i + kernel->size()]);
    result[i + 2] = grown == kUnknown || cut == kUnknown ? kUnknown : grown - cut;
  }
  return {result};
}

Shapes non_max_suppression(const NodeView&) { return {Dims{kUnknown, 3}}; }

}  // namespace

ShapeRule window_rule(std::string_view kind) {
  if (kind.starts_with("Reduce")) return reduce;
  static const std::unordered_map<std::string_view, ShapeRule> table{
      {"MaxPool", pool},
      {"AveragePool", pool},
      {"LpPool", pool},
      {"QLinearAveragePool", pool},
      {"GlobalAveragePool", global_pool},
      {"GlobalMaxPool", global_pool},
      {"GlobalLpPool", global_pool},
      {"QLinearGlobalAveragePool", global_pool},
      {"LRN", [](const NodeView& view) { return view.shape(0) == nullptr ? Shapes{} : Shapes{*view.shape(0)}; }},
      {"ArgMax", arg_reduce},
      {"ArgMin", arg_reduce},
      {"TopK", top_k},
      {"Resize", resize},
      {"Upsample", resize},
      {"RNN", recurrent},
      {"GRU", recurrent},
      {"LSTM", recurrent},
      {"DynamicQuantizeLSTM", recurrent},
      {"DeformConv", deformable},
      {"RoiAlign", roi_align},
      {"MaxRoiPool", roi_align},
      {"GridSample", grid_sample},
      {"MaxUnpool", max_unpool},
      {"NonMaxSuppression", non_max_suppression},
  };
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tilewright::onnx_file
