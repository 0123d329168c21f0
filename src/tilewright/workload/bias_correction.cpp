// What rounded weights and clipped ends are off on average is the same for every image, so a bias can take it back (Nagel et
// al. 2019, arXiv 1906.04721, with the means of data instead of batch normalisation's).
#include <algorithm>
#include <cmath>

#include "tilewright/workload/data_calibration.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 29;

std::vector<std::size_t> last_readers(const QuantisedNetwork& network) {
  std::vector<std::size_t> last(network.steps.size(), network.steps.size());
  for (std::size_t index = 0; index < network.steps.size(); ++index) {
    for (const std::size_t input : network.steps[index].inputs) last[input] = index;
  }
  return last;
}

// The most bytes that the tensors of one batch take while they are still read.
std::int64_t live_bytes(const QuantisedNetwork& network, const std::vector<std::size_t>& last) {
  std::int64_t live = 0, most = 0;
  for (std::size_t index = 0; index < network.steps.size(); ++index) {
    live += network.steps[index].shape.elements();
    most = std::max(most, live);
    for (std::size_t from = 0; from <= index; ++from) {
      if (last[from] == index) live -= network.steps[from].shape.elements();
    }
  }
  return most;
}

// Adds the sums of each channel, before rounding, to `totals`.
void add_up(const QuantisedStep& step, const std::vector<std::int32_t>& sums, std::vector<double>& totals) {
  const auto plane = static_cast<std::size_t>(step.shape.height * step.shape.width);
  for (std::size_t first = 0; first < sums.size(); first += plane) {
    std::int64_t sum = 0;
    for (std::size_t i = first; i < first + plane; ++i) sum += sums[i];
    totals[first / plane % totals.size()] += static_cast<double>(sum);
  }
}

}  // namespace

void correct_bias(const RealNetwork& network, const std::vector<StepStatistics>& statistics, const Images& images,
                  QuantisedNetwork& quantised, ThreadPool& pool) {
  const std::vector<std::size_t> last = last_readers(quantised);
  const std::int64_t room = std::max<std::int64_t>(kMostBytes / live_bytes(quantised, last), 1);
  const std::int64_t batches = std::min(room, batches_of(images, network.draft.input));
  std::vector<QuantisedTensors> all(static_cast<std::size_t>(batches), QuantisedTensors(quantised.steps.size()));
  for (std::size_t batch = 0; batch < all.size(); ++batch) {
    all[batch][0] = integers_of(quantised.steps[0], input_of(network, images, static_cast<std::int64_t>(batch)));
  }
  for (std::size_t index = 1; index < quantised.steps.size(); ++index) {
    QuantisedStep& step = quantised.steps[index];
    if (step.kind == StepKind::Product && !step.is_average) {
      std::vector<double> totals(static_cast<std::size_t>(step.shape.channels), 0);
      for (const QuantisedTensors& tensors : all) add_up(step, sums_of(quantised, index, tensors, pool), totals);
      const double count = static_cast<double>(batches * step.shape.elements() / step.shape.channels);
      const double half = step.shift > 0 ? std::ldexp(1.0, step.shift - 1) : 0;
      for (std::size_t k = 0; k < totals.size(); ++k) {
        const double unit = std::ldexp(scale_at(step, k), -step.shift);
        const double is = totals[k] / count - half - std::ldexp(zero_at(step, k), step.shift);
        constexpr double kMost = 1 << 29;
        const double moved = step.bias[k] + std::clamp(statistics[index][k].mean_sum / unit - is, -kMost, kMost);
        step.bias[k] = static_cast<std::int32_t>(std::lround(std::clamp(moved, -2 * kMost, 2 * kMost)));
      }
    }
    for (QuantisedTensors& tensors : all) {
      tensors[index] = run_step(quantised, index, tensors, pool);
      for (const std::size_t input : step.inputs) {
        if (last[input] == index) tensors[input] = {};
      }
    }
  }
}

}  // namespace tilewright
