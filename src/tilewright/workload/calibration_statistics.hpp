// What the tensors of a network look like on given images: per step and channel, the range that its integers should cover.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/workload/real_reference.hpp"

namespace tilewright {

struct Images {
  std::int64_t count = 0;
  std::vector<float> values;  // images, channels, rows, columns
};
// The number of batches of a network that the images fill, and one of them; the last begins again with the first image.
std::int64_t batches_of(const Images& images, const TensorShape& input);
std::vector<float> batch_of(const Images& images, const TensorShape& input, std::int64_t batch);
// The same as a network reads it, within the bounds of its input.
std::vector<float> input_of(const RealNetwork& network, const Images& images, std::int64_t batch);

enum class RangeMethod : std::uint8_t {
  MinMax,
  Percentile,  // as much of both ends is cut off as it says
  MeanSquare,  // what is cut off and what is rounded away have the least square together
};
template <>
struct Names<RangeMethod> {
  static constexpr std::string_view kWhat = "calibration method";
  static constexpr NameTable<RangeMethod, 3> kTable = {
      {{RangeMethod::MinMax, "min-max"}, {RangeMethod::Percentile, "percentile"}, {RangeMethod::MeanSquare, "mse"}}};
};

struct RangeOptions {
  RangeMethod method = RangeMethod::MeanSquare;
  double percentile = 99.99;  // of values that stay
};

struct ChannelStatistics {
  double count = 0;                  // of values
  double low = 0, high = 0;          // what the method leaves of the range
  double least = 0, most = 0;        // all of it
  double mean = 0, mean_square = 0;  // of the result
  double mean_sum = 0;               // of what a Product is before its bounds
};
using StepStatistics = std::vector<ChannelStatistics>;  // by channel of the result

std::vector<StepStatistics> statistics_of(const RealNetwork& network, const Images& images, const RangeOptions& options,
                                          ThreadPool& pool);

// The part of [least, most] that a method leaves of counts in bins of equal width.
struct ValueRange {
  double low = 0, high = 0;
};
ValueRange range_of(const std::vector<std::uint32_t>& bins, double least, double most, const RangeOptions& options);

}  // namespace tilewright
