#include "random_mapping.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr Dim kLoops[] = {Dim::N, Dim::G, Dim::M, Dim::K, Dim::C, Dim::Y, Dim::X, Dim::R, Dim::S};

bool is_kernel(Dim dim) { return dim == Dim::R || dim == Dim::S; }
bool slides(Dim dim) { return dim == Dim::Y || dim == Dim::X; }
Dim kernel_of(Dim dim) { return dim == Dim::Y ? Dim::R : Dim::S; }

Layer random_layer(Rng& rng) {
  if (rng.below(5) == 0) {
    return matrix_multiply("matrix", {.batch = rng.between(1, 3),
                                      .rows = rng.between(1, 12),
                                      .inner = rng.between(1, 12),
                                      .columns = rng.between(1, 12)});
  }
  ConvolutionShape shape{.batch = rng.below(4) == 0 ? rng.between(2, 3) : 1,
                         .out_channels = rng.between(1, 8),
                         .in_channels = rng.between(1, 8),
                         .kernel_height = rng.between(1, 4),
                         .kernel_width = rng.between(1, 4),
                         .stride = rng.between(1, 3)};
  shape.in_height = shape.kernel_height + rng.below(9);
  shape.in_width = shape.kernel_width + rng.below(9);
  if (rng.below(3) == 0) {
    shape.groups = rng.between(2, 4);
    const bool depthwise = rng.below(2) == 0;
    shape.in_channels = depthwise ? shape.groups : shape.groups * rng.between(2, 4);
    shape.out_channels = depthwise ? shape.groups : shape.groups * rng.between(1, 4);
  }
  return convolution("convolution", shape);
}

std::int64_t random_tile(Rng& rng, TileStyle style, std::int64_t parent) {
  if (style == TileStyle::Ragged) return rng.between(1, parent);
  if (style != TileStyle::Dividing) return rng.between(1, parent + (rng.below(3) == 0 ? 3 : 0));
  std::int64_t tile = rng.between(1, parent);
  while (parent % tile != 0) tile = rng.between(1, parent);
  return tile;
}

}  // namespace

Nest random_nest(Rng& rng, std::int64_t most_macs) {
  for (;;) {
    const Layer layer = random_layer(rng);
    if (macs(layer).value <= most_macs) return nest_of(layer).value();
  }
}

RandomCase random_case(Rng& rng, TileStyle style, std::int64_t most_macs) {
  RandomCase drawn;
  drawn.nest = random_nest(rng, most_macs);
  const Nest& nest = drawn.nest;
  const bool wild = style == TileStyle::Wild;

  std::vector<Dim> dims, spreadable;
  std::array<std::int64_t, kDimCount> parent{};  // of Y and X in outputs
  for (const Dim dim : kLoops) {
    if (!nest.has(dim)) continue;
    dims.push_back(dim);
    if (wild || !is_kernel(dim)) spreadable.push_back(dim);
    parent[static_cast<std::size_t>(dim)] = slides(dim) ? outputs_along(nest, dim) : nest[dim];
  }
  const auto any_spreadable = [&] {
    return spreadable[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(spreadable.size())))];
  };

  const std::int64_t level_count = rng.between(1, 3);
  for (std::int64_t number = 0; number < level_count; ++number) {
    MappingLevel level;
    if (number > 0) {
      level.cluster_size = static_cast<std::int32_t>(rng.between(1, 5));
      drawn.pes *= level.cluster_size;
    }
    const Dim spatial = any_spreadable();
    Dim also_spatial = spatial;
    if (wild && rng.below(4) == 0)
      also_spatial = slides(spatial) && rng.below(2) == 0 ? kernel_of(spatial) : any_spreadable();
    std::vector<Dim> order;
    for (const Dim dim : dims) {
      if (dim == spatial || dim == also_spatial || rng.below(6) != 0) order.push_back(dim);
    }
    if (wild && rng.below(20) == 0) order.push_back(order[0]);
    std::shuffle(order.begin(), order.end(), rng);

    for (const Dim dim : order) {
      std::int64_t& above = parent[static_cast<std::size_t>(dim)];
      std::int64_t tile = random_tile(rng, style, above);
      if (is_kernel(dim) && (!wild || rng.below(3) != 0)) tile = nest[dim];
      std::int64_t offset = wild && rng.below(4) == 0 ? rng.between(1, tile + 2) : tile;
      above = std::min(above, tile);

      Dim written = dim;
      if (slides(dim)) {
        const Dim kernel = kernel_of(dim);
        const std::int64_t stride = std::max(1, nest.stride[static_cast<std::size_t>(dim)]);
        const bool has_kernel = std::ranges::find(order, kernel) != order.end();
        if (has_kernel && rng.below(4) != 0) {  // positions of the kernel, of which every stride-th is an output
          written = dim == Dim::Y ? Dim::OutY : Dim::OutX;
          tile = (tile - 1) * stride + rng.between(1, stride);
          if (stride > 1) offset = tile;
        } else {
          tile = (tile - 1) * stride + nest[kernel];
          offset *= stride;
        }
      }
      const auto kind = dim == spatial || dim == also_spatial ? Directive::Kind::Spatial : Directive::Kind::Temporal;
      level.directives.push_back({kind, written, static_cast<std::int32_t>(tile), static_cast<std::int32_t>(offset)});
    }
    drawn.mapping.levels.push_back(level);
  }
  drawn.pes = drawn.pes * rng.between(1, 6) + rng.below(2);
  return drawn;
}

std::string to_text(const RandomCase& drawn) {
  std::string text = fmt::format("{} processing elements,", drawn.pes);
  for (std::size_t d = 0; d < kDimCount; ++d) {
    const Dim dim = static_cast<Dim>(d);
    if (drawn.nest.has(dim)) text += fmt::format(" {}={}", name_of(dim), drawn.nest[dim]);
    if (drawn.nest.stride[d] > 1) text += fmt::format("/{}", drawn.nest.stride[d]);
  }
  return text + "\n" + to_maestro(drawn.mapping);
}

}  // namespace tilewright
