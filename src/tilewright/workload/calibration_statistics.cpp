#include "tilewright/workload/calibration_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace tilewright {
namespace {

constexpr std::size_t kBins = 512;

// Calls visit(step, its sums before bounds if it is a Product, its result) for every step of every batch.
using Visit = std::function<void(std::size_t step, const std::vector<float>* sums, const std::vector<float>& result)>;

void run_all(const RealNetwork& network, const Images& images, ThreadPool& pool, const Visit& visit) {
  const std::vector<DraftStep>& steps = network.draft.steps;
  RealTensors tensors(steps.size());
  for (std::int64_t batch = 0; batch < batches_of(images, network.draft.input); ++batch) {
    tensors[0] = input_of(network, images, batch);
    visit(0, nullptr, tensors[0]);
    for (std::size_t index = 1; index < steps.size(); ++index) {
      if (steps[index].step.kind != StepKind::Product) {
        tensors[index] = run_real_step(network, index, tensors, pool);
        visit(index, nullptr, tensors[index]);
        continue;
      }
      const std::vector<float> sums = real_sums(network, index, tensors, pool);
      tensors[index] = sums;
      clip(steps[index], tensors[index]);
      visit(index, &sums, tensors[index]);
    }
  }
}

// Calls each(channel, place) for all numbers of all channels; no two threads share a channel.
template <typename Each>
void for_channels(const TensorShape& shape, ThreadPool& pool, Each each) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  pool.for_each(channels, [&](std::size_t channel, std::size_t) {
    for (std::size_t image = 0; image < static_cast<std::size_t>(shape.batch); ++image) {
      const std::size_t first = (image * channels + channel) * plane;
      for (std::size_t i = first; i < first + plane; ++i) each(channel, i);
    }
  });
}

std::size_t bin_of(double value, const ChannelStatistics& channel) {
  const double width = channel.most - channel.least;
  const double place = width > 0 ? (value - channel.least) / width * kBins : 0;
  return std::min(static_cast<std::size_t>(std::max(place, 0.0)), kBins - 1);
}

ValueRange percentile_of(const std::vector<std::uint32_t>& bins, double least, double most, double percentile) {
  const double all = std::accumulate(bins.begin(), bins.end(), 0.0),
               width = (most - least) / static_cast<double>(bins.size());
  // A side that ends at zero is a bound, not a tail.
  const double share = (1 - percentile / 100) / (least < 0 && most > 0 ? 2 : 1);
  const auto cut = [&](auto first, auto last) {
    double beyond = 0;
    std::size_t count = 0;
    for (; first != last && beyond + *first <= share * all; ++first, ++count) beyond += *first;
    return static_cast<double>(count) * width;
  };
  ValueRange range{least, most};
  if (least < 0) range.low += cut(bins.begin(), bins.end());
  if (most > 0) range.high -= cut(bins.rbegin(), bins.rend());
  return range.low < range.high ? range : ValueRange{least, most};
}

ValueRange least_square_of(const std::vector<std::uint32_t>& bins, double least, double most) {
  constexpr int kTries = 16;
  constexpr double kStep = 0.04;
  const double width = (most - least) / static_cast<double>(bins.size()), levels = 127;
  ValueRange best{least, most};
  double lowest = 0;
  for (int i = 0; i < kTries; ++i) {
    const double part = 1 - kStep * i;
    const double low = least < 0 ? least * part : least, high = most > 0 ? most * part : most;
    const double unit = std::max(std::abs(low), std::abs(high)) / levels;
    double square = 0;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      const double value = least + (static_cast<double>(bin) + 0.5) * width;
      const double beyond = std::max({low - value, value - high, 0.0});
      square += bins[bin] * (beyond > 0 ? beyond * beyond : unit * unit / 12);
    }
    if (i > 0 && square >= lowest) continue;
    lowest = square;
    best = {low, high};
  }
  return best;
}

}  // namespace

std::int64_t batches_of(const Images& images, const TensorShape& input) {
  return (images.count + input.batch - 1) / input.batch;
}

std::vector<float> batch_of(const Images& images, const TensorShape& input, std::int64_t batch) {
  const std::int64_t image = input.elements() / input.batch;
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(input.elements()));
  for (std::int64_t i = batch * input.batch; i < (batch + 1) * input.batch; ++i) {
    const auto first = images.values.begin() + i % images.count * image;
    values.insert(values.end(), first, first + image);
  }
  return values;
}

std::vector<float> input_of(const RealNetwork& network, const Images& images, std::int64_t batch) {
  std::vector<float> values = batch_of(images, network.draft.input, batch);
  clip(network.draft.steps[0], values);
  return values;
}

ValueRange range_of(const std::vector<std::uint32_t>& bins, double least, double most, const RangeOptions& options) {
  if (options.method == RangeMethod::Percentile) return percentile_of(bins, least, most, options.percentile);
  if (options.method == RangeMethod::MeanSquare) return least_square_of(bins, least, most);
  return {least, most};
}

std::vector<StepStatistics> statistics_of(const RealNetwork& network, const Images& images, const RangeOptions& options,
                                          ThreadPool& pool) {
  std::vector<StepStatistics> all(network.shapes.size());
  for (std::size_t step = 0; step < all.size(); ++step) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    const ChannelStatistics empty{.least = kFar, .most = -kFar};
    all[step].assign(static_cast<std::size_t>(network.shapes[step].channels), empty);
  }
  run_all(network, images, pool, [&](std::size_t step, const std::vector<float>* sums, const std::vector<float>& result) {
    for_channels(network.shapes[step], pool, [&](std::size_t channel, std::size_t i) {
      ChannelStatistics& c = all[step][channel];
      const double value = result[i];
      c.least = std::min(c.least, value);
      c.most = std::max(c.most, value);
      c.mean += value;
      c.mean_square += value * value;
      if (sums != nullptr) c.mean_sum += (*sums)[i];
    });
  });
  for (std::size_t step = 0; step < all.size(); ++step) {
    const TensorShape& shape = network.shapes[step];
    const auto count = static_cast<double>(batches_of(images, network.draft.input) * shape.elements() / shape.channels);
    for (ChannelStatistics& c : all[step]) {
      c.count = count;
      c.mean /= count;
      c.mean_square /= count;
      c.mean_sum /= count;
      c.low = c.least;
      c.high = c.most;
    }
  }
  if (options.method == RangeMethod::MinMax) return all;
  std::vector<std::vector<std::vector<std::uint32_t>>> bins(all.size());
  for (std::size_t step = 1; step < all.size(); ++step) {
    const StepKind kind = network.draft.steps[step].step.kind;
    if (kind != StepKind::Product && kind != StepKind::Table && kind != StepKind::Host)
      continue;  // the others keep their input's integers
    bins[step].assign(all[step].size(), std::vector<std::uint32_t>(kBins, 0));
  }
  run_all(network, images, pool, [&](std::size_t step, const std::vector<float>*, const std::vector<float>& result) {
    if (bins[step].empty()) return;
    for_channels(network.shapes[step], pool,
                 [&](std::size_t channel, std::size_t i) { ++bins[step][channel][bin_of(result[i], all[step][channel])]; });
  });
  for (std::size_t step = 1; step < all.size(); ++step) {
    for (std::size_t channel = 0; channel < bins[step].size(); ++channel) {
      ChannelStatistics& c = all[step][channel];
      const ValueRange range = range_of(bins[step][channel], c.least, c.most, options);
      c.low = range.low;
      c.high = range.high;
    }
  }
  return all;
}

}  // namespace tilewright
