// Convolutions over a copy of the data in the order row, column, channel: there the taps of one kernel row are neighbours,
// and a sum of products is a plain dot product, which compilers turn into vector instructions by themselves. Numbers are
// int16 (8-bit numbers with room for their products) or float.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright::convolution_loops {

inline constexpr std::int64_t kChunk =
    32;  // numbers of a dot product at a time; weights are padded with zeros to a multiple
inline constexpr std::int64_t kTogether = 4;  // output channels that share the loads of the data

inline std::int64_t chunks_of(std::int64_t count) { return (count + kChunk - 1) / kChunk; }

// No sum of 8-bit products over fewer than 2^17 taps leaves int32; beyond, numbers wrap as they do in the machine.
inline std::uint32_t dot(const std::int16_t* a, const std::int16_t* b) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < kChunk; ++i) sum += a[i] * b[i];
  return static_cast<std::uint32_t>(sum);
}

// Summed in lanes, in an order that no compiler may change: the same bits everywhere.
inline float dot(const float* a, const float* b) {
  constexpr std::int64_t kLanes = 8;
  float lanes[kLanes] = {};
  for (std::int64_t i = 0; i < kChunk; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// What sums of products of Numbers are added up in, and handed over as.
template <typename Number>
using SumOf = std::conditional_t<std::is_same_v<Number, float>, float, std::uint32_t>;
template <typename Number>
using ResultOf = std::conditional_t<std::is_same_v<Number, float>, float, std::int32_t>;

// One image as [group][row][column][channel of the group], padding included, and some numbers more: dot products read on
// past their last tap, where the weights are zero.
template <typename Number>
struct PackedImage {
  std::int64_t group_channels = 1, rows = 1, columns = 1;
  std::vector<Number> values;

  const Number* at(std::int64_t group, std::int64_t row, std::int64_t column) const {
    return values.data() + ((group * rows + row) * columns + column) * group_channels;
  }
};

// `padding` has what stands around each channel; empty = zeros.
template <typename Number, typename Plain>
PackedImage<Number> packed(const Layer& layer, std::span<const Plain> image, std::span<const Plain> padding = {}) {
  PackedImage<Number> result;
  result.group_channels = layer.in_channels / layer.groups;
  result.rows = layer.in_height + layer.pad_top + layer.pad_bottom;
  result.columns = layer.in_width + layer.pad_left + layer.pad_right;
  const std::int64_t count = layer.groups * result.rows * result.columns * result.group_channels;
  result.values.assign(static_cast<std::size_t>(count + kChunk), Number{0});
  for (std::int64_t i = 0; !padding.empty() && i < count; ++i) {
    const std::int64_t group = i / (result.rows * result.columns * result.group_channels);
    const std::int64_t channel = group * result.group_channels + i % result.group_channels;
    result.values[static_cast<std::size_t>(i)] = static_cast<Number>(padding[static_cast<std::size_t>(channel)]);
  }
  const Plain* from = image.data();
  for (std::int64_t channel = 0; channel < layer.in_channels; ++channel) {
    const std::int64_t group = channel / result.group_channels;
    for (std::int64_t y = 0; y < layer.in_height; ++y) {
      const std::int64_t row = ((group * result.rows + y + layer.pad_top) * result.columns + layer.pad_left);
      Number* to = result.values.data() + row * result.group_channels + channel % result.group_channels;
      for (std::int64_t x = 0; x < layer.in_width; ++x) to[x * result.group_channels] = static_cast<Number>(*from++);
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

inline Runs runs_of(const Layer& layer) {
  const std::int64_t channels = layer.in_channels / layer.groups;
  if (layer.dilation_width == 1) return {1, layer.kernel_width * channels, layer.kernel_height};
  return {layer.kernel_width, channels, layer.kernel_height * layer.kernel_width};
}

// Weights of one output channel, [run][tap padded to chunks].
template <typename Number, typename Plain>
void pack_weights(const Layer& layer, const Runs& runs, const Plain* weights, Number* to) {
  const std::int64_t channels = layer.in_channels / layer.groups;
  const std::int64_t stride = chunks_of(runs.length) * kChunk;
  std::fill(to, to + runs.count * stride, Number{0});
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t r = 0; r < layer.kernel_height; ++r) {
      for (std::int64_t s = 0; s < layer.kernel_width; ++s) {
        const std::int64_t run = runs.per_row == 1 ? r : r * layer.kernel_width + s;
        const std::int64_t tap = runs.per_row == 1 ? s * channels + c : c;
        to[run * stride + tap] = static_cast<Number>(*weights++);
      }
    }
  }
}

// `together` output channels of one image; `sums` gets each channel's plane.
template <typename Number>
void convolve(const Layer& layer, const PackedImage<Number>& image, std::int64_t group, const Number* weights,
              std::int64_t together, ResultOf<Number>* sums) {
  const Runs runs = runs_of(layer);
  const std::int64_t stride = chunks_of(runs.length) * kChunk;
  const std::int64_t channel_stride = runs.count * stride;
  const std::int64_t height = out_height(layer), width = out_width(layer);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      SumOf<Number> sum[kTogether] = {0, 0, 0, 0};
      for (std::int64_t run = 0; run < runs.count; ++run) {
        const std::int64_t r = run / runs.per_row, s = run % runs.per_row;
        const Number* data = image.at(group, y * layer.stride_height + r * layer.dilation_height,
                                      x * layer.stride_width + s * layer.dilation_width);
        for (std::int64_t i = run * stride; i < (run + 1) * stride; i += kChunk, data += kChunk) {
          for (std::int64_t k = 0; k < kTogether; ++k) sum[k] += dot(data, weights + k * channel_stride + i);
        }
      }
      for (std::int64_t k = 0; k < together; ++k) {
        sums[(k * height + y) * width + x] = static_cast<ResultOf<Number>>(sum[k]);
      }
    }
  }
}

template <typename Number, typename Plain>
void convolve_image(const Layer& layer, const PackedImage<Number>& data, const Plain* weight, ResultOf<Number>* sums,
                    ThreadPool& pool) {
  const Runs runs = runs_of(layer);
  const std::int64_t channel_stride = runs.count * chunks_of(runs.length) * kChunk;
  const std::int64_t group_outs = layer.out_channels / layer.groups;
  const std::int64_t batches = (group_outs + kTogether - 1) / kTogether;
  const std::int64_t taps = layer.in_channels / layer.groups * layer.kernel_height * layer.kernel_width;
  const std::int64_t plane = out_height(layer) * out_width(layer);
  std::vector<std::vector<Number>> workspaces(pool.thread_count());
  pool.for_each(static_cast<std::size_t>(layer.groups * batches), [&](std::size_t item, std::size_t thread) {
    const std::int64_t group = static_cast<std::int64_t>(item) / batches;
    const std::int64_t first = static_cast<std::int64_t>(item) % batches * kTogether;
    const std::int64_t together = std::min(kTogether, group_outs - first);
    std::vector<Number>& weights = workspaces[thread];
    weights.assign(static_cast<std::size_t>(kTogether * channel_stride), Number{0});
    for (std::int64_t k = 0; k < together; ++k) {
      const std::int64_t channel = group * group_outs + first + k;
      pack_weights(layer, runs, weight + channel * taps, weights.data() + k * channel_stride);
    }
    convolve(layer, data, group, weights.data(), together, sums + (group * group_outs + first) * plane);
  });
}

}  // namespace tilewright::convolution_loops
