// The dimension table the real program builds for a layer, oddities included: of a name given twice the table keeps the
// first size while derived sizes use the last, and the derived X and Y swap their strides. Where it would read a variable it
// never set, or look up a dimension no layer of the type can do without, the answer here is an Error.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/tokens.hpp"
#include "tilewright/workload/maestro_file.hpp"

namespace tilewright {
namespace {

std::int32_t stride_of(const MaestroLayer& layer, std::string_view dim) {
  std::int32_t stride = 1;
  for (const auto& [name, size] : layer.strides) {
    if (name == dim) stride = size;
  }
  return stride;
}

std::int32_t first_size(const MaestroLayer& layer, std::string_view dim) {
  const auto found = std::ranges::find(layer.dims, dim, &std::pair<std::string, std::int32_t>::first);
  return found == layer.dims.end() ? 0 : found->second;
}

// Derived sizes come from the last size given, although the table keeps the first.
std::int32_t last_size(const MaestroLayer& layer, std::string_view dim) {
  std::int32_t size = 0;
  for (const auto& [name, extent] : layer.dims) {
    if (name == dim) size = extent;
  }
  return size;
}

NestKind kind_of(const MaestroLayer& layer) {
  if (layer.type == "DSCONV") return NestKind::Depthwise;
  if (layer.type == "NGCONV") return NestKind::Grouped;
  if (layer.type == "GEMM") return NestKind::MatrixMultiply;
  return NestKind::Convolution;  // TRCONV too: the real program computes it as a CONV
}

Error layer_error(const MaestroLayer& layer, const std::string& sentence) {
  return invalid(fmt::format("{}:{}: layer {}: {}", layer.where, layer.line, in_quotes(layer.name), sentence));
}

// One axis of a convolution: rows (Y, Y', R) or columns (X, X', S). Given the one of input and output size, adds the other.
struct AxisDims {
  Dim in, out, filter;
};

Result<Done> derive(Nest& nest, const MaestroLayer& layer, const AxisDims& axis, std::string_view stride_source) {
  const std::string in(name_of(axis.in));
  const std::string out(name_of(axis.out));
  const bool has_in = first_size(layer, in) > 0;
  const bool has_out = first_size(layer, out) > 0;
  if (has_in && has_out) return layer_error(layer, fmt::format("has both {} and {}, expected one of them", in, out));
  if (!has_in && !has_out) return layer_error(layer, fmt::format("has no dimension {}, expected {} or {}", in, in, out));
  const std::int64_t filter = last_size(layer, name_of(axis.filter));
  const auto at = [](Dim dim) { return static_cast<std::size_t>(dim); };
  if (has_in) {
    nest[axis.out] = static_cast<std::int32_t>(last_size(layer, in) - filter + 1);
    nest.stride[at(axis.out)] = nest.stride[at(axis.in)];
    return Done{};
  }
  const std::int64_t extent = last_size(layer, out) + filter - 1;
  if (extent > std::numeric_limits<std::int32_t>::max())
    return layer_error(
        layer, fmt::format("{} and {} make {} {}, expected at most 2147483647", out, name_of(axis.filter), in, extent));
  nest[axis.in] = static_cast<std::int32_t>(extent);
  nest.stride[at(axis.in)] = stride_of(layer, stride_source);
  return Done{};
}

// The real program's tensor sizes multiply every declared entry: one given twice counts twice, a derived one not at all.
void declare_elements(Nest& nest, const MaestroLayer& layer) {
  const bool matrix = nest.kind == NestKind::MatrixMultiply;
  const std::string_view input = matrix ? "MK" : nest.kind == NestKind::Grouped ? "GCYX" : "CYX";
  const std::string_view weight = matrix                             ? "KN"
                                  : nest.kind == NestKind::Grouped   ? "GKCRS"
                                  : nest.kind == NestKind::Depthwise ? "CRS"
                                                                     : "KCRS";
  nest.declared_input = nest.declared_weight = 1;
  for (const auto& [name, size] : layer.dims) {
    if (name.size() != 1) continue;
    const auto multiply = [size = size](std::int64_t& product) {
      product = static_cast<std::int64_t>(static_cast<std::uint64_t>(product) * static_cast<std::uint64_t>(size));
    };
    if (input.find(name[0]) != std::string_view::npos || (nest.batched && name == "N")) multiply(nest.declared_input);
    if (weight.find(name[0]) != std::string_view::npos) multiply(nest.declared_weight);
  }
}

}  // namespace

std::optional<Dim> DimNames::intern(const std::string& name) {
  if (const auto known = dim_named(name)) return known;
  const auto dim_at = [](std::size_t index) { return static_cast<Dim>(static_cast<std::size_t>(Dim::Other0) + index); };
  for (std::size_t index = 0; index < others_.size(); ++index) {
    if (others_[index] == name) return dim_at(index);
  }
  // Our own writer spells these dimensions other0…other3; read back, each is itself again.
  std::optional<std::size_t> free;
  for (std::size_t index = others_.size(); index-- > 0;) {
    if (!others_[index].empty()) continue;
    if (!free || name_of(dim_at(*free)) != name) free = index;
  }
  if (!free) return std::nullopt;
  others_[*free] = name;
  return dim_at(*free);
}

Result<Nest> nest_of(const MaestroFile& file, std::size_t index, DimNames& names) {
  const MaestroLayer& layer = file.layers.at(index);
  Nest nest;
  nest.kind = kind_of(layer);
  const auto first_of_type = std::ranges::find_if(file.layers, [&](const auto& l) { return kind_of(l) == nest.kind; });
  nest.batched = nest.kind != NestKind::MatrixMultiply && first_size(*first_of_type, "N") > 0;

  for (const auto& [name, size] : layer.dims) {
    // A name that no directive uses and no tensor has changes nothing.
    const auto used = [&name = name](const MaestroDirective& d) {
      return d.kind != MaestroDirective::Kind::Cluster && d.dim == name;
    };
    if (!dim_named(name) && std::ranges::none_of(layer.dataflow, used)) continue;
    const auto dim = names.intern(name);
    if (!dim)
      return layer_error(layer,
                         fmt::format("dimension {} is one more unknown name, expected at most four", in_quotes(name)));
    if (nest.has(*dim)) continue;
    nest[*dim] = size;
    nest.stride[static_cast<std::size_t>(*dim)] = stride_of(layer, name);
  }

  declare_elements(nest, layer);

  std::vector<Dim> needed;
  if (nest.batched) needed.push_back(Dim::N);
  switch (nest.kind) {
    case NestKind::Convolution:
      needed.insert(needed.end(), {Dim::K, Dim::C, Dim::R, Dim::S});
      break;
    case NestKind::Depthwise:
      needed.insert(needed.end(), {Dim::C, Dim::R, Dim::S});
      break;
    case NestKind::Grouped:
      needed.insert(needed.end(), {Dim::G, Dim::K, Dim::C, Dim::R, Dim::S});
      break;
    case NestKind::MatrixMultiply:
      needed.insert(needed.end(), {Dim::M, Dim::N, Dim::K});
      break;
  }
  for (const Dim dim : needed) {
    if (nest.has(dim)) continue;
    const bool by_batch_rule = dim == Dim::N && nest.batched;
    return layer_error(layer, fmt::format("{} has no dimension {}, expected it{}", layer.type, name_of(dim),
                                          by_batch_rule ? " since the first layer of this type has it" : ""));
  }
  if (nest.kind == NestKind::MatrixMultiply) return nest;

  // The real program gives the derived X the stride of Y' and the derived Y that of X', and so needs both or neither.
  if ((first_size(layer, "X'") > 0) != (first_size(layer, "Y'") > 0))
    return layer_error(layer, "has only one of X' and Y', expected X and Y or X' and Y'");
  TW_TRY(const Done columns, derive(nest, layer, {Dim::X, Dim::OutX, Dim::S}, "Y'"));
  TW_TRY(const Done rows, derive(nest, layer, {Dim::Y, Dim::OutY, Dim::R}, "X'"));
  return nest;
}

}  // namespace tilewright
