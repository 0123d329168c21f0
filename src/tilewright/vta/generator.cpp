#include "tilewright/vta/generator.hpp"

#include <algorithm>

#include "tilewright/vta/generator_pool.hpp"
#include "tilewright/vta/generator_tiles.hpp"

namespace tilewright::vta {
namespace {

std::int64_t piece_channels(const Machine& machine) { return std::max(machine.block_in(), machine.block_out()); }

std::int64_t pieces(std::int64_t batch, std::int64_t channels, const Machine& machine) {
  return ceil_div(batch, machine.batch()) * ceil_div(channels, piece_channels(machine));
}

// Every piece of channels is a batch of its own: all share the weight, a multiple of the identity.
ElementLoops loops_of(const ElementwiseTask& task, const Machine& machine) {
  ElementLoops loops;
  loops.batch = pieces(task.batch, task.channels, machine);
  loops.in_blocks = piece_channels(machine) / machine.block_in() * (task.two_inputs ? 2 : 1);
  loops.out_blocks = piece_channels(machine) / machine.block_out();
  loops.in_height = loops.out_height = task.height;
  loops.in_width = loops.out_width = task.width;
  loops.two_inputs = task.two_inputs;
  return loops;
}

// All channel blocks of a piece belong together.
std::optional<Misfit> whole_piece(const ElementLoops& loops, const Schedule& schedule) {
  if (schedule.tile_ci != loops.in_blocks) return Misfit{MisfitKind::TileRange, schedule.tile_ci, loops.in_blocks};
  if (schedule.tile_co != loops.out_blocks) return Misfit{MisfitKind::TileRange, schedule.tile_co, loops.out_blocks};
  return std::nullopt;
}

}  // namespace

ElementLoops pool_loops(const PoolTask& task, const Machine& machine) {
  ElementLoops loops;
  loops.batch = pieces(task.batch, task.channels, machine);
  loops.in_blocks = piece_channels(machine) / machine.block_in();
  loops.out_blocks = piece_channels(machine) / machine.block_out();
  loops.in_height = task.in_height;
  loops.in_width = task.in_width;
  loops.out_height = task.out_height();
  loops.out_width = task.out_width();
  loops.kernel_height = task.kernel_height;
  loops.kernel_width = task.kernel_width;
  loops.stride_height = task.stride_height;
  loops.stride_width = task.stride_width;
  loops.pad_top = task.pad_top;
  loops.pad_left = task.pad_left;
  loops.uniform_kernel = true;
  return loops;
}

void generate(const Layer& layer, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
              const Addresses& addresses, Code& code) {
  generate_tiles(element_loops(layer, machine), machine, schedule, finishing, addresses, code);
}

std::optional<Schedule> default_schedule(const Layer& layer, const Machine& machine) {
  return estimated_best(element_loops(layer, machine), machine, false);
}

std::optional<Misfit> misfit(const ElementwiseTask& task, const Machine& machine, const Schedule& schedule) {
  const ElementLoops loops = loops_of(task, machine);
  if (const auto part = whole_piece(loops, schedule)) return part;
  return misfit(loops, machine, schedule);
}

std::optional<Misfit> misfit(const PoolTask& task, const Machine& machine, const Schedule& schedule) {
  const ElementLoops loops = pool_loops(task, machine);
  if (const auto part = whole_piece(loops, schedule)) return part;
  if (task.kind == PoolKind::Max) return max_pool_misfit(loops, machine, schedule);
  return misfit(loops, machine, schedule);
}

std::optional<Schedule> default_schedule(const ElementwiseTask& task, const Machine& machine) {
  return estimated_best(loops_of(task, machine), machine, true);
}

std::optional<Schedule> default_schedule(const PoolTask& task, const Machine& machine) {
  const ElementLoops loops = pool_loops(task, machine);
  std::optional<Schedule> schedule = estimated_best(loops, machine, true);
  // Max pooling also keeps the inputs among the accumulators.
  while (schedule && misfit(task, machine, *schedule)) {
    std::int64_t& tile = schedule->tile_b > 1   ? schedule->tile_b
                         : schedule->tile_h > 1 ? schedule->tile_h
                                                : schedule->tile_w;
    if (tile == 1 && schedule->h_threading == 1) return std::nullopt;
    if (tile == 1) schedule->h_threading = 1;
    tile = ceil_div(tile, 2);
  }
  return schedule;
}

void generate(const ElementwiseTask& task, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
              const Addresses& addresses, Code& code) {
  TW_ASSERT(!finishing.bias && !finishing.residual);
  generate_tiles(loops_of(task, machine), machine, schedule, finishing, addresses, code);
}

void generate(const PoolTask& task, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
              const Addresses& addresses, Code& code) {
  TW_ASSERT(!finishing.bias && !finishing.residual);
  const ElementLoops loops = pool_loops(task, machine);
  if (task.kind == PoolKind::Max) return generate_max_pool(loops, machine, schedule, finishing, addresses, code);
  generate_tiles(loops, machine, schedule, finishing, addresses, code);
}

}  // namespace tilewright::vta
