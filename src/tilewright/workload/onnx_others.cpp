#include "tilewright/workload/onnx_others.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "tilewright/workload/onnx_convolution.hpp"
#include "tilewright/workload/onnx_elementwise.hpp"
#include "tilewright/workload/onnx_products.hpp"
#include "tilewright/workload/onnx_recurrent.hpp"

namespace tilewright::onnx_file {
namespace {

constexpr std::string_view kNoArithmetic[] = {"AffineGrid",
                                              "CenterCropPad",
                                              "Compress",
                                              "Concat",
                                              "ConcatFromSequence",
                                              "Constant",
                                              "ConstantOfShape",
                                              "DepthToSpace",
                                              "Expand",
                                              "Flatten",
                                              "Gather",
                                              "GatherElements",
                                              "GatherND",
                                              "If",
                                              "Loop",
                                              "MaxUnpool",
                                              "OneHot",
                                              "Optional",
                                              "OptionalGetElement",
                                              "OptionalHasElement",
                                              "Pad",
                                              "Range",
                                              "Reshape",
                                              "Scan",
                                              "SequenceAt",
                                              "SequenceConstruct",
                                              "SequenceEmpty",
                                              "SequenceErase",
                                              "SequenceInsert",
                                              "SequenceLength",
                                              "SequenceMap",
                                              "Shape",
                                              "Size",
                                              "Slice",
                                              "SpaceToDepth",
                                              "Split",
                                              "SplitToSequence",
                                              "Squeeze",
                                              "Tile",
                                              "Transpose",
                                              "Unsqueeze"};

// What has no rule because its work depends on data, but surely multiplies no matrices.
constexpr std::string_view kNoProducts[] = {"BitShift",
                                            "Multinomial",
                                            "NonMaxSuppression",
                                            "RoiAlign",
                                            "MaxRoiPool",
                                            "RandomNormalLike",
                                            "RandomUniformLike",
                                            "ReverseSequence",
                                            "Scatter",
                                            "ScatterElements",
                                            "ScatterND",
                                            "StringNormalizer",
                                            "TopK",
                                            "Unique"};

// Like times(), but amounts of work are larger than dimensions.
std::int64_t scale(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) ? kUnknown : result;
}

std::int64_t volume(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, scale); }

std::int64_t elements(const Dims* shape) { return shape == nullptr ? kUnknown : volume(*shape); }

const Dims* result_shape(const NodeView& view) {
  if (view.node.outputs.empty() || view.node.outputs[0] == kNone) return nullptr;
  const auto& shape = view.graph.tensors[view.node.outputs[0]].shape;
  return shape ? &*shape : nullptr;
}

std::int64_t elementwise_operations(const NodeView& view) {
  const Elementwise& entry = *find_elementwise(kind(view.node));
  if (entry.operations == 0) return 0;
  std::int64_t each = entry.operations;
  if (is_variadic(kind(view.node))) {
    each = static_cast<std::int64_t>(view.node.inputs.size()) - (kind(view.node) == "Mean" ? 0 : 1);
  }
  return scale(each, elements(result_shape(view)));
}

std::int64_t pool_operations(const NodeView& view) {
  const auto windows = pool_windows(view);
  return windows ? scale(volume(windows->kernel), elements(result_shape(view))) : kUnknown;
}

std::int64_t reduce_operations(const NodeView& view) {
  const std::string_view op = kind(view.node);
  const bool is_plain =
      op == "ReduceSum" || op == "ReduceMean" || op == "ReduceMax" || op == "ReduceMin" || op == "ReduceProd";
  return scale(is_plain || !op.starts_with("Reduce") ? 1 : 2, elements(view.shape(0)));
}

std::int64_t local_response_operations(const NodeView& view) {
  return scale(plus(view.integer("size", kUnknown), 3), elements(result_shape(view)));
}

std::int64_t taps(const std::string& mode) {
  return mode.find("cubic") != std::string::npos ? 4 : mode.find("near") == 0 ? 0 : 2;
}

std::int64_t resize_operations(const NodeView& view) {
  const std::string mode = text(view.node, "mode");
  const Dims* from = view.shape(0);
  const Dims* to = result_shape(view);
  if (mode.empty() || taps(mode) == 0) return 0;
  if (from == nullptr || to == nullptr || from->size() != to->size()) return kUnknown;
  std::int64_t each = 2;
  for (std::size_t i = 0; i < from->size(); ++i) each = scale(each, (*from)[i] == (*to)[i] ? 1 : taps(mode));
  return scale(each, volume(*to));
}

std::int64_t grid_sample_operations(const NodeView& view) {
  const Dims* to = result_shape(view);
  if (to == nullptr || taps(text(view.node, "mode")) == 0) return to == nullptr ? kUnknown : 0;
  std::int64_t each = 2;
  for (std::size_t i = 2; i < to->size(); ++i) each = scale(each, taps(text(view.node, "mode")));
  return scale(each, volume(*to));
}

// Weight [out, in / groups, kernel…]; the offsets, [batch, …, positions…], have one entry for every position of the window.
std::int64_t deformable_macs(const NodeView& view) {
  const Dims* weight = view.shape(1);
  const Dims* offsets = view.shape(2);
  if (weight == nullptr || offsets == nullptr || offsets->size() < 3) return kUnknown;
  Dims positions = *offsets;
  positions[1] = 1;
  return scale(volume(*weight), volume(positions));
}

std::int64_t deformable_operations(const NodeView& view) { return scale(2, deformable_macs(view)); }

std::int64_t einsum_operations(const NodeView& view) {
  const auto products = products_of(view);
  return products && products->products.empty() ? products->operations : kUnknown;
}

// The sum of three embeddings, normalised.
std::int64_t embed_operations(const NodeView& view) { return scale(9, elements(result_shape(view))); }

// True for what would be a layer if its shape were known and it ran once.
bool is_layer_kind(const NodeView& view) {
  const std::string_view op = kind(view.node);
  if (is_convolution(op) || is_recurrent(op)) return true;
  const auto products = products_of(view);
  return is_product(op) && !(products && products->products.empty());
}

std::int64_t result_elements(const NodeView& view) { return elements(result_shape(view)); }

using Count = std::int64_t (*)(const NodeView&);

Count find_count(std::string_view kind) {
  if (std::ranges::find(kNoArithmetic, kind) != std::end(kNoArithmetic)) {
    return [](const NodeView&) { return std::int64_t{0}; };
  }
  if (find_elementwise(kind) != nullptr) return elementwise_operations;
  if (kind.starts_with("Reduce")) return reduce_operations;
  static const std::unordered_map<std::string_view, Count> table{
      {"MaxPool", pool_operations},
      {"AveragePool", pool_operations},
      {"LpPool", pool_operations},
      {"QLinearAveragePool", pool_operations},
      {"GlobalAveragePool", reduce_operations},
      {"GlobalMaxPool", reduce_operations},
      {"GlobalLpPool", reduce_operations},
      {"QLinearGlobalAveragePool", reduce_operations},
      {"ArgMax", reduce_operations},
      {"ArgMin", reduce_operations},
      {"NonZero", reduce_operations},
      {"LRN", local_response_operations},
      {"Resize", resize_operations},
      {"Upsample", resize_operations},
      {"GridSample", grid_sample_operations},
      {"DeformConv", deformable_operations},
      {"EmbedLayerNormalization", embed_operations},
      {"Einsum", einsum_operations},
      {"RandomNormal", result_elements},
      {"RandomUniform", result_elements},
  };
  const auto found = table.find(kind);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

bool runs_once(const Graph& graph, const Node& node) {
  for (std::size_t region = node.region; region != 0; region = graph.regions[region].parent) {
    if (!graph.regions[region].runs_once) return false;
  }
  return true;
}

std::optional<std::int64_t> operations_of(const NodeView& view) {
  const Count count = find_count(kind(view.node));
  if (count == nullptr) return std::nullopt;
  const std::int64_t operations = count(view);
  if (operations == kUnknown) return std::nullopt;
  // How often the rest runs is not known; nothing times any number is.
  if (operations > 0 && !runs_once(view.graph, view.node)) return std::nullopt;
  return operations;
}

std::optional<std::int64_t> macs_of(const NodeView& view) {
  const std::string_view op = kind(view.node);
  std::int64_t macs = 0;
  if (is_layer_kind(view)) {
    macs = kUnknown;
  } else if (op == "DeformConv") {
    macs = deformable_macs(view);
  } else if (op == "Einsum") {
    const auto products = products_of(view);
    macs = products ? products->macs : kUnknown;
  } else if (find_count(op) == nullptr && std::ranges::find(kNoProducts, op) == std::end(kNoProducts)) {
    macs = kUnknown;
  }
  if (macs == kUnknown || (macs > 0 && !runs_once(view.graph, view.node))) return std::nullopt;
  return macs;
}

std::string other_name(const NodeView& view) {
  const Graph& graph = view.graph;
  for (std::size_t region = view.node.region; region != 0; region = graph.regions[region].parent) {
    if (!graph.regions[region].runs_once) return view.node.op + " (inside " + graph.regions[region].owner + ")";
  }
  return view.node.op + (is_layer_kind(view) ? " (shape unknown)" : "");
}

}  // namespace tilewright::onnx_file
