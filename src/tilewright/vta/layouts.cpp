#include "tilewright/vta/layouts.hpp"

#include <algorithm>

#include "tilewright/vta/generator_loops.hpp"

namespace tilewright::vta {
namespace {

// Calls visit(plain index, blocked index, count): `count` numbers that are `step` apart in the blocked tensor.
template <typename Visit>
void walk(const TensorLayout& l, Visit visit) {
  const std::int64_t element = l.lanes * l.block;
  if (l.rows_in_lanes) {  // plain [image][row][channel]
    const std::int64_t tall = ceil_div(l.height, l.lanes);
    for (std::int64_t image = 0; image < l.images; ++image) {
      for (std::int64_t row = 0; row < l.height; ++row) {
        for (std::int64_t b = 0; b < l.blocks; ++b) {
          const std::int64_t count = std::min(l.block, l.channels - b * l.block);
          visit((image * l.height + row) * l.channels + b * l.block,
                ((image * l.blocks + b) * tall + row / l.lanes) * element + row % l.lanes * l.block, count, 1);
        }
      }
    }
    return;
  }
  const std::int64_t plane = l.height * l.width;
  for (std::int64_t image = 0; image < l.images; ++image) {
    for (std::int64_t c = 0; c < l.channels; ++c) {
      const std::int64_t group = c / l.group_channels, inside = c % l.group_channels;
      const std::int64_t block = (image / l.lanes * l.groups + group) * l.blocks + inside / l.block;
      visit((image * l.channels + c) * plane, block * plane * element + image % l.lanes * l.block + inside % l.block, plane,
            element);
    }
  }
}

template <typename Number>
std::vector<Number> blocked_copy(const TensorLayout& layout, std::span<const Number> plain) {
  std::vector<Number> blocked(static_cast<std::size_t>(layout.numbers()), Number{0});
  walk(layout, [&](std::int64_t from, std::int64_t to, std::int64_t count, std::int64_t step) {
    const Number* const source = plain.data() + from;
    Number* const target = blocked.data() + to;
    for (std::int64_t i = 0; i < count; ++i) target[i * step] = source[i];
  });
  return blocked;
}

TensorLayout layer_layout(const Layer& layer, const Machine& machine, bool output) {
  const ElementLoops loops = element_loops(layer, machine);
  TensorLayout l;
  l.images = layer.batch;
  l.channels = output ? layer.out_channels : layer.in_channels;
  l.height = output ? out_height(layer) : layer.in_height;
  l.width = output ? out_width(layer) : layer.in_width;
  l.blocks = output ? loops.out_blocks : loops.in_blocks;
  l.block = output ? machine.block_out() : machine.block_in();
  l.lanes = machine.batch();
  l.rows_in_lanes = layer.op == Operator::MatrixMultiply;
  l.groups = l.rows_in_lanes ? 1 : loops.groups;
  l.group_channels = l.rows_in_lanes ? l.channels : l.channels / layer.groups * groups_together(layer, machine);
  return l;
}

TensorLayout task_layout(std::int64_t batch, std::int64_t channels, const Machine& machine, std::int64_t block) {
  const std::int64_t piece = std::max(machine.block_in(), machine.block_out());
  TensorLayout l;
  l.images = batch;
  l.channels = l.group_channels = channels;
  l.block = block;
  l.blocks = ceil_div(channels, piece) * (piece / block);
  l.lanes = machine.batch();
  return l;
}

// [piece/BLOCK_OUT][copies][piece/BLOCK_IN][BLOCK_OUT][BLOCK_IN]
std::vector<std::int8_t> identity(const Machine& machine, std::span<const int> multipliers) {
  const std::int64_t in = machine.block_in(), out = machine.block_out(), piece = std::max(in, out);
  const auto copies = static_cast<std::int64_t>(multipliers.size());
  std::vector<std::int8_t> weight(static_cast<std::size_t>(piece * piece * copies), 0);
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    for (std::int64_t c = 0; c < piece; ++c) {
      const std::int64_t element = (c / out * copies + copy) * (piece / in) + c / in;
      weight[static_cast<std::size_t>((element * out + c % out) * in + c % in)] =
          static_cast<std::int8_t>(multipliers[static_cast<std::size_t>(copy)]);
    }
  }
  return weight;
}

}  // namespace

std::int64_t TensorLayout::elements() const {
  if (rows_in_lanes) return images * blocks * ceil_div(height, lanes) * width;
  return ceil_div(images, lanes) * groups * blocks * height * width;
}

TensorLayout input_layout(const Layer& layer, const Machine& machine) { return layer_layout(layer, machine, false); }
TensorLayout output_layout(const Layer& layer, const Machine& machine) { return layer_layout(layer, machine, true); }

TensorLayout input_layout(const ElementwiseTask& task, const Machine& machine) {
  TensorLayout l = task_layout(task.batch, task.channels, machine, machine.block_in());
  l.height = task.height;
  l.width = task.width;
  return l;
}
TensorLayout output_layout(const ElementwiseTask& task, const Machine& machine) {
  TensorLayout l = task_layout(task.batch, task.channels, machine, machine.block_out());
  l.height = task.height;
  l.width = task.width;
  return l;
}
TensorLayout input_layout(const PoolTask& task, const Machine& machine) {
  TensorLayout l = task_layout(task.batch, task.channels, machine, machine.block_in());
  l.height = task.in_height;
  l.width = task.in_width;
  return l;
}
TensorLayout output_layout(const PoolTask& task, const Machine& machine) {
  TensorLayout l = task_layout(task.batch, task.channels, machine, machine.block_out());
  l.height = task.out_height();
  l.width = task.out_width();
  return l;
}

std::vector<std::int8_t> to_blocks(const TensorLayout& layout, std::span<const std::int8_t> plain) {
  return blocked_copy(layout, plain);
}
std::vector<std::int32_t> to_blocks(const TensorLayout& layout, std::span<const std::int32_t> plain) {
  return blocked_copy(layout, plain);
}

std::vector<std::int8_t> from_blocks(const TensorLayout& layout, std::span<const std::int8_t> blocked) {
  std::vector<std::int8_t> plain(static_cast<std::size_t>(layout.images * layout.channels * layout.height * layout.width));
  walk(layout, [&](std::int64_t to, std::int64_t from, std::int64_t count, std::int64_t step) {
    const std::int8_t* const source = blocked.data() + from;
    std::int8_t* const target = plain.data() + to;
    for (std::int64_t i = 0; i < count; ++i) target[i] = source[i * step];
  });
  return plain;
}

std::int64_t weight_numbers(const Layer& layer, const Machine& machine) {
  const ElementLoops loops = element_loops(layer, machine);
  return loops.groups * loops.out_blocks * loops.in_blocks * loops.kernel_weights() * machine.block_in() *
         machine.block_out();
}

std::vector<std::int8_t> weight_blocks(const Layer& layer, const Machine& machine, std::span<const std::int8_t> plain) {
  const ElementLoops loops = element_loops(layer, machine);
  const bool matrix = layer.op == Operator::MatrixMultiply;
  const std::int64_t in = layer.in_channels / layer.groups, out = layer.out_channels / layer.groups;
  const std::int64_t together = groups_together(layer, machine), kernel = layer.kernel_height * layer.kernel_width;
  const std::int64_t bi = machine.block_in(), bo = machine.block_out();
  std::vector<std::int8_t> blocked(static_cast<std::size_t>(weight_numbers(layer, machine)), 0);
  const auto put = [&](std::int64_t group, std::int64_t o, std::int64_t i, std::int64_t k, std::int8_t number) {
    const std::int64_t element = ((group * loops.out_blocks + o / bo) * loops.in_blocks + i / bi) * kernel + k;
    blocked[static_cast<std::size_t>((element * bo + o % bo) * bi + i % bi)] = number;
  };
  std::size_t next = 0;
  if (matrix) {
    for (std::int64_t b = 0; b < layer.batch; ++b) {
      for (std::int64_t i = 0; i < in; ++i) {
        for (std::int64_t o = 0; o < out; ++o) put(b, o, i, 0, plain[next++]);
      }
    }
    return blocked;
  }
  for (std::int64_t o = 0; o < layer.out_channels; ++o) {
    const std::int64_t group = o / out, shared = group % together;
    for (std::int64_t i = 0; i < in; ++i) {
      for (std::int64_t k = 0; k < kernel; ++k) {
        put(group / together, shared * out + o % out, shared * in + i, k, plain[next++]);
      }
    }
  }
  return blocked;
}

std::vector<std::int32_t> bias_blocks(const Layer& layer, const Machine& machine, std::span<const std::int32_t> plain) {
  const bool matrix = layer.op == Operator::MatrixMultiply;
  TensorLayout layout = output_layout(layer, machine);
  layout.height = layout.width = 1;
  layout.rows_in_lanes = false;
  layout.images = layout.lanes;  // the same in every lane
  if (matrix) {                  // and in every product
    layout.groups = layer.batch;
    layout.channels = layer.out_channels * layer.batch;
    layout.group_channels = layer.out_channels;
  }
  std::vector<std::int32_t> repeated;
  for (std::int64_t i = 0; i < layout.images * (matrix ? layer.batch : 1); ++i) {
    repeated.insert(repeated.end(), plain.begin(), plain.end());
  }
  return blocked_copy(layout, std::span<const std::int32_t>(repeated));
}

std::vector<std::int8_t> weight_blocks(const ElementwiseTask& task, const Machine& machine) {
  const int multipliers[] = {task.multiplier, task.second_multiplier};
  return identity(machine, std::span<const int>(multipliers, task.two_inputs ? 2 : 1));
}

std::vector<std::int8_t> weight_blocks(const PoolTask& task, const Machine& machine) {
  const int multiplier = task.kind == PoolKind::Max ? 1 : task.multiplier;
  return identity(machine, std::span<const int>(&multiplier, 1));
}

}  // namespace tilewright::vta
