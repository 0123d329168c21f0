#include "tilewright/workload/quantised_build.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kMostWeights = std::int64_t{1} << 31;  // of a step
// Numbers of a network without weights of its own, which are there several times while it is compiled.
constexpr double kMostSeededStep = 1 << 27, kMostSeeded = 1 << 28;
constexpr std::int64_t kMostOnnx = std::numeric_limits<std::int32_t>::max();  // bytes, what protobuf can hold

// The sum of two numbers from -63 to 63 is peaked in the middle and always fits int8.
constexpr int kWeightBound = 63;
constexpr double kWeightSpread = 51.4;  // its standard deviation

std::vector<std::int8_t> seeded_weights(std::int64_t count, const Rng& rng) {
  std::vector<std::int8_t> weights(static_cast<std::size_t>(count));
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(rng.key()), static_cast<std::uint32_t>(rng.key() >> 32)};
  const auto scaled = [](std::uint32_t byte) { return static_cast<int>(byte * (2 * kWeightBound + 1) >> 8) - kWeightBound; };
  constexpr std::size_t kPerBlock = 8;  // two bytes each
  for (std::size_t first = 0; first < weights.size(); first += kPerBlock) {
    const std::uint64_t index = first / kPerBlock;
    const PhiloxBlock block =
        philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0}, key);
    for (std::size_t i = 0; i < std::min(kPerBlock, weights.size() - first); ++i) {
      const std::uint32_t bits = block[i / 2] >> (16 * (i % 2));
      weights[first + i] = static_cast<std::int8_t>(scaled(bits & 0xFF) + scaled(bits >> 8 & 0xFF));
    }
  }
  return weights;
}

TensorShape shape_in(const Draft& draft, std::size_t step, const std::vector<TensorShape>& shapes) {
  return shapes[draft.steps[step].step.inputs[0]];
}

// A few lines describe a network that no memory holds.
Result<Done> check_seeded(const Draft& draft) {
  double total = 0;
  for (const DraftStep& entry : draft.steps) {
    if (entry.step.kind != StepKind::Product) continue;
    const TensorSizes sizes = tensor_sizes(entry.step.layer);
    const double numbers = static_cast<double>(sizes.weight.value) + static_cast<double>(sizes.output.value);
    total += numbers;
    if (numbers <= kMostSeededStep && total <= kMostSeeded) continue;
    return invalid(
        fmt::format("{}: step '{}': weights and results are {:.3g} numbers, {:.3g} with those before it; expected "
                    "at most {:.3g} and {:.3g} of a network without weights of its own",
                    draft.name, entry.step.name, numbers, total, kMostSeededStep, kMostSeeded));
  }
  return Done{};
}

}  // namespace

Result<Done> resize(Draft& draft, const QuantiseOptions& options) {
  if (options.batch < 1) return invalid(fmt::format("batch is {}, expected at least 1", options.batch));
  if (options.height < 0 || options.width < 0) {
    return invalid(fmt::format("input is {}x{}, expected at least 1x1", options.height, options.width));
  }
  draft.input.batch = options.batch;
  if (options.height > 0) draft.input.height = options.height;
  if (options.width > 0) draft.input.width = options.width;
  QuantisedNetwork shapes;  // only shapes matter in it
  std::vector<TensorShape> known;
  for (std::size_t index = 0; index < draft.steps.size(); ++index) {
    QuantisedStep& step = draft.steps[index].step;
    if (step.kind == StepKind::Product) {
      const TensorShape in = shape_in(draft, index, known);
      step.layer.batch = in.batch;
      step.layer.in_height = in.height;
      step.layer.in_width = in.width;
      if (step.layer.op == Operator::FullyConnected) step.layer.in_channels = in.channels;
      if (step.is_average) {
        step.layer.kernel_height = in.height;
        step.layer.kernel_width = in.width;
        if (const Result<Done> fits = check_size(in); !fits || tensor_total(step.layer) > kMostSeeded) {
          return invalid(fmt::format("{}: step '{}': averages {}, expected fewer", draft.name, step.name, to_text(in)));
        }
        const auto area = static_cast<std::size_t>(in.height * in.width);
        draft.steps[index].weight.assign(static_cast<std::size_t>(in.channels) * area, 1 / static_cast<float>(area));
      }
      TW_TRY(const Layer fits, check(step.layer));
      if (tensor_sizes(fits).weight.value > kMostWeights) {
        return invalid(fmt::format("{}: step '{}': has {} weights, expected at most 2^31", draft.name, step.name,
                                   tensor_sizes(fits).weight.value));
      }
      known.push_back({in.batch, step.layer.out_channels, out_height(step.layer), out_width(step.layer)});
    } else {
      if (step.kind == StepKind::Input) step.shape = draft.input;
      const Result<TensorShape> shape = result_shape(shapes, step);
      if (!shape) return invalid(fmt::format("{}: step '{}': {}", draft.name, step.name, shape.error().message));
      known.push_back(*shape);
    }
    if (const Result<Done> fits = check_size(known.back()); !fits) {
      return invalid(fmt::format("{}: step '{}': {}", draft.name, step.name, fits.error().message));
    }
    shapes.steps.push_back({});
    shapes.steps.back().shape = known.back();
  }
  return Done{};
}

void fill_weights(Draft& draft, std::uint64_t seed) {
  const Rng root(seed, "quantised/weights");
  for (DraftStep& entry : draft.steps) {
    QuantisedStep& step = entry.step;
    if (step.kind != StepKind::Product || step.is_average) continue;
    const Layer& layer = step.layer;
    const Rng rng = root.fork(layer.name);
    step.weight = seeded_weights(tensor_sizes(layer).weight.value, rng.fork("weight"));
    // He et al. 2015, arXiv 1502.01852: a variance of 2 / fan-in keeps that of the activations.
    const auto taps = static_cast<double>(layer.in_channels / layer.groups * layer.kernel_height * layer.kernel_width);
    step.weight_exponent = static_cast<int>(std::lround(std::log2(kWeightSpread / std::sqrt(2 / taps))));
    Rng biases = rng.fork("bias");
    for (std::int64_t k = 0; k < layer.out_channels; ++k) entry.bias.push_back(0.2 * biases.uniform() - 0.1);
  }
}

Result<Draft> draft_of(const Network& network, const QuantiseOptions& options) {
  TW_TRY(Draft draft, wired(network));
  TW_TRY(const Done resized, resize(draft, options));
  TW_TRY(const Done small, check_seeded(draft));
  fill_weights(draft, options.seed);
  draft.input_range = options.input;
  return draft;
}

Result<QuantisedNetwork> quantised_from_network(const Network& network, const QuantiseOptions& options, ThreadPool& pool) {
  TW_TRY(Draft draft, draft_of(network, options));
  return quantise(std::move(draft), {options.seed, options.saturated}, pool);
}

Result<Draft> read_draft(const std::string& source, const QuantiseOptions& options) {
  if (!source.starts_with("zoo:") && lower(std::filesystem::path(source).extension().string()) == ".onnx") {
    TW_TRY(const std::string bytes, read_file(source, kMostOnnx));
    QuantiseOptions own = options;
    const std::filesystem::path folder = std::filesystem::path(source).parent_path();
    own.data_folder = folder.empty() ? "." : folder;
    return draft_from_onnx(bytes, source, own);
  }
  TW_TRY(const Network network, read_network(source, {.dims = options.dims}));
  return draft_of(network, options);
}

Result<QuantisedNetwork> read_quantised(const std::string& source, const QuantiseOptions& options, ThreadPool& pool) {
  TW_TRY(Draft draft, read_draft(source, options));
  return quantise(std::move(draft), {options.seed, options.saturated}, pool);
}

}  // namespace tilewright
