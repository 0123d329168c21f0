#include "tilewright/vta/reference.hpp"

#include <algorithm>

namespace tilewright::vta {
namespace {

std::int32_t wrapped(std::uint32_t sum) { return static_cast<std::int32_t>(sum); }
std::uint32_t bits(std::int32_t number) { return static_cast<std::uint32_t>(number); }

std::vector<std::int32_t> matrix_sums(const Layer& l, std::span<const std::int8_t> left,
                                      std::span<const std::int8_t> right) {
  std::vector<std::int32_t> sums(static_cast<std::size_t>(l.batch * l.in_height * l.out_channels), 0);
  for (std::int64_t b = 0; b < l.batch; ++b) {
    for (std::int64_t m = 0; m < l.in_height; ++m) {
      std::int32_t* const row = sums.data() + (b * l.in_height + m) * l.out_channels;
      for (std::int64_t k = 0; k < l.in_channels; ++k) {
        const std::int32_t a = left[static_cast<std::size_t>((b * l.in_height + m) * l.in_channels + k)];
        const std::int8_t* const other = right.data() + (b * l.in_channels + k) * l.out_channels;
        for (std::int64_t n = 0; n < l.out_channels; ++n) row[n] = wrapped(bits(row[n]) + bits(a * other[n]));
      }
    }
  }
  return sums;
}

// Positions [first, end) of the result whose tap at `offset` lies inside [0, size).
struct Inside {
  std::int64_t first, end;
};
Inside results_inside(std::int64_t results, std::int64_t stride, std::int64_t offset, std::int64_t size) {
  Inside inside{0, results};
  while (inside.first < results && inside.first * stride + offset < 0) ++inside.first;
  while (inside.end > inside.first && (inside.end - 1) * stride + offset >= size) --inside.end;
  return inside;
}

}  // namespace

std::vector<std::int32_t> reference_sums(const Layer& l, std::span<const std::int8_t> input,
                                         std::span<const std::int8_t> weight) {
  if (l.op == Operator::MatrixMultiply) return matrix_sums(l, input, weight);
  const std::int64_t height = out_height(l), width = out_width(l);
  const std::int64_t in = l.in_channels / l.groups, out = l.out_channels / l.groups;
  std::vector<std::int32_t> sums(static_cast<std::size_t>(l.batch * l.out_channels * height * width), 0);
  for (std::int64_t n = 0; n < l.batch; ++n) {
    for (std::int64_t k = 0; k < l.out_channels; ++k) {
      std::int32_t* const plane = sums.data() + (n * l.out_channels + k) * height * width;
      for (std::int64_t c = 0; c < in; ++c) {
        const std::int8_t* const source = input.data() + (n * l.in_channels + k / out * in + c) * l.in_height * l.in_width;
        for (std::int64_t r = 0; r < l.kernel_height; ++r) {
          for (std::int64_t s = 0; s < l.kernel_width; ++s) {
            const std::int32_t w =
                weight[static_cast<std::size_t>(((k * in + c) * l.kernel_height + r) * l.kernel_width + s)];
            const std::int64_t dy = r * l.dilation_height - l.pad_top, dx = s * l.dilation_width - l.pad_left;
            const Inside ys = results_inside(height, l.stride_height, dy, l.in_height);
            const Inside xs = results_inside(width, l.stride_width, dx, l.in_width);
            for (std::int64_t y = ys.first; y < ys.end; ++y) {
              const std::int8_t* const row = source + (y * l.stride_height + dy) * l.in_width + dx;
              std::int32_t* const result = plane + y * width;
              for (std::int64_t x = xs.first; x < xs.end; ++x) {
                result[x] = wrapped(bits(result[x]) + bits(w * row[x * l.stride_width]));
              }
            }
          }
        }
      }
    }
  }
  return sums;
}

std::int8_t finished(std::int32_t sum, const Finishing& finishing) {
  if (finishing.shift > 0) sum >>= std::min(finishing.shift, 31);
  if (finishing.shift < 0) sum = finishing.shift <= -32 ? 0 : wrapped(bits(sum) << -finishing.shift);
  sum = std::max(sum, std::int32_t{finishing.low});
  return static_cast<std::int8_t>(std::min(sum, std::int32_t{finishing.high}));
}

std::vector<std::int8_t> reference(const Layer& layer, const Finishing& finishing, const PlainData& data) {
  const std::vector<std::int32_t> sums = reference_sums(layer, data.input, data.weight);
  const bool matrix = layer.op == Operator::MatrixMultiply;
  const auto channels = static_cast<std::size_t>(layer.out_channels);
  const auto plane = static_cast<std::size_t>(matrix ? 1 : out_height(layer) * out_width(layer));
  std::vector<std::int8_t> result(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::uint32_t sum = bits(sums[i]);
    if (finishing.bias) sum += bits(data.bias[i / plane % channels]);
    if (finishing.residual) sum += bits(data.residual[i]);
    result[i] = finished(wrapped(sum), finishing);
  }
  return result;
}

std::vector<std::int8_t> reference(const ElementwiseTask& task, const Finishing& finishing, const PlainData& data) {
  std::vector<std::int8_t> result(data.input.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int32_t sum = task.multiplier * data.input[i];
    if (task.two_inputs) sum += task.second_multiplier * data.second_input[i];
    result[i] = finished(sum, finishing);
  }
  return result;
}

std::vector<std::int8_t> reference(const PoolTask& task, const Finishing& finishing, const PlainData& data) {
  std::vector<std::int8_t> result;
  for (std::int64_t plane = 0; plane < task.batch * task.channels; ++plane) {
    const std::int8_t* const source = data.input.data() + plane * task.in_height * task.in_width;
    for (std::int64_t y = 0; y < task.out_height(); ++y) {
      for (std::int64_t x = 0; x < task.out_width(); ++x) {
        std::int32_t largest = -128, sum = 0;
        for (std::int64_t r = 0; r < task.kernel_height; ++r) {
          for (std::int64_t s = 0; s < task.kernel_width; ++s) {
            const std::int64_t row = y * task.stride_height + r - task.pad_top;
            const std::int64_t column = x * task.stride_width + s - task.pad_left;
            if (row < 0 || row >= task.in_height || column < 0 || column >= task.in_width) continue;
            const std::int32_t number = source[row * task.in_width + column];
            largest = std::max(largest, number);
            sum += number;
          }
        }
        const bool max = task.kind == PoolKind::Max;
        Finishing clip{.low = finishing.low, .high = finishing.high};
        result.push_back(max ? finished(largest, clip) : finished(task.multiplier * sum, finishing));
      }
    }
  }
  return result;
}

}  // namespace tilewright::vta
