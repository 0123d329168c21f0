// The loops of a layer by what they do, so that one recipe serves convolutions and matrix multiplies.
//
//   role          convolution   depthwise   grouped   matrix multiply
//   Batch         N             N           N
//   Group                                   G         G (independent products)
//   Out           K                         K         N (columns of the result)
//   In            C             C           C         K (the inner dimension)
//   Row, Column   Y', X'        Y', X'      Y', X'    M
//   FilterRow, FilterColumn: R, S, always whole
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

enum class LoopRole : std::uint8_t { Batch, Group, Out, In, Row, Column, FilterRow, FilterColumn };
inline constexpr std::size_t kRoleCount = 8;
inline constexpr LoopRole kRoles[kRoleCount] = {LoopRole::Batch,     LoopRole::Group,       LoopRole::Out,
                                                LoopRole::In,        LoopRole::Row,         LoopRole::Column,
                                                LoopRole::FilterRow, LoopRole::FilterColumn};
template <typename T>
using PerRole = std::array<T, kRoleCount>;
constexpr std::size_t index(LoopRole role) { return static_cast<std::size_t>(role); }

struct RoleLoop {
  Dim dim = Dim::K;
  std::int64_t extent = 0;  // indices; for Row and Column outputs; 0 = the nest has no such loop
  std::int64_t stride = 1;
};

struct RoleLoops {
  PerRole<RoleLoop> loop;
  NestKind kind = NestKind::Convolution;
  bool single_strided = true;  // strided rows and columns come one output at a time

  const RoleLoop& operator[](LoopRole role) const { return loop[index(role)]; }
  bool slides(LoopRole role) const {
    return kind != NestKind::MatrixMultiply && (role == LoopRole::Row || role == LoopRole::Column);
  }
  bool strided(LoopRole role) const { return slides(role) && loop[index(role)].stride > 1; }
  bool single(LoopRole role) const { return single_strided && strided(role); }
};

// The loops of `nest` by role; an Error when it lacks one that its kind cannot do without, or computes nothing.
Result<RoleLoops> roles_of(const Nest& nest);

// Which tensors have a loop of `role`.
struct TensorRoles {
  bool input = false, weight = false, output = false;
};
TensorRoles tensors_with(LoopRole role, NestKind kind);

// Elements and MACs of a tile. Not whole numbers: tiles of a search may be larger than 63 bits count.
struct TileVolumes {
  double input = 1, weight = 1, output = 1;
  double output_at_input_size = 1;  // how MAESTRO sizes outputs in L1
  double macs = 1;
};
TileVolumes volumes_of(const RoleLoops& loops, const PerRole<std::int64_t>& tile);

}  // namespace tilewright
