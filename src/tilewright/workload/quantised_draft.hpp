// A network on its way to integers: steps in the order of computation with weights, biases and bounds still in real numbers.
// `quantise` joins steps that the machine does at once, then chooses every scale by running a seeded random input through
// the integer arithmetic itself, step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/workload/quantised_network.hpp"

namespace tilewright {

struct DraftStep {
  QuantisedStep step;  // name, kind, inputs, layer, window; weights when they are integers already
  std::vector<float> weight;
  std::vector<double> bias;
  double low = -std::numeric_limits<double>::infinity();  // of a Clip, and of what one was joined with
  double high = std::numeric_limits<double>::infinity();
  bool range_is_known = false;             // an integer model says so: its scale is what the bounds are made of
  std::function<double(double)> function;  // of a Table
};

// Of the real numbers a network is fed; `high` itself is the last that 8 bits reach.
struct InputRange {
  double low = -1, high = 1;
  bool operator==(const InputRange&) const = default;
};
inline constexpr double kWidestInput = 1e6;

// "LO,HI": finite, LO below HI, both within kWidestInput of 0, and one of them at least 1 / kWidestInput away from it.
Result<InputRange> input_range_from(std::string_view text, std::string_view option);

struct Draft {
  std::string name;
  TensorShape input;
  std::string input_name = "input";        // what the model calls it
  double input_scale = 1, input_zero = 0;  // what the network is given means scale * (number - zero)
  InputRange input_range;
  std::vector<DraftStep> steps;  // the first is the Input, the last the result
  std::vector<std::string> notes;
};

// The kinds of steps, each with its index as the result.
std::size_t add_step(Draft& draft, StepKind kind, std::string name, std::vector<std::size_t> inputs);
std::size_t add_product(Draft& draft, Layer layer, std::vector<std::size_t> inputs);

// The mean over windows: a depthwise convolution whose weights all are 1 / window in 7 bits, without bias.
std::size_t add_average(Draft& draft, std::string name, std::size_t input, const TensorShape& shape, const Window& window);

// Joins a Clip with the Product or Add before it, and an Add with the later of its inputs when that is a Product of which
// nobody else reads the result. Steps that do not reach the result are dropped.
void fuse(Draft& draft);

struct CalibrationOptions {
  std::uint64_t seed = 1;
  double saturated = 0.001;  // share of a result's values that may be clipped for want of bits
};

// An Error about the first impossible step. The same bits for any number of threads.
Result<QuantisedNetwork> quantise(Draft draft, const CalibrationOptions& options, ThreadPool& pool);

// The steps that quantise consists of, for tests.
// The finest exponent with which the range fits int8.
int exponent_for(const InputRange& range);
// Weights in the finest power of two whose largest fits int8.
int weight_exponent_for(const std::vector<float>& weight);
// The least right shift after which at most the share `saturated` of the sums, bounded to [low, high], needs more than 8
// bits.
int shift_for(const std::vector<std::int32_t>& sums, double low, double high, double saturated);

}  // namespace tilewright
