// A nest: the loops of a layer as a mapping tiles them, in MAESTRO's letters.
//
//   K output channels   C input channels   Y, X input rows and columns (padding included)   R, S kernel rows and columns
//   N batch             G groups           Y', X' output rows and columns                   matrix multiply: M x K times K x
//   N
//
// Dim is ordered as MAESTRO orders names (alphabetically), which decides where it appends missing loops.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright {

// Other0…Other3 stand for names a MAESTRO file declares beyond the known letters; no tensor has them.
enum class Dim : std::uint8_t { C, G, K, M, N, R, S, X, Y, OutX, OutY, Other0, Other1, Other2, Other3 };
inline constexpr std::size_t kDimCount = 15;

std::string_view name_of(Dim dim);                    // "K", "Y'", "other0"
std::optional<Dim> dim_named(std::string_view name);  // known letters only

enum class NestKind : std::uint8_t { Convolution, Depthwise, Grouped, MatrixMultiply };

struct Nest {
  NestKind kind = NestKind::Convolution;
  bool batched = false;                          // N belongs to input and output; of a matrix multiply, G to all tensors
  std::array<std::int32_t, kDimCount> size{};    // 0 = the nest has no such loop
  std::array<std::int32_t, kDimCount> stride{};  // of X and Y; 0 or 1 = none
  std::int64_t declared_input = 0;  // elements as MAESTRO multiplies what a file declares; 0 = what the sizes say
  std::int64_t declared_weight = 0;

  bool has(Dim dim) const { return size[static_cast<std::size_t>(dim)] > 0; }
  std::int32_t operator[](Dim dim) const { return size[static_cast<std::size_t>(dim)]; }
  std::int32_t& operator[](Dim dim) { return size[static_cast<std::size_t>(dim)]; }
  bool operator==(const Nest&) const = default;
};

// Output rows (dim = Y) or columns (X) of a convolution, stride counted; 0 when the kernel does not fit.
std::int64_t outputs_along(const Nest& nest, Dim dim);

// Multiplications the nest really asks for, whatever a mapping does; the largest number there is when they are more.
Macs macs(const Nest& nest);

// The loops of `layer`. Padding is part of Y and X. A dilated convolution keeps its taps and outputs and loses the gaps
// between taps; a transposed convolution becomes the convolution of its sub-pixels (docs/cost_model.md tells both).
// An Error when a size does not fit 31 bits.
Result<Nest> nest_of(const Layer& layer);

}  // namespace tilewright
