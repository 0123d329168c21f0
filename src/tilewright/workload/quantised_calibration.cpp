#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/workload/quantised_draft.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

constexpr int kMostExponent = 40;     // keeps the exponents of empty or tiny weights within arithmetic
constexpr int kMostAlignment = 20;    // an int8 number shifted further would leave int32
constexpr int kMostSumAlignment = 6;  // of two tensors that are added: 2^6 is the largest power of two in int8

double power_of_two(int exponent) { return std::ldexp(1.0, std::clamp(exponent, -900, 900)); }  // finite and not zero

std::int32_t half_of(int shift) { return shift > 0 ? std::int32_t{1} << (shift - 1) : 0; }

std::int32_t to_int32(double number) {
  constexpr double kMost = 1 << 30;  // leaves room for what is added
  return static_cast<std::int32_t>(std::lround(std::clamp(number, -kMost, kMost)));
}

int to_bound(double number, int exponent) {
  return static_cast<int>(std::lround(std::clamp(number * power_of_two(exponent), -128.0, 127.0)));
}

class Calibration {
 public:
  Calibration(Draft draft, const CalibrationOptions& options, ThreadPool& pool)
      : draft_(std::move(draft)), options_(options), pool_(pool) {}

  Result<QuantisedNetwork> run() {
    network_.name = draft_.name;
    network_.notes = std::move(draft_.notes);
    tensors_.resize(draft_.steps.size());
    for (std::size_t index = 0; index < draft_.steps.size(); ++index) {
      network_.steps.push_back(std::move(draft_.steps[index].step));
      QuantisedStep& step = network_.steps.back();
      if (index == 0) {
        step.shape = draft_.input;
        step.exponent = exponent_for(draft_.input_range);
        step.low = to_bound(draft_.input_range.low, step.exponent);
        step.high = to_bound(draft_.input_range.high, step.exponent);
      }
      TW_TRY(const Done prepared, prepare(step, draft_.steps[index], index));
      if (index == 0) {
        tensors_[0] = random_input(network_, options_.seed);
        continue;
      }
      scale(index);
      const bool sums = step.kind == StepKind::Product || step.kind == StepKind::Add;
      tensors_[index] = sums ? finished(step) : run_step(network_, index, tensors_, pool_);
    }
    return check(std::move(network_), draft_.name);
  }

 private:
  const QuantisedStep& input(const QuantisedStep& step, std::size_t index) const {
    return network_.steps[step.inputs[index]];
  }

  // What the scales do not depend on: shape and integer weights. A wrong shape ends here, before anything is computed.
  Result<Done> prepare(QuantisedStep& step, DraftStep& draft, std::size_t index) {
    const auto complain = [&](const std::string& what) {
      return invalid(fmt::format("{}: step '{}': {}", draft_.name, step.name, what));
    };
    for (const std::size_t from : step.inputs) {
      if (from >= index) return complain("is fed by itself or a later step, expected an earlier one");
    }
    if (step.kind == StepKind::Host) {
      return complain(fmt::format("is computed by the host in real numbers ({}), expected steps in integers only",
                                  step.host->operators()));
    }
    if (!draft.weight.empty()) {
      for (const float weight : draft.weight) {
        if (!std::isfinite(weight)) return complain("a weight is not a finite number, expected every weight to be one");
      }
      step.weight_exponent = weight_exponent_for(draft.weight);
      const double factor = power_of_two(step.weight_exponent);
      step.weight.reserve(draft.weight.size());
      for (const float weight : draft.weight) {
        step.weight.push_back(static_cast<std::int8_t>(std::lround(std::clamp(weight * factor, -127.0, 127.0))));
      }
      draft.weight = {};
    }
    for (const double bias : draft.bias) {
      if (!std::isfinite(bias)) return complain("a bias is not a finite number, expected every bias to be one");
    }
    const Result<TensorShape> shape = result_shape(network_, step);
    if (!shape) return complain(shape.error().message);
    if (const Result<Done> fits = check_size(*shape); !fits) return complain(fits.error().message);
    step.shape = *shape;
    if (!draft.bias.empty() && static_cast<std::int64_t>(draft.bias.size()) != step.layer.out_channels) {
      return complain(fmt::format("has {} biases, expected {}", draft.bias.size(), step.layer.out_channels));
    }
    return Done{};
  }

  void scale(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    const DraftStep& draft = draft_.steps[index];
    const int exponent = input(step, 0).exponent;
    switch (step.kind) {
      case StepKind::Product:
        return scale_product(index);
      case StepKind::Add:
        return scale_add(index);
      case StepKind::Clip:
        step.exponent = exponent;
        step.low = to_bound(draft.low, exponent);
        step.high = to_bound(draft.high, exponent);
        return;
      case StepKind::Concat:
        return scale_concat(step);
      case StepKind::Table:
        return scale_table(step, draft.function);
      default:
        step.exponent = exponent;
    }
  }

  void scale_product(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    const DraftStep& draft = draft_.steps[index];
    const bool is_matrix = step.layer.op == Operator::MatrixMultiply;
    if (is_matrix) step.weight_exponent = input(step, 1).exponent;
    const int data = input(step, 0).exponent;
    const int residual = step.has_residual ? input(step, step.inputs.size() - 1).exponent : 0;
    // Fine weights beside a coarse residual: the residual would be shifted out of the accumulator.
    while (step.has_residual && !is_matrix && data + step.weight_exponent - residual > kMostAlignment) {
      for (std::int8_t& weight : step.weight) weight = static_cast<std::int8_t>((weight + 1) >> 1);
      --step.weight_exponent;
    }
    const int exponent = data + step.weight_exponent;
    if (step.has_residual) step.alignment = {std::clamp(exponent - residual, -31, kMostAlignment)};
    for (const double bias : draft.bias) step.bias.push_back(to_int32(bias * power_of_two(exponent)));
    finish(index, exponent);
    if (step.shift <= 0 || step.is_average) return;  // an average has no bias
    step.bias.resize(static_cast<std::size_t>(step.layer.out_channels), 0);
    for (std::int32_t& bias : step.bias) bias += half_of(step.shift);
    rounding_ = half_of(step.shift);
  }

  void scale_add(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    const int a = input(step, 0).exponent, b = input(step, 1).exponent;
    const int exponent = std::min(std::max(a, b), std::min(a, b) + kMostSumAlignment);
    step.alignment = {std::max(exponent - a, -31), std::max(exponent - b, -31)};
    finish(index, exponent);
  }

  // Shift and bounds of a step whose sums have `exponent`.
  void finish(std::size_t index, int exponent) {
    QuantisedStep& step = network_.steps[index];
    const DraftStep& draft = draft_.steps[index];
    const double factor = power_of_two(exponent);
    sums_ = sums_of(network_, index, tensors_, pool_);
    rounding_ = 0;
    step.shift = shift_for(sums_, draft.low * factor, draft.high * factor, options_.saturated);
    step.exponent = exponent - step.shift;
    step.low = to_bound(draft.low, step.exponent);
    step.high = to_bound(draft.high, step.exponent);
  }

  // What run_step would give, without summing a second time.
  std::vector<std::int8_t> finished(const QuantisedStep& step) const {
    std::vector<std::int8_t> result;
    result.reserve(sums_.size());
    for (const std::int32_t sum : sums_) {
      const auto rounded =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(rounding_));
      result.push_back(requantised(rounded, step.shift, step.low, step.high));
    }
    return result;
  }

  void scale_concat(QuantisedStep& step) {
    step.exponent = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < step.inputs.size(); ++i) step.exponent = std::min(step.exponent, input(step, i).exponent);
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      step.alignment.push_back(std::min(input(step, i).exponent - step.exponent, 8));  // nothing is left after eight
    }
  }

  void scale_table(QuantisedStep& step, const std::function<double(double)>& function) {
    const double unit = power_of_two(-input(step, 0).exponent);
    std::vector<float> results;
    for (int value = -128; value <= 127; ++value) {
      constexpr double kFar = 1e9;  // poles of the function
      const double result = function(value * unit);
      results.push_back(static_cast<float>(std::isnan(result) ? 0 : std::clamp(result, -kFar, kFar)));
    }
    step.exponent = weight_exponent_for(results);
    for (const float result : results) step.table.push_back(static_cast<std::int8_t>(to_bound(result, step.exponent)));
  }

  Draft draft_;
  CalibrationOptions options_;
  ThreadPool& pool_;
  QuantisedNetwork network_;
  QuantisedTensors tensors_;
  std::vector<std::int32_t> sums_;  // of the step at hand, before rounding
  std::int32_t rounding_ = 0;
};

}  // namespace

Result<InputRange> input_range_from(std::string_view text, std::string_view option) {
  const std::vector<std::string_view> parts = split(text, ',');
  const auto low = parse_real(trim(parts.front())), high = parse_real(trim(parts.back()));
  const double widest = low && high ? std::max(std::abs(*low), std::abs(*high)) : 0;
  if (parts.size() != 2 || !low || !high || *low >= *high || widest > kWidestInput || widest < 1 / kWidestInput) {
    return invalid(fmt::format("{} is '{}', expected LO,HI with LO below HI, like 0,255 or -1,1, at most {} in size", option,
                               printable(text), kWidestInput));
  }
  return InputRange{*low, *high};
}

int exponent_for(const InputRange& range) {
  return static_cast<int>(std::floor(std::log2(128 / std::max(std::abs(range.low), std::abs(range.high)))));
}

int weight_exponent_for(const std::vector<float>& weight) {
  double largest = 0;
  for (const float value : weight) largest = std::max(largest, std::abs(double{value}));
  if (largest == 0) return 0;
  return std::clamp(static_cast<int>(std::floor(std::log2(127.5 / largest))), -kMostExponent, kMostExponent);
}

int shift_for(const std::vector<std::int32_t>& sums, double low, double high, double saturated) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max(), kLeast = std::numeric_limits<std::int32_t>::min();
  const auto least = static_cast<std::int32_t>(std::clamp(low, kLeast, kMost));
  const auto most = static_cast<std::int32_t>(std::clamp(high, kLeast, kMost));
  std::array<std::size_t, 33> with_bits{};  // how many sums need so many bits beside the sign
  for (const std::int32_t sum : sums) {
    const std::int32_t bounded = std::clamp(sum, least, std::max(least, most));
    const std::int32_t magnitude = bounded < 0 ? ~bounded : bounded;
    ++with_bits[static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(magnitude)))];
  }
  const auto allowed = static_cast<std::size_t>(saturated * static_cast<double>(sums.size()));
  std::size_t beyond = 0;
  int shift = 24;
  for (; shift > 0; --shift) {
    beyond += with_bits[static_cast<std::size_t>(shift + 7)];
    if (beyond > allowed) break;
  }
  return shift;
}

Result<QuantisedNetwork> quantise(Draft draft, const CalibrationOptions& options, ThreadPool& pool) {
  fuse(draft);
  if (draft.steps.size() < 2) return invalid(draft.name + ": there are no steps, expected an input and at least one more");
  return Calibration(std::move(draft), options, pool).run();
}

}  // namespace tilewright
