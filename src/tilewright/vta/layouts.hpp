// Tensors as networks have them and as the machine reads them, and whole programs made from both.
//
//   activations  [N/BATCH][group][C/BLOCK][H][W][BATCH][BLOCK], BLOCK_IN or BLOCK_OUT; channels of a group, and images,
//                padded with zeros. Of a matrix multiply [product][K/BLOCK][rows/BATCH][BATCH][BLOCK].
//   weight       [group][CO/BLOCK_OUT][CI/BLOCK_IN][KH][KW][BLOCK_OUT][BLOCK_IN]; block-diagonal where groups share blocks
//   bias         [group][CO/BLOCK_OUT][BATCH][BLOCK_OUT], int32
//
// Plain tensors are row-major: input [N][C][H][W], weight [CO][CI/groups][KH][KW], bias [CO], output [N][CO][OH][OW]; of a
// matrix multiply left [b][m][k], right [b][k][n], bias [n], output [b][m][n].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/vta/generator.hpp"
#include "tilewright/vta/program.hpp"

namespace tilewright::vta {

struct TensorLayout {
  std::int64_t images = 1, channels = 1, height = 1, width = 1;  // plain
  std::int64_t groups = 1, group_channels = 1;                   // channels of one group, without its padding
  std::int64_t blocks = 1, block = 1;                            // of one group; channels of one block
  std::int64_t lanes = 1;                                        // BATCH
  bool rows_in_lanes = false;                                    // matrix multiply: lanes are rows, and images are products

  std::int64_t elements() const;  // of the machine
  std::int64_t numbers() const { return elements() * lanes * block; }
};
TensorLayout input_layout(const Layer& layer, const Machine& machine);
TensorLayout output_layout(const Layer& layer, const Machine& machine);
TensorLayout input_layout(const ElementwiseTask& task, const Machine& machine);
TensorLayout output_layout(const ElementwiseTask& task, const Machine& machine);
TensorLayout input_layout(const PoolTask& task, const Machine& machine);
TensorLayout output_layout(const PoolTask& task, const Machine& machine);

std::vector<std::int8_t> to_blocks(const TensorLayout& layout, std::span<const std::int8_t> plain);
std::vector<std::int32_t> to_blocks(const TensorLayout& layout, std::span<const std::int32_t> plain);
std::vector<std::int8_t> from_blocks(const TensorLayout& layout, std::span<const std::int8_t> blocked);

std::int64_t weight_numbers(const Layer& layer, const Machine& machine);  // of weight_blocks
std::vector<std::int8_t> weight_blocks(const Layer& layer, const Machine& machine, std::span<const std::int8_t> plain);
std::vector<std::int32_t> bias_blocks(const Layer& layer, const Machine& machine, std::span<const std::int32_t> plain);
// The multiples of the identity that tasks multiply by.
std::vector<std::int8_t> weight_blocks(const ElementwiseTask& task, const Machine& machine);
std::vector<std::int8_t> weight_blocks(const PoolTask& task, const Machine& machine);

// Plain tensors; those that Finishing or the task does not use stay empty.
struct PlainData {
  std::span<const std::int8_t> input{}, weight{}, second_input{};
  std::span<const std::int32_t> bias{}, residual{};
};

// A program that runs on its own: data, micro-ops, one stream, and the output between two guards that no program may touch,
// all three in one dump region.
struct LayerProgram {
  Program program;
  TensorLayout output;
  std::uint64_t guard_bytes = 0;  // before and after the output
};
LayerProgram layer_program(const Layer& layer, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
                           const PlainData& data);
LayerProgram layer_program(const ElementwiseTask& task, const Machine& machine, const Schedule& schedule,
                           const Finishing& finishing, const PlainData& data);
LayerProgram layer_program(const PoolTask& task, const Machine& machine, const Schedule& schedule,
                           const Finishing& finishing, const PlainData& data);

// Of the dump of a LayerProgram.
std::vector<std::int8_t> plain_output(const LayerProgram& program, const Section& dump);
bool guards_intact(const LayerProgram& program, const Section& dump);

// Where the tensors of a layer lie: for timing, which needs addresses but no data.
Addresses addresses_of(const Layer& layer, const Machine& machine);

}  // namespace tilewright::vta
