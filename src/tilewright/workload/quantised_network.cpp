#include "tilewright/workload/quantised_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 9> kStepNames{"input",   "product", "add",   "clip", "max_pool",
                                                     "flatten", "concat",  "table", "host"};
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // of one tensor
constexpr int kMostShift = 31;

TensorShape shape_of(const Layer& layer) {
  if (layer.op == Operator::MatrixMultiply) return {layer.batch, 1, layer.in_height, layer.out_channels};
  return {layer.batch, layer.out_channels, out_height(layer), out_width(layer)};
}

TensorShape input_shape_of(const Layer& layer) {
  if (layer.op == Operator::MatrixMultiply) return {layer.batch, 1, layer.in_height, layer.in_channels};
  return {layer.batch, layer.in_channels, layer.in_height, layer.in_width};
}

std::int64_t slid(std::int64_t in, std::int64_t pads, std::int64_t kernel, std::int64_t stride) {
  return kernel < 1 || stride < 1 || in + pads < kernel ? 0 : (in + pads - kernel) / stride + 1;
}

class StepChecker {
 public:
  StepChecker(const QuantisedNetwork& network, const QuantisedStep& step) : network_(network), step_(step) {}

  Result<TensorShape> shape() const {
    if (step_.kind == StepKind::Input || step_.kind == StepKind::Host) return step_.shape;
    switch (step_.kind) {
      case StepKind::Product:
        return product();
      case StepKind::Add:
        if (input(0) != input(1)) return differ(1, to_text(input(1)), to_text(input(0)));
        return input(0);
      case StepKind::MaxPool:
        return pool();
      case StepKind::Flatten: {
        const TensorShape& in = input(0);
        return TensorShape{in.batch, in.channels * in.height * in.width, 1, 1};
      }
      case StepKind::Concat:
        return concat();
      default:
        return input(0);
    }
  }

  // How many inputs a step of the kind has: least and most.
  static std::array<std::size_t, 2> input_counts(const QuantisedStep& step) {
    const std::size_t residual = step.has_residual ? 1 : 0;
    switch (step.kind) {
      case StepKind::Input:
        return {0, 0};
      case StepKind::Product: {
        const std::size_t count = (step.layer.op == Operator::MatrixMultiply ? 2 : 1) + residual;
        return {count, count};
      }
      case StepKind::Add:
        return {2, 2};
      case StepKind::Concat:
      case StepKind::Host:
        return {1, 1000};
      default:
        return {1, 1};
    }
  }

 private:
  const TensorShape& input(std::size_t index) const { return network_.steps[step_.inputs[index]].shape; }

  static Error differ(std::size_t index, const std::string& is, const std::string& expected) {
    return invalid(fmt::format("input {} is {}, expected {}", index, is, expected));
  }

  Result<TensorShape> product() const {
    TW_TRY(const Layer layer, check(step_.layer));
    if (layer.op == Operator::TransposedConvolution) {
      return invalid("is a transposed convolution, expected a convolution: put zeros between the rows and columns instead");
    }
    const TensorShape needed = input_shape_of(layer);
    if (input(0) != needed) return differ(0, to_text(input(0)), to_text(needed));
    const bool is_matrix = layer.op == Operator::MatrixMultiply;
    const TensorShape right{layer.batch, 1, layer.in_channels, layer.out_channels};
    if (is_matrix && input(1) != right) return differ(1, to_text(input(1)), to_text(right));
    const std::int64_t weights = is_matrix ? 0 : tensor_sizes(layer).weight.value;
    if (static_cast<std::int64_t>(step_.weight.size()) != weights) {
      return invalid(fmt::format("has {} weights, expected {}", step_.weight.size(), weights));
    }
    if (!step_.bias.empty() && static_cast<std::int64_t>(step_.bias.size()) != layer.out_channels) {
      return invalid(fmt::format("has {} biases, expected {} or none", step_.bias.size(), layer.out_channels));
    }
    const TensorShape out = shape_of(layer);
    const std::size_t last = step_.inputs.size() - 1;
    if (step_.has_residual && input(last) != out) return differ(last, to_text(input(last)), to_text(out));
    return out;
  }

  Result<TensorShape> pool() const {
    const Window& w = step_.window;
    const TensorShape& in = input(0);
    if (std::min({w.pad_top, w.pad_bottom, w.pad_left, w.pad_right}) < 0 ||
        std::max(w.pad_top, w.pad_bottom) >= w.kernel_height || std::max(w.pad_left, w.pad_right) >= w.kernel_width) {
      return invalid("its padding is not between 0 and the kernel, so a window may see nothing");
    }
    const TensorShape out{in.batch, in.channels, slid(in.height, w.pad_top + w.pad_bottom, w.kernel_height, w.stride_height),
                          slid(in.width, w.pad_left + w.pad_right, w.kernel_width, w.stride_width)};
    if (out.height < 1 || out.width < 1) {
      return invalid(fmt::format("its window of {}x{} does not fit {}", w.kernel_height, w.kernel_width, to_text(in)));
    }
    return out;
  }

  Result<TensorShape> concat() const {
    TensorShape out = input(0);
    for (std::size_t i = 1; i < step_.inputs.size(); ++i) {
      TensorShape expected = out;
      expected.channels = input(i).channels;
      if (input(i) != expected) return differ(i, to_text(input(i)), to_text(expected));
      out.channels += input(i).channels;
    }
    return out;
  }

  const QuantisedNetwork& network_;
  const QuantisedStep& step_;
};

Result<Done> check_step(const QuantisedNetwork& network, std::size_t index) {
  const QuantisedStep& step = network.steps[index];
  const auto [least, most] = StepChecker::input_counts(step);
  if (step.inputs.size() < least || step.inputs.size() > most) {
    return invalid(fmt::format("has {} inputs, expected {}", step.inputs.size(), least));
  }
  if ((step.kind == StepKind::Input) != (index == 0)) return invalid("is an input, expected only the first step to be one");
  for (const std::size_t input : step.inputs) {
    if (input >= index) return invalid("is fed by itself or a later step, expected an earlier one");
  }
  TW_TRY(const TensorShape shape, result_shape(network, step));
  if (shape != step.shape) return invalid(fmt::format("has shape {}, expected {}", to_text(step.shape), to_text(shape)));
  TW_TRY(const Done sized, check_size(shape));
  std::size_t aligned = step.has_residual && step.residual_factor.empty() ? 1 : 0;
  if (step.kind == StepKind::Add || step.kind == StepKind::Concat) aligned = step.inputs.size();
  if (step.alignment.size() != aligned) {
    return invalid(fmt::format("has {} alignments, expected {}", step.alignment.size(), aligned));
  }
  for (const int shift : step.alignment) {
    if (std::abs(shift) > kMostShift) return invalid(fmt::format("an alignment is {}, expected -31 to 31", shift));
  }
  if (std::abs(step.shift) > kMostShift) return invalid(fmt::format("shift is {}, expected -31 to 31", step.shift));
  if (step.low < -128 || step.high > 127 || step.low > step.high) {
    return invalid(fmt::format("clips to {}..{}, expected a range within -128..127", step.low, step.high));
  }
  const bool finishes = step.kind == StepKind::Product || step.kind == StepKind::Add || step.kind == StepKind::Clip;
  const bool has_range = finishes || step.kind == StepKind::Input;
  if ((!finishes && step.shift != 0) || (!has_range && (step.low != -128 || step.high != 127))) {
    return invalid(fmt::format("is a {} that shifts or clips, expected a step of its own for that", name_of(step.kind)));
  }
  const bool equal = std::ranges::adjacent_find(step.weight, std::not_equal_to<>()) == step.weight.end();
  if (step.is_average && (!equal || !step.bias.empty() || step.has_residual || step.layer.in_channels != step.layer.groups ||
                          step.layer.dilation_height != 1 || step.layer.dilation_width != 1)) {
    return invalid("is an average with unequal weights, a bias or a residual, expected a plain one");
  }
  const auto channels = static_cast<std::size_t>(shape.channels);
  if (step.kind == StepKind::Table && step.table.size() != kTableSize && step.table.size() != kTableSize * channels) {
    return invalid(
        fmt::format("its table has {} entries, expected {} or so many per channel", step.table.size(), kTableSize));
  }
  for (const std::vector<double>* const list : {&step.grid.scale, &step.grid.zero}) {
    if (list->size() == step.grid.scale.size() && (list->size() < 2 || list->size() == channels)) continue;
    return invalid(fmt::format("has {} scales or zeros, expected one or {}", list->size(), channels));
  }
  const auto inner = static_cast<std::size_t>(step.layer.in_channels);
  if (!step.padding.empty() && (step.kind != StepKind::Product || step.padding.size() != inner)) {
    return invalid(fmt::format("has {} numbers of padding, expected none or {}", step.padding.size(), inner));
  }
  if (!step.residual_factor.empty() && (!step.has_residual || step.residual_factor.size() != channels)) {
    return invalid(fmt::format("has {} factors of a residual, expected none or {}", step.residual_factor.size(), channels));
  }
  return Done{};
}

}  // namespace

std::string to_text(const TensorShape& shape) {
  return fmt::format("{}x{}x{}x{}", shape.batch, shape.channels, shape.height, shape.width);
}

std::string_view name_of(StepKind kind) { return kStepNames[static_cast<std::size_t>(kind)]; }

double scale_at(const QuantisedStep& step, std::size_t channel) {
  const std::vector<double>& scale = step.grid.scale;
  return scale.empty() ? std::ldexp(1.0, -step.exponent) : scale[scale.size() == 1 ? 0 : channel];
}

double zero_at(const QuantisedStep& step, std::size_t channel) {
  const std::vector<double>& zero = step.grid.zero;
  return zero.empty() ? 0 : zero[zero.size() == 1 ? 0 : channel];
}

std::vector<float> real_values(const QuantisedStep& step, const std::vector<std::int8_t>& integers) {
  std::vector<float> numbers(integers.size());
  const auto plane = static_cast<std::size_t>(step.shape.height * step.shape.width);
  for (std::size_t first = 0; first < integers.size(); first += plane) {
    const std::size_t channel = first / plane % static_cast<std::size_t>(step.shape.channels);
    const double scale = scale_at(step, channel), zero = zero_at(step, channel);
    for (std::size_t i = first; i < first + plane; ++i) numbers[i] = static_cast<float>(scale * (integers[i] - zero));
  }
  return numbers;
}

std::vector<std::int8_t> integers_of(const QuantisedStep& step, const std::vector<float>& numbers) {
  std::vector<std::int8_t> integers(numbers.size());
  const auto plane = static_cast<std::size_t>(step.shape.height * step.shape.width);
  for (std::size_t first = 0; first < numbers.size(); first += plane) {
    const std::size_t channel = first / plane % static_cast<std::size_t>(step.shape.channels);
    const double scale = scale_at(step, channel), zero = zero_at(step, channel);
    for (std::size_t i = first; i < first + plane; ++i) {
      integers[i] = static_cast<std::int8_t>(
          std::lround(std::clamp(numbers[i] / scale + zero, static_cast<double>(step.low), static_cast<double>(step.high))));
    }
  }
  return integers;
}

Result<TensorShape> result_shape(const QuantisedNetwork& network, const QuantisedStep& step) {
  return StepChecker(network, step).shape();
}

Result<Done> check_size(const TensorShape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : {shape.batch, shape.channels, shape.height, shape.width}) {
    if (size < 1 || __builtin_mul_overflow(product, size, &product) || product > kMostElements) {
      return invalid(fmt::format("has shape {}, expected sizes from 1 and at most 2^31 elements", to_text(shape)));
    }
  }
  return Done{};
}

Result<QuantisedNetwork> check(QuantisedNetwork network, const std::string& where) {
  if (network.steps.size() < 2) return invalid(where + ": there are no steps, expected an input and at least one more");
  for (std::size_t index = 0; index < network.steps.size(); ++index) {
    if (const Result<Done> fine = check_step(network, index); !fine) {
      return invalid(fmt::format("{}: step '{}': {}", where, network.steps[index].name, fine.error().message));
    }
  }
  return network;
}

Macs macs(const QuantisedNetwork& network) {
  Macs total{0};
  for (const QuantisedStep& step : network.steps) {
    if (is_layer(step)) total.value += macs(step.layer).value;
  }
  return total;
}

Result<Done> check_layers(const QuantisedNetwork& quantised, const Network& network) {
  std::size_t next = 0;
  for (const QuantisedStep& step : quantised.steps) {
    if (!is_layer(step)) continue;
    if (next == network.layers.size()) return invalid(fmt::format("layer '{}' is one too many", step.layer.name));
    const Layer& expected = network.layers[next++].layer;
    if (step.layer != expected) {
      return invalid(fmt::format("layer {} is '{}', expected '{}' with its shape", next, step.layer.name, expected.name));
    }
  }
  if (next < network.layers.size()) {
    return invalid(fmt::format("layer '{}' is missing", network.layers[next].layer.name));
  }
  return Done{};
}

}  // namespace tilewright
