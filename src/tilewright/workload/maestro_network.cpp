// A MAESTRO file read for its layers; what it says about dataflow is left aside.
//
//   CONV    K C Y X R S      convolution without padding; Y and X are input sizes, Y' and X' output sizes
//   DSCONV  C Y X R S        depthwise; a K of 1 or C says nothing more
//   NGCONV  G K C Y X R S    grouped; K and C are those of one group
//   TRCONV  K C Y X R S      transposed; the language has no word for its stride, which the real parser takes to be 2
//   GEMM    M N K            matrix multiply
//
// The file knows no edges: each layer is fed by the one above it.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/tokens.hpp"
#include "tilewright/workload/maestro_file.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kTransposedStride = 2;

class Shape {
 public:
  explicit Shape(const MaestroLayer& layer) : layer_(layer) {}

  bool has(std::string_view dim) const {
    return std::ranges::any_of(layer_.dims, [&](const auto& entry) { return entry.first == dim; });
  }

  // The size of `dim`; its absence is remembered and ends in an Error.
  std::int64_t operator[](std::string_view dim) {
    for (const auto& [name, size] : layer_.dims) {
      if (name == dim) return size;
    }
    if (missing_.empty()) missing_ = dim;
    return 1;
  }

  std::int64_t stride(std::string_view dim, std::int64_t otherwise = 1) const {
    std::int64_t stride = otherwise;
    for (const auto& [name, size] : layer_.strides) {
      if (name == dim) stride = size;
    }
    return stride;
  }

  const std::string& missing() const { return missing_; }

 private:
  const MaestroLayer& layer_;
  std::string missing_;
};

struct Extent {
  std::int64_t input = 1;
  std::int64_t stride = 1;
};

// Input rows or columns, from Y and its stride or from Y' and its own.
Extent extent_of(Shape& shape, const std::string& input, std::int64_t kernel, std::int64_t stride) {
  const std::string output = input + "'";
  if (shape.has(input) || !shape.has(output)) return {shape[input], shape.stride(input, stride)};
  const std::int64_t given = shape.stride(output, stride);
  return {(shape[output] - 1) * given + kernel, given};
}

Layer convolution_of(Shape& shape, const MaestroLayer& maestro) {
  const bool depthwise = maestro.type == "DSCONV";
  const bool grouped = maestro.type == "NGCONV";
  const bool transposed = maestro.type == "TRCONV";
  Layer layer;
  layer.op = depthwise ? Operator::Depthwise : transposed ? Operator::TransposedConvolution : Operator::Convolution;
  layer.batch = shape.has("N") ? shape["N"] : 1;
  layer.groups = depthwise ? shape["C"] : grouped ? shape["G"] : 1;
  layer.in_channels = grouped ? shape["G"] * shape["C"] : shape["C"];
  layer.out_channels = depthwise ? shape["C"] : grouped ? shape["G"] * shape["K"] : shape["K"];
  layer.kernel_height = shape["R"];
  layer.kernel_width = shape["S"];
  const std::int64_t stride = transposed ? kTransposedStride : 1;
  const Extent rows = extent_of(shape, "Y", layer.kernel_height, stride);
  const Extent columns = extent_of(shape, "X", layer.kernel_width, stride);
  layer.in_height = rows.input;
  layer.in_width = columns.input;
  layer.stride_height = rows.stride;
  layer.stride_width = columns.stride;
  return layer;
}

// Dimensions that would multiply the work and that a layer of this type has no place for.
std::string unexpected_dim(const MaestroLayer& layer) {
  const std::vector<std::string_view> known =
      layer.type == "GEMM" ? std::vector<std::string_view>{"M", "N", "K"}
                           : std::vector<std::string_view>{"N", "K", "C", "Y", "X", "R", "S", "Y'", "X'"};
  for (const auto& [name, size] : layer.dims) {
    const bool group = layer.type == "NGCONV" && name == "G";
    if (size > 1 && !group && std::ranges::find(known, name) == known.end()) return name;
  }
  return "";
}

Result<Layer> layer_of(const MaestroLayer& maestro) {
  if (const std::string name = unexpected_dim(maestro); !name.empty())
    return invalid(fmt::format("layer {}: {} has no use for dimension {}, expected it to be 1 or left out",
                               in_quotes(maestro.name), maestro.type, in_quotes(name)));
  Shape shape(maestro);
  Layer layer;
  if (maestro.type == "GEMM") {
    layer = matrix_multiply(maestro.name, {.rows = shape["M"], .inner = shape["K"], .columns = shape["N"]});
  } else {
    layer = convolution_of(shape, maestro);
    layer.name = maestro.name;
  }
  if (!shape.missing().empty())
    return invalid(fmt::format("layer {}: {} has no dimension {}, expected it", in_quotes(maestro.name), maestro.type,
                               in_quotes(shape.missing())));
  if (layer.op == Operator::Depthwise && shape.has("K") && shape["K"] != 1 && shape["K"] != shape["C"])
    return invalid(fmt::format("layer {}: K is {}, expected 1 or C, which is {}, for a DSCONV", in_quotes(maestro.name),
                               shape["K"], shape["C"]));
  return check(std::move(layer));
}

}  // namespace

Result<Network> network_from_maestro(const std::string& text, const std::string& where) {
  TW_TRY(const MaestroFile file, parse_maestro(text, where, FilterTiles::Any));
  Network network;
  network.name = file.network.empty() ? std::filesystem::path(where).stem().string() : file.network;
  for (const MaestroLayer& maestro : file.layers) {
    const Result<Layer> layer = layer_of(maestro);
    if (!layer) return invalid(fmt::format("{}:{}: {}", where, maestro.line, layer.error().message));
    NetworkLayer entry;
    entry.layer = *layer;
    if (!network.layers.empty()) entry.inputs.push_back(network.layers.size() - 1);
    network.layers.push_back(std::move(entry));
  }
  if (network.layers.empty())
    return invalid(fmt::format("{}: has no layers, expected a Network block with at least one", where));
  return network;
}

}  // namespace tilewright
