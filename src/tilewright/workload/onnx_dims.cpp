#include "tilewright/workload/onnx_dims.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright::onnx_file {

std::int64_t plus(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0 || a > kMostDim || b > kMostDim || a + b > kMostDim) return kUnknown;
  return a + b;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  std::int64_t result = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) || result > kMostDim) return kUnknown;
  return result;
}

std::int64_t product(const Dims& dims) {
  std::int64_t result = 1;
  bool unknown = false;
  for (const std::int64_t dim : dims) {
    if (dim == 0) return 0;
    if (!unknown) result = times(result, dim);
    unknown = unknown || result == kUnknown;
  }
  return result;
}

bool is_known(const Dims& dims) {
  return std::ranges::all_of(dims, [](std::int64_t dim) { return dim >= 0; });
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dim = result[offset + i];
    const std::int64_t other = shorter[i];
    if (dim == other || other == 1) continue;
    if (dim != 1 && dim != kUnknown && other != kUnknown) return std::nullopt;
    // An unknown dimension beside a number above 1 can only be that number or 1, and the result is the number.
    if (dim == 1 || dim == kUnknown) dim = other;
  }
  return result;
}

std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::optional<std::int64_t> to_integer(double number) {
  if (std::isnan(number)) return std::nullopt;
  constexpr double kFar = 4611686018427387904.0;
  return static_cast<std::int64_t>(std::clamp(number, -kFar, kFar));
}

std::optional<Dims> to_integers(const std::vector<double>* elements) {
  if (elements == nullptr) return std::nullopt;
  Dims result;
  for (const double element : *elements) {
    const auto integer = to_integer(element);
    if (!integer) return std::nullopt;
    result.push_back(*integer);
  }
  return result;
}

}  // namespace tilewright::onnx_file
