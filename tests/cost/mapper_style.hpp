// Nests and mappings as mappers draw them: every dimension at every level, any order, tiles cut from tiles.
#pragma once

#include "tilewright/base/rng.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

struct MapperStyle {
  std::int64_t levels = 2;
  bool divisors = false;  // tiles divide what they are cut from
  bool wild = false;      // offsets differ from sizes, tiles may exceed their dimension
};

Nest draw_nest(Rng& rng, NestKind kind, std::int64_t most, bool strided);
Mapping draw_mapping(Rng& rng, const Nest& nest, const MapperStyle& style);

}  // namespace tilewright
