// What tests of mapping spaces share: a small layer of every kind, a machine, and ways to draw points.
#pragma once

#include <string>
#include <vector>

#include "tilewright/space/codesign_optimum.hpp"
#include "tilewright/space/mapping_space.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright {

struct NamedNest {
  std::string name;
  Nest nest;
};

// A small layer of every kind.
inline std::vector<NamedNest> all_kinds() {
  const auto nest = [](const Layer& layer) { return NamedNest{layer.name, *nest_of(layer)}; };
  ConvolutionShape shape{.out_channels = 12, .in_channels = 8, .in_height = 10, .in_width = 8};
  shape.kernel_height = shape.kernel_width = 3;
  ConvolutionShape strided = shape, depthwise = shape, grouped = shape, batched = shape;
  strided.stride = 2;
  depthwise.groups = depthwise.out_channels = depthwise.in_channels;
  grouped.groups = 4;
  batched.batch = 6;
  return {nest(convolution("convolution", shape)),
          nest(convolution("strided", strided)),
          nest(convolution("depthwise", depthwise)),
          nest(convolution("grouped", grouped)),
          nest(convolution("batched", batched)),
          nest(matrix_multiply("product", {.batch = 4, .rows = 12, .inner = 20, .columns = 18})),
          nest(fully_connected("dense", 2, 24, 30))};
}

// Room for everything, and a network slow enough for the order of loops to matter.
inline Accelerator machine(std::int64_t pes = 16) {
  Accelerator accelerator;
  accelerator.name = "test";
  accelerator.pes = pes;
  accelerator.noc.bandwidth = 1;
  return accelerator;
}

inline MappingSpaceOptions options_of(Tiles tiles, std::size_t least_levels, std::size_t most_levels,
                                      bool search_pes = false, Model model = Model::Sound,
                                      Constraints constraints = Constraints::Report) {
  MappingSpaceOptions options;
  options.tiles = tiles;
  options.least_levels = least_levels;
  options.most_levels = most_levels;
  options.search_pes = search_pes;
  options.evaluate.model = model;
  options.evaluate.constraints = constraints;
  return options;
}

// Legal, but not canonical; every third entry is the largest, so that many loops have one step.
inline Point careless_point(const DesignSpace& space, Rng& rng) {
  Choices choices;
  Point point(space.parameters().size());
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    const bool largest = rng.below(3) == 0;
    point[parameter] = largest ? choices.back() : choices[static_cast<std::int32_t>(rng.below(choices.count()))];
  }
  return point;
}

// Legal, outer tiles often whole and inner ones often the smallest, so that the loops of inner levels have many steps.
inline Point stepping_point(const MappingSpace& space, Rng& rng) {
  Choices choices;
  Point point(space.parameters().size());
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    point[parameter] = choices[static_cast<std::int32_t>(rng.below(choices.count()))];
    if (space.parameters()[parameter].role != Role::Tile || rng.below(3) == 0) continue;
    const bool inner = space.parameters()[parameter].name.back() - '0' + 1 == static_cast<int>(space.level_count(point));
    point[parameter] = inner ? choices[0] : choices.back();
  }
  space.canonicalise(point);
  return point;
}

inline bool is_canonical(const DesignSpace& space, const Point& point) {
  Point canonical = point;
  space.canonicalise(canonical);
  return canonical == point;
}

inline std::string design_of(const DesignSpace& space, PointView point) {
  std::string bytes;
  space.append_design(point, bytes);
  return bytes;
}

}  // namespace tilewright
