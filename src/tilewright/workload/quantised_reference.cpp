// Products run over int16 copies of the data in the order row, column, channel: there the taps of one kernel row are
// neighbours, and a sum of products is a plain dot product, which compilers turn into vector instructions by themselves.
#include "tilewright/workload/quantised_reference.hpp"

#include <algorithm>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kChunk = 32;    // numbers of a dot product at a time; weights are padded with zeros to a multiple
constexpr std::int64_t kTogether = 4;  // output channels that share the loads of the data

std::int64_t chunks_of(std::int64_t count) { return (count + kChunk - 1) / kChunk; }

// No sum of 8-bit products over fewer than 2^17 taps leaves int32; beyond, numbers wrap as they do in the machine.
std::uint32_t dot(const std::int16_t* a, const std::int16_t* b) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < kChunk; ++i) sum += a[i] * b[i];
  return static_cast<std::uint32_t>(sum);
}

// One image as [group][row][column][channel of the group], padding included, and some numbers more: dot products read on
// past their last tap, where the weights are zero.
struct PackedImage {
  std::int64_t group_channels = 1, rows = 1, columns = 1;
  std::vector<std::int16_t> values;

  const std::int16_t* at(std::int64_t group, std::int64_t row, std::int64_t column) const {
    return values.data() + ((group * rows + row) * columns + column) * group_channels;
  }
};

PackedImage packed(const Layer& layer, std::span<const std::int8_t> image) {
  PackedImage result;
  result.group_channels = layer.in_channels / layer.groups;
  result.rows = layer.in_height + layer.pad_top + layer.pad_bottom;
  result.columns = layer.in_width + layer.pad_left + layer.pad_right;
  const std::int64_t count = layer.groups * result.rows * result.columns * result.group_channels;
  result.values.assign(static_cast<std::size_t>(count + kChunk), 0);
  const std::int8_t* from = image.data();
  for (std::int64_t channel = 0; channel < layer.in_channels; ++channel) {
    const std::int64_t group = channel / result.group_channels;
    for (std::int64_t y = 0; y < layer.in_height; ++y) {
      const std::int64_t row = ((group * result.rows + y + layer.pad_top) * result.columns + layer.pad_left);
      std::int16_t* to = result.values.data() + row * result.group_channels + channel % result.group_channels;
      for (std::int64_t x = 0; x < layer.in_width; ++x) to[x * result.group_channels] = *from++;
    }
  }
  return result;
}

// The taps of one output channel as runs that are neighbours in a PackedImage: a kernel row, or one tap when they lie apart.
struct Runs {
  std::int64_t per_row = 1;  // runs in a kernel row
  std::int64_t length = 1;
  std::int64_t count = 1;
};

Runs runs_of(const Layer& layer) {
  const std::int64_t channels = layer.in_channels / layer.groups;
  if (layer.dilation_width == 1) return {1, layer.kernel_width * channels, layer.kernel_height};
  return {layer.kernel_width, channels, layer.kernel_height * layer.kernel_width};
}

// Weights of one output channel, [run][tap padded to chunks].
void pack_weights(const Layer& layer, const Runs& runs, const std::int8_t* weights, std::int16_t* to) {
  const std::int64_t channels = layer.in_channels / layer.groups;
  const std::int64_t stride = chunks_of(runs.length) * kChunk;
  std::fill(to, to + runs.count * stride, std::int16_t{0});
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t r = 0; r < layer.kernel_height; ++r) {
      for (std::int64_t s = 0; s < layer.kernel_width; ++s) {
        const std::int64_t run = runs.per_row == 1 ? r : r * layer.kernel_width + s;
        const std::int64_t tap = runs.per_row == 1 ? s * channels + c : c;
        to[run * stride + tap] = *weights++;
      }
    }
  }
}

// `together` output channels of one image; `sums` gets each channel's plane.
void convolve(const Layer& layer, const PackedImage& image, std::int64_t group, const std::int16_t* weights,
              std::int64_t together, std::int32_t* sums) {
  const Runs runs = runs_of(layer);
  const std::int64_t stride = chunks_of(runs.length) * kChunk;
  const std::int64_t channel_stride = runs.count * stride;
  const std::int64_t height = out_height(layer), width = out_width(layer);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      std::uint32_t sum[kTogether] = {0, 0, 0, 0};
      for (std::int64_t run = 0; run < runs.count; ++run) {
        const std::int64_t r = run / runs.per_row, s = run % runs.per_row;
        const std::int16_t* data = image.at(group, y * layer.stride_height + r * layer.dilation_height,
                                            x * layer.stride_width + s * layer.dilation_width);
        for (std::int64_t i = run * stride; i < (run + 1) * stride; i += kChunk, data += kChunk) {
          for (std::int64_t k = 0; k < kTogether; ++k) sum[k] += dot(data, weights + k * channel_stride + i);
        }
      }
      for (std::int64_t k = 0; k < together; ++k) {
        sums[(k * height + y) * width + x] = static_cast<std::int32_t>(sum[k]);
      }
    }
  }
}

void convolve_image(const Layer& layer, std::span<const std::int8_t> image, const std::vector<std::int8_t>& weight,
                    std::int32_t* sums, ThreadPool& pool) {
  const PackedImage data = packed(layer, image);
  const Runs runs = runs_of(layer);
  const std::int64_t channel_stride = runs.count * chunks_of(runs.length) * kChunk;
  const std::int64_t group_outs = layer.out_channels / layer.groups;
  const std::int64_t batches = (group_outs + kTogether - 1) / kTogether;
  const std::int64_t taps = layer.in_channels / layer.groups * layer.kernel_height * layer.kernel_width;
  const std::int64_t plane = out_height(layer) * out_width(layer);
  std::vector<std::vector<std::int16_t>> workspaces(pool.thread_count());
  pool.for_each(static_cast<std::size_t>(layer.groups * batches), [&](std::size_t item, std::size_t thread) {
    const std::int64_t group = static_cast<std::int64_t>(item) / batches;
    const std::int64_t first = static_cast<std::int64_t>(item) % batches * kTogether;
    const std::int64_t together = std::min(kTogether, group_outs - first);
    std::vector<std::int16_t>& weights = workspaces[thread];
    weights.assign(static_cast<std::size_t>(kTogether * channel_stride), 0);
    for (std::int64_t k = 0; k < together; ++k) {
      const std::int64_t channel = group * group_outs + first + k;
      pack_weights(layer, runs, weight.data() + channel * taps, weights.data() + k * channel_stride);
    }
    convolve(layer, data, group, weights.data(), together, sums + (group * group_outs + first) * plane);
  });
}

// Rows of the left side are the pixels of a 1x1 convolution whose weights are the columns of the right side.
void multiply_matrices(const Layer& layer, std::span<const std::int8_t> left, std::span<const std::int8_t> right,
                       std::int32_t* sums) {
  const std::int64_t rows = layer.in_height, inner = layer.in_channels, columns = layer.out_channels;
  for (std::int64_t b = 0; b < layer.batch; ++b) {
    for (std::int64_t m = 0; m < rows; ++m) {
      std::int32_t* row = sums + (b * rows + m) * columns;
      std::fill(row, row + columns, 0);
      for (std::int64_t k = 0; k < inner; ++k) {
        const std::int32_t value = left[static_cast<std::size_t>((b * rows + m) * inner + k)];
        const std::int8_t* weights = right.data() + (b * inner + k) * columns;
        for (std::int64_t n = 0; n < columns; ++n) {
          row[n] =
              static_cast<std::int32_t>(static_cast<std::uint32_t>(row[n]) + static_cast<std::uint32_t>(value * weights[n]));
        }
      }
    }
  }
}

std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

std::vector<std::int32_t> product_sums(const QuantisedStep& step, const QuantisedTensors& tensors, ThreadPool& pool) {
  const Layer& layer = step.layer;
  const std::vector<std::int8_t>& data = tensors[step.inputs[0]];
  std::vector<std::int32_t> sums(static_cast<std::size_t>(step.shape.elements()));
  if (layer.op == Operator::MatrixMultiply) {
    multiply_matrices(layer, data, tensors[step.inputs[1]], sums.data());
  } else {
    const auto image = data.size() / static_cast<std::size_t>(layer.batch),
               result = sums.size() / static_cast<std::size_t>(layer.batch);
    for (std::size_t n = 0; n < static_cast<std::size_t>(layer.batch); ++n) {
      convolve_image(layer, std::span(data).subspan(n * image, image), step.weight, sums.data() + n * result, pool);
    }
  }
  if (!step.bias.empty()) {
    // The bias of a matrix multiply belongs to a column, that of every other layer to a channel.
    const bool by_column = layer.op == Operator::MatrixMultiply;
    const auto plane = static_cast<std::size_t>(by_column ? 1 : step.shape.height * step.shape.width);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = wrapped_sum(sums[i], step.bias[i / plane % step.bias.size()]);
  }
  if (step.has_residual) {
    const std::vector<std::int8_t>& residual = tensors[step.inputs.back()];
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = wrapped_sum(sums[i], aligned(residual[i], step.alignment[0]));
  }
  return sums;
}

std::vector<std::int8_t> max_pooled(const QuantisedStep& step, const TensorShape& in, const std::vector<std::int8_t>& data) {
  const Window& w = step.window;
  std::vector<std::int8_t> result;
  result.reserve(static_cast<std::size_t>(step.shape.elements()));
  for (std::int64_t plane = 0; plane < in.batch * in.channels; ++plane) {
    const std::int8_t* from = data.data() + plane * in.height * in.width;
    for (std::int64_t y = 0; y < step.shape.height; ++y) {
      const std::int64_t top = y * w.stride_height - w.pad_top;
      for (std::int64_t x = 0; x < step.shape.width; ++x) {
        const std::int64_t left = x * w.stride_width - w.pad_left;
        std::int8_t best = -128;
        for (std::int64_t r = std::max<std::int64_t>(top, 0); r < std::min(top + w.kernel_height, in.height); ++r) {
          for (std::int64_t s = std::max<std::int64_t>(left, 0); s < std::min(left + w.kernel_width, in.width); ++s) {
            best = std::max(best, from[r * in.width + s]);
          }
        }
        result.push_back(best);
      }
    }
  }
  return result;
}

std::vector<std::int8_t> concatenated(const QuantisedNetwork& network, const QuantisedStep& step,
                                      const QuantisedTensors& tensors) {
  std::vector<std::int8_t> result;
  result.reserve(static_cast<std::size_t>(step.shape.elements()));
  for (std::int64_t n = 0; n < step.shape.batch; ++n) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const auto image = static_cast<std::size_t>(network.steps[step.inputs[i]].shape.elements() / step.shape.batch);
      const auto first = tensors[step.inputs[i]].begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(n) * image);
      const int shift = step.alignment[i];
      const std::int32_t half = shift > 0 ? std::int32_t{1} << (shift - 1) : 0;
      std::transform(first, first + static_cast<std::ptrdiff_t>(image), std::back_inserter(result),
                     [&](std::int8_t value) { return requantised(value + half, shift, -128, 127); });
    }
  }
  return result;
}

}  // namespace

std::vector<std::int32_t> sums_of(const QuantisedNetwork& network, std::size_t index, const QuantisedTensors& tensors,
                                  ThreadPool& pool) {
  const QuantisedStep& step = network.steps[index];
  if (step.kind == StepKind::Product) return product_sums(step, tensors, pool);
  TW_ASSERT(step.kind == StepKind::Add);
  const std::vector<std::int8_t>&a = tensors[step.inputs[0]], &b = tensors[step.inputs[1]];
  std::vector<std::int32_t> sums(a.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = wrapped_sum(aligned(a[i], step.alignment[0]), aligned(b[i], step.alignment[1]));
  }
  return sums;
}

std::vector<std::int8_t> run_step(const QuantisedNetwork& network, std::size_t index, const QuantisedTensors& tensors,
                                  ThreadPool& pool) {
  const QuantisedStep& step = network.steps[index];
  TW_ASSERT(step.kind != StepKind::Input);
  const std::vector<std::int8_t>& data = tensors[step.inputs[0]];
  std::vector<std::int8_t> result;
  switch (step.kind) {
    case StepKind::MaxPool:
      return max_pooled(step, network.steps[step.inputs[0]].shape, data);
    case StepKind::Concat:
      return concatenated(network, step, tensors);
    case StepKind::Table:
      result.reserve(data.size());
      for (const std::int8_t value : data) result.push_back(step.table[static_cast<std::size_t>(value + 128)]);
      return result;
    case StepKind::Clip:
      result.reserve(data.size());
      for (const std::int8_t value : data) result.push_back(requantised(value, step.shift, step.low, step.high));
      return result;
    case StepKind::Product:
    case StepKind::Add:
      result.reserve(static_cast<std::size_t>(step.shape.elements()));
      for (const std::int32_t sum : sums_of(network, index, tensors, pool)) {
        result.push_back(requantised(sum, step.shift, step.low, step.high));
      }
      return result;
    default:
      return data;  // Flatten
  }
}

QuantisedTensors run(const QuantisedNetwork& network, std::span<const std::int8_t> input, ThreadPool& pool) {
  TW_ASSERT(static_cast<std::int64_t>(input.size()) == network.steps[0].shape.elements());
  QuantisedTensors tensors(network.steps.size());
  tensors[0].assign(input.begin(), input.end());
  for (std::size_t index = 1; index < network.steps.size(); ++index)
    tensors[index] = run_step(network, index, tensors, pool);
  return tensors;
}

std::vector<std::int8_t> random_input(const QuantisedNetwork& network, std::uint64_t seed) {
  Rng rng(seed, "quantised/input");
  std::vector<std::int8_t> input(static_cast<std::size_t>(network.steps[0].shape.elements()));
  for (std::int8_t& value : input)
    value = static_cast<std::int8_t>(rng.between(network.steps[0].low, network.steps[0].high));
  return input;
}

}  // namespace tilewright
