#include "mapper_style.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace tilewright {

Nest draw_nest(Rng& rng, NestKind kind, std::int64_t most, bool strided) {
  Nest nest;
  nest.kind = kind;
  const auto draw = [&](Dim dim, std::int64_t bound) { nest[dim] = static_cast<std::int32_t>(rng.between(1, bound)); };
  if (kind == NestKind::MatrixMultiply) {
    nest.batched = rng.below(3) == 0;
    if (nest.batched) draw(Dim::G, 4);
    for (const Dim dim : {Dim::M, Dim::N, Dim::K}) draw(dim, most);
    return nest;
  }
  nest.batched = rng.below(4) == 0;
  if (nest.batched) draw(Dim::N, 4);
  if (kind == NestKind::Grouped) draw(Dim::G, 4);
  if (kind != NestKind::Depthwise) draw(Dim::K, most);
  draw(Dim::C, most);
  draw(Dim::R, 4);
  draw(Dim::S, 4);
  for (const auto& [input, output, taps] : {std::tuple(Dim::Y, Dim::OutY, Dim::R), std::tuple(Dim::X, Dim::OutX, Dim::S)}) {
    const std::int64_t stride = strided ? rng.between(1, nest[taps]) : 1;
    nest[input] = static_cast<std::int32_t>((rng.between(1, most) - 1) * stride + nest[taps]);
    nest[output] = nest[input] - nest[taps] + 1;
    nest.stride[static_cast<std::size_t>(input)] = static_cast<std::int32_t>(stride);
  }
  return nest;
}

Mapping draw_mapping(Rng& rng, const Nest& nest, const MapperStyle& style) {
  std::vector<Dim> dims, spreadable;
  std::array<std::int64_t, kDimCount> left{};
  for (const Dim dim : {Dim::N, Dim::G, Dim::K, Dim::C, Dim::M, Dim::OutY, Dim::OutX, Dim::R, Dim::S}) {
    if (!nest.has(dim)) continue;
    dims.push_back(dim);
    if (dim != Dim::R && dim != Dim::S) spreadable.push_back(dim);
    left[static_cast<std::size_t>(dim)] = dim == Dim::OutY   ? outputs_along(nest, Dim::Y)
                                          : dim == Dim::OutX ? outputs_along(nest, Dim::X)
                                                             : nest[dim];
  }
  Mapping mapping;
  for (std::int64_t number = 0; number < style.levels; ++number) {
    MappingLevel level;
    if (number > 0) level.cluster_size = static_cast<std::int32_t>(rng.between(1, 5));
    std::ranges::shuffle(dims, rng);
    const Dim spatial = spreadable[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(spreadable.size())))];
    for (const Dim dim : dims) {
      std::int64_t& bound = left[static_cast<std::size_t>(dim)];
      std::int64_t size = bound;
      if (dim != Dim::R && dim != Dim::S) {
        do size = rng.between(1, bound);
        while (style.divisors && bound % size != 0);
      }
      std::int64_t offset = size;
      if (style.wild && dim != Dim::R && dim != Dim::S) {
        if (rng.below(4) == 0) size += rng.below(3);
        offset = rng.below(3) == 0 ? rng.between(1, size) : size;
      }
      level.directives.push_back({dim == spatial ? Directive::Kind::Spatial : Directive::Kind::Temporal, dim,
                                  static_cast<std::int32_t>(size), static_cast<std::int32_t>(offset)});
      bound = size;
    }
    mapping.levels.push_back(level);
  }
  return mapping;
}

}  // namespace tilewright
