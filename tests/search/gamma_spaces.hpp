// What the tests of GAMMA search in.
#pragma once

#include "gamma_runs.hpp"
#include "tilewright/space/mapping_space.hpp"
#include "tilewright/workload/layer.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

inline const GammaCase kResnet{"resnet18", 2, "latency", 20, 10, 168, 512, 108'000};

inline MappingSpace many_levels(Tiles tiles) {
  Accelerator machine;
  machine.pes = 64;
  MappingSpaceOptions options;
  options.tiles = tiles;
  options.least_levels = 1;
  options.most_levels = 3;
  return MappingSpace(
      "levels",
      *nest_of(convolution(
          "levels",
          {.out_channels = 16, .in_channels = 12, .in_height = 14, .in_width = 14, .kernel_height = 3, .kernel_width = 3})),
      machine, options);
}

}  // namespace tilewright
