#include "tilewright/workload/real_reference.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/workload/convolution_loops.hpp"

namespace tilewright {
namespace {

Result<Done> check_numbers(const DraftStep& entry) {
  for (const float weight : entry.weight) {
    if (!std::isfinite(weight)) return invalid("a weight is not a finite number, expected every weight to be one");
  }
  for (const double bias : entry.bias) {
    if (!std::isfinite(bias)) return invalid("a bias is not a finite number, expected every bias to be one");
  }
  const bool fits = entry.bias.empty() || static_cast<std::int64_t>(entry.bias.size()) == entry.step.layer.out_channels;
  if (!fits) return invalid(fmt::format("has {} biases, expected {}", entry.bias.size(), entry.step.layer.out_channels));
  return Done{};
}

// Left [b][m][k] times right [b][k][n].
void multiply_matrices(const Layer& layer, const std::vector<float>& left, const std::vector<float>& right, float* sums) {
  const auto inner = static_cast<std::size_t>(layer.in_channels), columns = static_cast<std::size_t>(layer.out_channels);
  const auto rows = static_cast<std::size_t>(layer.in_height);
  for (std::size_t row = 0; row < static_cast<std::size_t>(layer.batch) * rows; ++row) {
    float* const result = sums + row * columns;
    std::fill(result, result + columns, 0.0f);
    for (std::size_t k = 0; k < inner; ++k) {
      const float value = left[row * inner + k];
      const float* const weights = right.data() + (row / rows * inner + k) * columns;
      for (std::size_t n = 0; n < columns; ++n) result[n] += value * weights[n];
    }
  }
}

std::vector<float> product_sums(const DraftStep& entry, const TensorShape& shape, const RealTensors& tensors,
                                ThreadPool& pool) {
  const Layer& layer = entry.step.layer;
  const std::vector<float>& data = tensors[entry.step.inputs[0]];
  std::vector<float> sums(static_cast<std::size_t>(shape.elements()));
  if (layer.op == Operator::MatrixMultiply) {
    multiply_matrices(layer, data, tensors[entry.step.inputs[1]], sums.data());
  } else {
    const auto batch = static_cast<std::size_t>(layer.batch), image = data.size() / batch, result = sums.size() / batch;
    for (std::size_t n = 0; n < batch; ++n) {
      const auto packed = convolution_loops::packed<float, float>(layer, std::span(data).subspan(n * image, image));
      convolution_loops::convolve_image(layer, packed, entry.weight.data(), sums.data() + n * result, pool);
    }
  }
  const bool by_column = layer.op == Operator::MatrixMultiply;
  const auto plane = static_cast<std::size_t>(by_column ? 1 : shape.height * shape.width);
  for (std::size_t i = 0; i < sums.size() && !entry.bias.empty(); ++i) {
    sums[i] = static_cast<float>(sums[i] + entry.bias[i / plane % entry.bias.size()]);
  }
  if (entry.step.has_residual) {
    const std::vector<float>& residual = tensors[entry.step.inputs.back()];
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += residual[i];
  }
  return sums;
}

std::vector<float> max_pooled(const Window& w, const TensorShape& in, const TensorShape& out,
                              const std::vector<float>& data) {
  std::vector<float> result;
  result.reserve(static_cast<std::size_t>(out.elements()));
  for (std::int64_t plane = 0; plane < in.batch * in.channels; ++plane) {
    const float* const from = data.data() + plane * in.height * in.width;
    for (std::int64_t y = 0; y < out.height; ++y) {
      const std::int64_t top = y * w.stride_height - w.pad_top;
      for (std::int64_t x = 0; x < out.width; ++x) {
        const std::int64_t left = x * w.stride_width - w.pad_left;
        float best = -std::numeric_limits<float>::infinity();
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

std::vector<float> concatenated(const DraftStep& entry, const TensorShape& shape, const RealTensors& tensors) {
  std::vector<float> result;
  result.reserve(static_cast<std::size_t>(shape.elements()));
  const auto batch = static_cast<std::size_t>(shape.batch);
  for (std::size_t n = 0; n < batch; ++n) {
    for (const std::size_t input : entry.step.inputs) {
      const std::vector<float>& data = tensors[input];
      const std::size_t image = data.size() / batch;
      result.insert(result.end(), data.begin() + static_cast<std::ptrdiff_t>(n * image),
                    data.begin() + static_cast<std::ptrdiff_t>((n + 1) * image));
    }
  }
  return result;
}

}  // namespace

Result<RealNetwork> real_network(Draft draft) {
  RealNetwork network{std::move(draft), {}};
  QuantisedNetwork known;  // only its shapes matter
  if (network.draft.steps.size() < 2) {
    return invalid(network.draft.name + ": there are no steps, expected an input and at least one more");
  }
  for (std::size_t index = 0; index < network.draft.steps.size(); ++index) {
    DraftStep& entry = network.draft.steps[index];
    const auto complain = [&](const std::string& what) {
      return invalid(fmt::format("{}: step '{}': {}", network.draft.name, entry.step.name, what));
    };
    for (const std::size_t from : entry.step.inputs) {
      if (from >= index) return complain("is fed by itself or a later step, expected an earlier one");
    }
    if (const Result<Done> fine = check_numbers(entry); !fine) return complain(fine.error().message);
    if (index == 0) entry.step.shape = network.draft.input;
    if (entry.weight.empty() && !entry.step.weight.empty()) {  // of a network that has none of its own
      const double unit = std::ldexp(1.0, -entry.step.weight_exponent);
      for (const std::int8_t weight : entry.step.weight) entry.weight.push_back(static_cast<float>(weight * unit));
    }
    entry.step.weight.assign(entry.weight.size(), 0);  // as many as there will be
    const Result<TensorShape> shape = result_shape(known, entry.step);
    if (!shape) return complain(shape.error().message);
    if (const Result<Done> fits = check_size(*shape); !fits) return complain(fits.error().message);
    entry.step.weight = {};
    entry.step.shape = *shape;
    network.shapes.push_back(*shape);
    known.steps.emplace_back().shape = *shape;
  }
  return network;
}

void clip(const DraftStep& step, std::vector<float>& numbers) {
  const auto low = static_cast<float>(step.low), high = static_cast<float>(step.high);
  for (float& number : numbers) number = std::clamp(number, low, high);
}

std::vector<float> real_sums(const RealNetwork& network, std::size_t index, const RealTensors& tensors, ThreadPool& pool) {
  const DraftStep& entry = network.draft.steps[index];
  if (entry.step.kind == StepKind::Product) return product_sums(entry, network.shapes[index], tensors, pool);
  TW_ASSERT(entry.step.kind == StepKind::Add);
  std::vector<float> sums = tensors[entry.step.inputs[0]];
  const std::vector<float>& other = tensors[entry.step.inputs[1]];
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other[i];
  return sums;
}

std::vector<float> run_real_step(const RealNetwork& network, std::size_t index, const RealTensors& tensors,
                                 ThreadPool& pool) {
  const DraftStep& entry = network.draft.steps[index];
  const std::size_t first = entry.step.inputs[0];
  const std::vector<float>& data = tensors[first];
  std::vector<float> result;
  switch (entry.step.kind) {
    case StepKind::MaxPool:
      return max_pooled(entry.step.window, network.shapes[first], network.shapes[index], data);
    case StepKind::Concat:
      return concatenated(entry, network.shapes[index], tensors);
    case StepKind::Table:
      result.reserve(data.size());
      for (const float value : data) result.push_back(static_cast<float>(entry.function(value)));
      return result;
    case StepKind::Host: {
      std::vector<const std::vector<float>*> inputs;
      for (const std::size_t input : entry.step.inputs) inputs.push_back(&tensors[input]);
      return evaluate(*entry.step.host, inputs);
    }
    case StepKind::Product:
    case StepKind::Add:
      result = real_sums(network, index, tensors, pool);
      clip(entry, result);
      return result;
    case StepKind::Clip:
      result = data;
      clip(entry, result);
      return result;
    default:
      return data;  // Flatten
  }
}

}  // namespace tilewright
