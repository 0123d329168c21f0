#include "tilewright/workload/quantised_reference.hpp"

#include <algorithm>

#include "tilewright/base/rng.hpp"
#include "tilewright/workload/convolution_loops.hpp"

namespace tilewright {
namespace {

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
      const auto packed = convolution_loops::packed<std::int16_t, std::int8_t>(
          layer, std::span(data).subspan(n * image, image), step.padding);
      convolution_loops::convolve_image(layer, packed, step.weight.data(), sums.data() + n * result, pool);
    }
  }
  if (!step.bias.empty()) {
    // The bias of a matrix multiply belongs to a column, that of every other layer to a channel.
    const bool by_column = layer.op == Operator::MatrixMultiply;
    const auto plane = static_cast<std::size_t>(by_column ? 1 : step.shape.height * step.shape.width);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = wrapped_sum(sums[i], step.bias[i / plane % step.bias.size()]);
  }
  if (step.has_residual) {
    const std::vector<std::int32_t> residual = widened_residual(step, tensors[step.inputs.back()]);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = wrapped_sum(sums[i], residual[i]);
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

std::vector<std::int8_t> on_host(const QuantisedNetwork& network, const QuantisedStep& step,
                                 const QuantisedTensors& tensors) {
  std::vector<std::vector<float>> numbers;
  for (const std::size_t input : step.inputs) numbers.push_back(real_values(network.steps[input], tensors[input]));
  std::vector<const std::vector<float>*> inputs;
  for (const std::vector<float>& one : numbers) inputs.push_back(&one);
  return integers_of(step, evaluate(*step.host, inputs));
}

}  // namespace

std::vector<std::int32_t> widened_residual(const QuantisedStep& step, std::span<const std::int8_t> residual) {
  std::vector<std::int32_t> wide;
  wide.reserve(residual.size());
  const auto plane = static_cast<std::size_t>(step.shape.height * step.shape.width);
  for (std::size_t i = 0; i < residual.size(); ++i) {
    wide.push_back(step.residual_factor.empty()
                       ? aligned(residual[i], step.alignment[0])
                       : residual[i] * step.residual_factor[i / plane % step.residual_factor.size()]);
  }
  return wide;
}

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
  const auto plane = static_cast<std::size_t>(step.shape.height * step.shape.width);
  std::vector<std::int8_t> result;
  switch (step.kind) {
    case StepKind::Host:
      return on_host(network, step, tensors);
    case StepKind::MaxPool:
      return max_pooled(step, network.steps[step.inputs[0]].shape, data);
    case StepKind::Concat:
      return concatenated(network, step, tensors);
    case StepKind::Table:
      result.reserve(data.size());
      for (std::size_t i = 0; i < data.size(); ++i) {
        const std::size_t channel = i / plane % static_cast<std::size_t>(step.shape.channels);
        const std::size_t first = step.table.size() == kTableSize ? 0 : channel * kTableSize;
        result.push_back(step.table[first + static_cast<std::size_t>(data[i] + 128)]);
      }
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
