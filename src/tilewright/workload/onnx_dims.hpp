// Dimensions of which some may be unknown, and arithmetic that neither overflows nor forgets that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tilewright::onnx_file {

using Dims = std::vector<std::int64_t>;
inline constexpr std::int64_t kUnknown = -1;
inline constexpr std::int64_t kMostDim = std::int64_t{1} << 40;  // longer ones count as unknown, so sums of them fit
inline constexpr std::size_t kMostRank = 32;

std::int64_t plus(std::int64_t a, std::int64_t b);
std::int64_t times(std::int64_t a, std::int64_t b);
std::int64_t product(const Dims& dims);
bool is_known(const Dims& dims);

// NumPy's rule: aligned at the last axis, 1 stretches. Nothing when the shapes do not go together.
std::optional<Dims> broadcast(const Dims& a, const Dims& b);

// `axis` counted from the end when negative; nothing outside the rank.
std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank);

// The integer nearest to zero; nothing for NaN, and far away numbers become plus or minus 2^62.
std::optional<std::int64_t> to_integer(double number);

// All of `elements` as integers; nothing when there are none or one is unknown.
std::optional<Dims> to_integers(const std::vector<double>* elements);

}  // namespace tilewright::onnx_file
