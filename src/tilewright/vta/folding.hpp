// How loops and rectangles become as few instructions as the formats allow.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tilewright::vta {

// One loop around a GEMM or ALU step: how far each index moves with it. A loop that leaves `dst` where it is accumulates.
struct StepLoop {
  std::int64_t count = 1;
  std::int64_t dst = 0, src = 0, wgt = 0;
  bool operator==(const StepLoop&) const = default;
};

// Loops as an instruction does them: two in the instruction, the others written out as micro-ops.
//
// Two steps on the same accumulator must be 3 steps apart (the pipeline of the GEMM core). Of the pairs that keep this the
// one with the fewest micro-ops is taken; where a tile has only one or two accumulators, every `piece` micro-ops are an
// instruction of their own.
struct StepNest {
  StepLoop outer, inner;
  std::array<StepLoop, 7> written{};  // first is innermost
  int written_count = 0;
  std::int64_t uop_count = 1;
  std::int64_t places = 1;  // different accumulators among the micro-ops; they come in rounds of these
  std::int64_t piece = 1;
};
StepNest nest_steps(std::span<const StepLoop> loops);  // outermost first, at most 7

// A rectangle in DRAM, in elements: axes from the outermost to the innermost, which is contiguous. Pads only around the two
// innermost axes.
struct Rectangle {
  struct Axis {
    std::int64_t count = 1, stride = 1;
  };
  std::array<Axis, 4> axes;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
};

// The same as the fewest instructions do it: the two inner levels in the instruction, the others a loop around it.
struct FoldedRectangle {
  std::array<Rectangle::Axis, 4> levels;  // innermost first
  std::int64_t rows = 1, stride = 1;
  std::int64_t size = 1;               // elements that one instruction fills on chip
  std::array<std::uint8_t, 4> pads{};  // top, bottom, left, right
};
FoldedRectangle fold(const Rectangle& rectangle);

}  // namespace tilewright::vta
