// The numbers a quantised network computes, in plain integer arithmetic that has never heard of a machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/workload/quantised_network.hpp"

namespace tilewright {

using QuantisedTensors = std::vector<std::vector<std::int8_t>>;  // the result of each step, by its index

// What a Product or Add is before it is shifted and clipped: products, bias and aligned residual, wrapping around at 32
// bits.
std::vector<std::int32_t> sums_of(const QuantisedNetwork& network, std::size_t step, const QuantisedTensors& tensors,
                                  ThreadPool& pool);

inline std::int32_t aligned(std::int8_t value, int alignment) {
  return alignment >= 0 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(std::int32_t{value}) << alignment)
                        : std::int32_t{value} >> -alignment;
}

inline std::int8_t requantised(std::int32_t sum, int shift, int low, int high) {
  const std::int32_t shifted =
      shift >= 0 ? sum >> shift : static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) << -shift);
  return static_cast<std::int8_t>(shifted < low ? low : shifted > high ? high : shifted);
}

// A residual as it is added to the sums: shifted, or multiplied with its channel's factor.
std::vector<std::int32_t> widened_residual(const QuantisedStep& step, std::span<const std::int8_t> residual);

// The result of any step but the input, whose inputs' results are in `tensors`.
std::vector<std::int8_t> run_step(const QuantisedNetwork& network, std::size_t step, const QuantisedTensors& tensors,
                                  ThreadPool& pool);

// The results of all steps; `input` is that of the first.
QuantisedTensors run(const QuantisedNetwork& network, std::span<const std::int8_t> input, ThreadPool& pool);

// An input of random numbers within the first step's bounds that are the same for every machine and number of threads.
std::vector<std::int8_t> random_input(const QuantisedNetwork& network, std::uint64_t seed);

}  // namespace tilewright
