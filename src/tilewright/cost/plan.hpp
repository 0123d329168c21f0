// The static part of the model: what each level of a mapping does, before any sizes of actual tiles are known.
// MAESTRO works out tiles here once and for all, from the largest sizes a level meets; the exact model does it again for
// each table of actual sizes (set_tiles).
//
// Letters of docs/cost_model.md: a directive has size m and offset o on a dimension of D indices;
// F full tile, Fe edge tile, Q new part of a full tile, Qe new part of an edge tile; cs units side by side, E of them at
// work in the last, incomplete step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tilewright/base/inline_vector.hpp"
#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

using DimSizes = std::array<std::int64_t, kDimCount>;  // 0 = not there
using DimMask = std::uint32_t;                         // bit per Dim
constexpr DimMask bit(Dim dim) { return DimMask{1} << static_cast<unsigned>(dim); }
constexpr std::size_t index(Dim dim) { return static_cast<std::size_t>(dim); }
inline constexpr std::size_t kInput = 0, kWeight = 1, kOutput = 2;  // of PerOperand
constexpr Dim output_dim(Dim dim) { return dim == Dim::X ? Dim::OutX : dim == Dim::Y ? Dim::OutY : dim; }

// The dimensions of the three tensors, in MAESTRO's order, which decides whose last spatial dimension speaks.
struct Tensors {
  PerOperand<InlineVector<Dim, 8>> dims;
  PerOperand<DimMask> mask{};
  DimMask loops = 0;  // of input and weight together: what every level maps
};
Tensors tensors_of(const Nest& nest, Model model);

// A directive as the analysis uses it: output-centric ones converted, strides applied.
struct Loop {
  bool spatial = false;
  Dim dim = Dim::K;
  std::int64_t size = 1;
  std::int64_t offset = 1;
};

struct LevelPlan {
  InlineVector<Loop, kMaxDirectives> loops;  // outermost first
  std::size_t spatial = 0;                   // index of the first spatial loop
  std::size_t spatial_count = 0;
  std::int64_t units = 1;       // cs
  std::int64_t edge_units = 1;  // E
  DimSizes full{};              // F, by dimension; X' and Y' hold outputs
  DimSizes edge{};              // Fe
  DimSizes fresh{};             // Q
  DimSizes fresh_edge{};        // Qe
  bool repeats_dim = false;     // two loops on one dimension
};

struct Plan {
  Tensors tensors;
  DimSizes sizes{};  // of the whole nest
  DimSizes stride{};
  Model model = Model::Sound;
  InlineVector<LevelPlan, kMaxLevels> levels;
};

// Fills `plan` in place (it is a reused workspace). What makes the mapping meaningless comes back.
std::optional<Infeasible> make_plan(Plan& plan, const Nest& nest, const Mapping& mapping, std::int64_t pes, Model model);

// The exact model's tiles of a loop that works on `size` indices.
struct LoopTiles {
  std::int64_t count = 1;
  std::int64_t full = 0, edge = 0, fresh = 0, fresh_edge = 0;  // F, Fe, Q, Qe
};
LoopTiles tiles_of(const Loop& loop, std::int64_t size);

// Those of all loops of a level, of its outputs, and the units busy in its last step (E).
void set_tiles(LevelPlan& level, const DimSizes& sizes, const Plan& plan);
void set_output_tiles(LevelPlan& level, const Plan& plan);  // from the tiles of inputs and taps

// Outputs that `inputs` rows or columns hold for `taps` of the kernel. MAESTRO counts them as if the stride were 1.
std::int64_t outputs_in(std::int64_t inputs, std::int64_t taps, std::int64_t stride, Model model);

}  // namespace tilewright
