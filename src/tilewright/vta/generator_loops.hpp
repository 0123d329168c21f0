// A layer as the machine sees it: loops over elements (blocks of channels and images), and how a schedule cuts them into
// tiles. What `misfit` judges and `generate` walks.
//
//   Convolution      images in blocks of BATCH, channels in blocks of BLOCK_IN and BLOCK_OUT
//   groups           neighbouring groups share a block when that saves steps; their weight is then block-diagonal, which is
//                    how a depthwise layer runs on the GEMM core
//   FullyConnected   a 1x1 image
//   MatrixMultiply   every product is a group; BATCH rows of the left operand are the lanes of one element
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/vta/schedule.hpp"

namespace tilewright::vta {

struct ElementLoops {
  bool supported = true;
  std::int64_t groups = 1, batch = 1;
  std::int64_t in_blocks = 1, out_blocks = 1;  // of one group
  std::int64_t in_height = 1, in_width = 1, out_height = 1, out_width = 1;
  std::int64_t kernel_height = 1, kernel_width = 1, stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1, pad_top = 0, pad_left = 0;
  bool uniform_kernel = false;  // one weight serves all positions of the kernel (average pooling)
  bool two_inputs = false;      // the upper half of the input blocks lies in another tensor (element-wise add)
  std::int64_t row_step = 1;    // rows of the input between neighbouring rows of a tile: a 1xN kernel leaves out rows

  std::int64_t kernel_weights() const { return uniform_kernel ? 1 : kernel_height * kernel_width; }
  // Rows and columns of the input behind so many rows and columns of the result.
  std::int64_t input_rows(std::int64_t rows) const {
    return row_step > 1 ? rows : (rows - 1) * stride_height + (kernel_height - 1) * dilation_height + 1;
  }
  std::int64_t input_columns(std::int64_t columns) const {
    return (columns - 1) * stride_width + (kernel_width - 1) * dilation_width + 1;
  }
  std::int64_t tile_row_step() const { return row_step > 1 ? 1 : stride_height; }  // in a tile, between results
};

// How many neighbouring groups share blocks: as many as make the fewest steps.
std::int64_t groups_together(const Layer& layer, const Machine& machine);

ElementLoops element_loops(const Layer& layer, const Machine& machine);
void leave_out_rows(ElementLoops& loops);  // sets row_step where rows between are never read

// Tiles of a schedule and their places on chip. A buffer has a slot per context, but no more than there are different tiles.
// Where the weights of whole kernels do not fit, a step takes as many rows of the kernel as do.
struct Tiling {
  Schedule tile;
  int contexts = 1;
  std::int64_t batch_tiles = 1, row_tiles = 1, column_tiles = 1, co_tiles = 1, ci_steps = 1;
  std::int64_t kernel_rows = 1, kernel_steps = 1;
  std::int64_t rows_per_thread = 1, co_per_thread = 1;                // tiles
  std::int64_t inp_elements = 1, wgt_elements = 1, acc_elements = 1;  // of one slot; acc without its bias
  int inp_slots = 1, wgt_slots = 1, acc_slots = 1;
  // Of the orders "rows, then channels" and "channels, then rows" the one that loads fewer bytes.
  bool channels_outer = false;
  std::int64_t inp_loads = 0, wgt_loads = 0;  // of tiles of one group, where slots are reused as foreseen
};
Tiling tiling(const ElementLoops& loops, const Machine& machine, const Schedule& schedule);

// What an estimate takes for granted; the pipelined core with its default memory, unless somebody says otherwise.
struct Pace {
  double step = 1;       // cycles of a GEMM step
  double bus_bytes = 8;  // per cycle
  double latency = 20;   // cycles before the first of them
};

// Roughly the cycles of a schedule that fits, without generating its program.
double estimated_cycles(const ElementLoops& loops, const Machine& machine, const Tiling& tiling, const Pace& pace = {});

// The best of a few thousand schedules by a simple estimate of their cycles; nothing when none fits. `fixed_channels` keeps
// all channel blocks in one tile.
std::optional<Schedule> estimated_best(const ElementLoops& loops, const Machine& machine, bool fixed_channels);

std::optional<Misfit> misfit(const ElementLoops& loops, const Machine& machine, const Schedule& schedule);

// Micro-ops that fit at a time. The Chisel core builds 2048 places whatever the configuration says.
std::int64_t uop_capacity(const Machine& machine);

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace tilewright::vta
