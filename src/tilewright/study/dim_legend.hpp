// What the letters of loops, mappings and parameters stand for: printed wherever they are.
#pragma once

#include <string_view>

#include "tilewright/workload/nest.hpp"

namespace tilewright {

inline std::string_view dim_legend(NestKind kind) {
  if (kind == NestKind::MatrixMultiply) return "M rows, N columns, K the inner dimension, G the batch";
  return "K output channels, C input channels, Y X input rows and columns, Y' X' output rows and columns, R S kernel rows "
         "and "
         "columns, N images, G groups";
}

// Parameters have the same names in all layers.
inline constexpr std::string_view kParameterLegend =
    "DIM@LEVEL, level 0 outermost: K output channels, C input channels, Y X rows and columns, R S those of the kernel, N "
    "images, "
    "G groups; of a matrix multiply K columns, C the inner dimension, Y rows";

// Likewise, of machines with memory levels.
inline constexpr std::string_view kLevelParameterLegend =
    "place.K#0 the level and axis of the first prime factor of loop K, order.K@L and spread.K@L the rank of the loop at "
    "level "
    "L, keep.T@L whether the level keeps tensor T";

}  // namespace tilewright
