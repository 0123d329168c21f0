#include "tilewright/vta/generator_loops.hpp"

#include <algorithm>

#include "tilewright/vta/generator.hpp"

namespace tilewright::vta {
namespace {

constexpr std::int64_t kMostPad = 15;       // 4 bits
constexpr std::int64_t kMostSize = 65535;   // 16 bits
constexpr std::int64_t kMostLoops = 16383;  // 14 bits
constexpr std::int64_t kChiselUops = 2048;
constexpr std::int64_t kLeastUops = 8;  // any longer list of micro-ops can be cut into parts of at least 3

// Zeros that the first and the last tile of an axis need. `reach` is from a window's first to its last input.
std::optional<Misfit> pads_misfit(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t reach,
                                  std::int64_t pad) {
  const std::int64_t after = (out - 1) * stride + reach - pad - (in - 1);
  const std::int64_t most = std::max(pad, after);
  if (most > kMostPad) return Misfit{MisfitKind::Field, most, kMostPad};
  return std::nullopt;
}

// Bytes are loaded once per distinct tile where the next use comes before `slots` others; else as often as asked.
std::int64_t loads(std::int64_t distinct_between, int slots, std::int64_t once, std::int64_t often) {
  return distinct_between <= slots ? once : often;
}

void choose_order(const Machine& machine, Tiling& t) {
  const std::int64_t oc = t.tile.oc_threading, h = t.tile.h_threading, wgt_steps = t.ci_steps * t.kernel_steps;
  const std::int64_t spatial_tiles = t.batch_tiles * t.row_tiles * t.column_tiles;
  const std::int64_t inputs = spatial_tiles * t.ci_steps, weights = t.co_tiles * wgt_steps;
  const std::int64_t shared_input = loads(t.ci_steps, t.inp_slots, t.co_per_thread, t.co_tiles);
  const std::int64_t shared_weight = loads(wgt_steps, t.wgt_slots, ceil_div(spatial_tiles, h), spatial_tiles);
  const std::int64_t input_rows_first = inputs * loads(h * t.column_tiles * t.ci_steps, t.inp_slots, 1, shared_input);
  const std::int64_t weight_rows_first =
      weights *
      loads(weights, t.wgt_slots, 1, loads(oc * wgt_steps, t.wgt_slots, t.batch_tiles * t.rows_per_thread, spatial_tiles));
  const std::int64_t input_channels_first = inputs * loads(inputs, t.inp_slots, 1, shared_input);
  const std::int64_t weight_channels_first = weights * loads(oc * wgt_steps, t.wgt_slots, 1, shared_weight);
  const auto bytes = [&](std::int64_t input, std::int64_t weight) {
    return input * t.inp_elements * element_bytes(machine, Buffer::Inp) +
           weight * t.wgt_elements * element_bytes(machine, Buffer::Wgt);
  };
  t.channels_outer = bytes(input_channels_first, weight_channels_first) < bytes(input_rows_first, weight_rows_first);
  t.inp_loads = t.channels_outer ? input_channels_first : input_rows_first;
  t.wgt_loads = t.channels_outer ? weight_channels_first : weight_rows_first;
}

}  // namespace

// Per instruction 8, per result 4 on the ALU; a latency per load and per row that is stored.
double estimated_cycles(const ElementLoops& loops, const Machine& machine, const Tiling& t, const Pace& pace) {
  const double bus = pace.bus_bytes, latency = pace.latency;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double tiles = real(loops.groups * t.batch_tiles * t.row_tiles * t.column_tiles * t.co_tiles);
  const double results = real(loops.groups * loops.batch * loops.out_height * loops.out_width * loops.out_blocks);
  const double steps = results * real(loops.in_blocks * loops.kernel_height * loops.kernel_width);
  const double compute = pace.step * steps + 4 * results + tiles * (32 + 8 * real(t.ci_steps * t.kernel_steps));

  const double inp = real(t.inp_elements * element_bytes(machine, Buffer::Inp)) / bus +
                     real(t.tile.tile_b * t.tile.tile_ci) * (latency + real(loops.input_rows(t.tile.tile_h)));
  const double wgt = real(t.wgt_elements * element_bytes(machine, Buffer::Wgt)) / bus + latency;
  const double load = real(loops.groups) * (real(t.inp_loads) * inp + real(t.wgt_loads) * wgt);
  const double result_bytes = real(element_bytes(machine, Buffer::Out));
  const bool whole_rows = t.tile.tile_w == loops.out_width;
  const double bursts = real(t.tile.tile_b * t.tile.tile_co) *
                        (whole_rows ? 1 + real(t.tile.tile_h * t.tile.tile_w) * result_bytes / 2048 : real(t.tile.tile_h));
  const double store = real(t.acc_elements) * (result_bytes / bus + 1) + bursts * latency;
  if (t.contexts == 1) return compute + load + tiles * store;
  return std::max({compute, load, tiles * store}) + inp + wgt + 3 * real(t.acc_elements) + store;
}

std::int64_t groups_together(const Layer& layer, const Machine& machine) {
  if (layer.groups == 1 || layer.op == Operator::MatrixMultiply) return 1;
  const std::int64_t in = layer.in_channels / layer.groups, out = layer.out_channels / layer.groups;
  std::int64_t best = 1, best_steps = 0;
  for (const std::int64_t wanted : {std::int64_t{1}, machine.block_in() / in, machine.block_out() / out}) {
    const std::int64_t together = std::clamp<std::int64_t>(wanted, 1, layer.groups);
    const std::int64_t steps = ceil_div(together * in, machine.block_in()) * ceil_div(together * out, machine.block_out());
    // Equal steps per group: more groups together store fuller elements.
    if (best_steps == 0 || steps * best < best_steps * together ||
        (steps * best == best_steps * together && together > best)) {
      best = together;
      best_steps = steps;
    }
  }
  return best;
}

ElementLoops element_loops(const Layer& layer, const Machine& machine) {
  ElementLoops loops;
  loops.supported = layer.op != Operator::TransposedConvolution;
  const std::int64_t together = groups_together(layer, machine);
  const std::int64_t groups = ceil_div(layer.groups, together);
  loops.in_blocks = ceil_div(layer.in_channels / layer.groups * together, machine.block_in());
  loops.out_blocks = ceil_div(layer.out_channels / layer.groups * together, machine.block_out());
  if (layer.op == Operator::MatrixMultiply) {
    loops.groups = layer.batch;
    loops.in_height = loops.out_height = ceil_div(layer.in_height, machine.batch());
    return loops;
  }
  loops.groups = groups;
  loops.batch = ceil_div(layer.batch, machine.batch());
  loops.in_height = layer.in_height;
  loops.in_width = layer.in_width;
  loops.out_height = out_height(layer);
  loops.out_width = out_width(layer);
  loops.kernel_height = layer.kernel_height;
  loops.kernel_width = layer.kernel_width;
  loops.stride_height = layer.stride_height;
  loops.stride_width = layer.stride_width;
  loops.dilation_height = layer.dilation_height;
  loops.dilation_width = layer.dilation_width;
  loops.pad_top = layer.pad_top;
  loops.pad_left = layer.pad_left;
  leave_out_rows(loops);
  return loops;
}

void leave_out_rows(ElementLoops& loops) {
  const bool inside = loops.pad_top == 0 && (loops.out_height - 1) * loops.stride_height < loops.in_height;
  const bool encodable = loops.stride_height * loops.in_width <= kMostSize;
  if (loops.kernel_height == 1 && inside && encodable) loops.row_step = loops.stride_height;
}

Tiling tiling(const ElementLoops& loops, const Machine& machine, const Schedule& schedule) {
  Tiling t;
  t.tile = schedule;
  t.contexts = schedule.h_threading * schedule.oc_threading;
  t.batch_tiles = ceil_div(loops.batch, schedule.tile_b);
  t.row_tiles = ceil_div(loops.out_height, schedule.tile_h);
  t.column_tiles = ceil_div(loops.out_width, schedule.tile_w);
  t.co_tiles = ceil_div(loops.out_blocks, schedule.tile_co);
  t.ci_steps = ceil_div(loops.in_blocks, schedule.tile_ci);
  t.rows_per_thread = ceil_div(t.row_tiles, schedule.h_threading);
  t.co_per_thread = ceil_div(t.co_tiles, schedule.oc_threading);
  t.inp_elements =
      schedule.tile_b * schedule.tile_ci * loops.input_rows(schedule.tile_h) * loops.input_columns(schedule.tile_w);
  t.acc_elements = schedule.tile_b * schedule.tile_co * schedule.tile_h * schedule.tile_w;
  const auto slots = [&](std::int64_t tiles) { return static_cast<int>(std::min<std::int64_t>(t.contexts, tiles)); };
  const std::int64_t spatial = loops.groups * t.batch_tiles * t.row_tiles * t.column_tiles;
  t.inp_slots = slots(spatial * t.ci_steps);
  t.acc_slots = slots(spatial * t.co_tiles);

  const std::int64_t channels = schedule.tile_co * schedule.tile_ci, weights = loops.groups * t.co_tiles * t.ci_steps;
  const std::int64_t wgt_depth = depth(machine, Buffer::Wgt);
  t.kernel_rows = loops.kernel_height;
  t.wgt_slots = slots(weights);
  t.wgt_elements = channels * loops.kernel_weights();
  if (t.wgt_slots * t.wgt_elements > wgt_depth && !loops.uniform_kernel && loops.kernel_height > 1) {
    const std::int64_t row = slots(weights * loops.kernel_height) * channels * loops.kernel_width;
    t.kernel_steps = ceil_div(loops.kernel_height, std::clamp<std::int64_t>(wgt_depth / row, 1, loops.kernel_height));
    t.kernel_rows = ceil_div(loops.kernel_height, t.kernel_steps);
    t.wgt_slots = slots(weights * t.kernel_steps);
    t.wgt_elements = channels * t.kernel_rows * loops.kernel_width;
  }
  choose_order(machine, t);
  return t;
}

std::optional<Schedule> estimated_best(const ElementLoops& loops, const Machine& machine, bool fixed_channels) {
  // For every count of tiles 1, 2, 4, … the smallest tile with that count: it leaves the least remainder.
  const auto each_tile = [](std::int64_t extent, bool fixed, auto visit) {
    for (std::int64_t count = 1, last = 0; count < 2 * extent; count *= 2) {
      const std::int64_t tile = ceil_div(extent, std::min(count, extent));
      if (tile == last) continue;
      visit(last = tile);
      if (fixed) return;
    }
  };
  std::optional<Schedule> best;
  double best_cycles = 0;
  Schedule s;
  const auto consider = [&] {
    if (misfit(loops, machine, s)) return;
    const double cycles = estimated_cycles(loops, machine, tiling(loops, machine, s));
    if (best && cycles >= best_cycles) return;
    best = s;
    best_cycles = cycles;
  };
  each_tile(loops.batch, false, [&](std::int64_t b) {
    s.tile_b = b;
    each_tile(loops.out_height, false, [&](std::int64_t h) {
      s.tile_h = h;
      each_tile(loops.out_width, false, [&](std::int64_t w) {
        s.tile_w = w;
        each_tile(loops.in_blocks, fixed_channels, [&](std::int64_t ci) {
          s.tile_ci = ci;
          each_tile(loops.out_blocks, fixed_channels, [&](std::int64_t co) {
            s.tile_co = co;
            for (const int threads : {1, 2}) {
              s.h_threading = threads;
              consider();
            }
          });
        });
      });
    });
  });
  return best;
}

std::int64_t uop_capacity(const Machine& machine) { return std::min(depth(machine, Buffer::Uop), kChiselUops); }

std::optional<Misfit> misfit(const ElementLoops& loops, const Machine& machine, const Schedule& schedule) {
  if (!loops.supported) return Misfit{MisfitKind::Unsupported, 0, 0};
  struct Range {
    std::int64_t tile, extent;
  };
  for (const Range& range : {Range{schedule.tile_b, loops.batch}, Range{schedule.tile_h, loops.out_height},
                             Range{schedule.tile_w, loops.out_width}, Range{schedule.tile_ci, loops.in_blocks},
                             Range{schedule.tile_co, loops.out_blocks}}) {
    if (range.tile < 1 || range.tile > range.extent) return Misfit{MisfitKind::TileRange, range.tile, range.extent};
  }
  const std::int64_t contexts = std::int64_t{schedule.h_threading} * schedule.oc_threading;
  if (schedule.h_threading < 1 || schedule.oc_threading < 1 || contexts > 4) return Misfit{MisfitKind::Threads, contexts, 4};

  const Tiling t = tiling(loops, machine, schedule);
  const std::int64_t inp = t.inp_slots * t.inp_elements, inp_depth = depth(machine, Buffer::Inp);
  if (inp > inp_depth) return Misfit{MisfitKind::InpOverflow, inp, inp_depth};
  const std::int64_t wgt = t.wgt_slots * t.wgt_elements, wgt_depth = depth(machine, Buffer::Wgt);
  if (wgt > wgt_depth) return Misfit{MisfitKind::WgtOverflow, wgt, wgt_depth};
  const std::int64_t acc = t.acc_slots * (t.acc_elements + schedule.tile_co), acc_depth = depth(machine, Buffer::Acc);
  if (acc > acc_depth) return Misfit{MisfitKind::AccOverflow, acc, acc_depth};
  if (uop_capacity(machine) < kLeastUops) return Misfit{MisfitKind::UopOverflow, kLeastUops, uop_capacity(machine)};

  if (t.acc_slots * t.acc_elements > kMostLoops) return Misfit{MisfitKind::Field, t.acc_slots * t.acc_elements, kMostLoops};
  if (inp > kMostSize + 1 || wgt > kMostSize + 1) return Misfit{MisfitKind::Field, std::max(inp, wgt), kMostSize + 1};
  const std::int64_t row = loops.in_width * loops.row_step;
  if (std::max(row, loops.out_width) > kMostSize) return Misfit{MisfitKind::Field, row, kMostSize};
  // A GEMM for every step of a tile; resets, loads and stores come on top.
  const auto gemms = static_cast<double>(loops.groups * t.batch_tiles * t.row_tiles) *
                     static_cast<double>(t.column_tiles * t.co_tiles) * static_cast<double>(t.ci_steps * t.kernel_steps);
  if (gemms > static_cast<double>(kMostInstructions)) {
    return Misfit{MisfitKind::Length, static_cast<std::int64_t>(std::min(gemms, 9e18)), kMostInstructions};
  }
  const std::int64_t reach_y = (loops.kernel_height - 1) * loops.dilation_height;
  const std::int64_t reach_x = (loops.kernel_width - 1) * loops.dilation_width;
  if (const auto rows = pads_misfit(loops.in_height, loops.out_height, loops.stride_height, reach_y, loops.pad_top))
    return rows;
  return pads_misfit(loops.in_width, loops.out_width, loops.stride_width, reach_x, loops.pad_left);
}

}  // namespace tilewright::vta
