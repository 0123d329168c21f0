#include "tilewright/workload/quantised_accuracy.hpp"

#include <cmath>
#include <limits>

#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

// Sums from which a correlation follows.
struct Moments {
  double count = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void add(double x, double y) {
    ++count;
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  double correlation() const {
    const double spread = (count * aa - a * a) * (count * bb - b * b);
    return spread > 0 ? (count * ab - a * b) / std::sqrt(spread) : aa == bb && a == b ? 1 : 0;
  }
};

// The best channel at a place of an image; the first of equals.
std::size_t best_channel(const std::vector<float>& result, const TensorShape& shape, std::size_t image, std::size_t place) {
  const auto channels = static_cast<std::size_t>(shape.channels),
             plane = static_cast<std::size_t>(shape.height * shape.width);
  std::size_t best = 0;
  for (std::size_t c = 1; c < channels; ++c) {
    const std::size_t first = image * channels * plane + place;
    if (result[first + c * plane] > result[first + best * plane]) best = c;
  }
  return best;
}

struct Noise {
  double signal = 0, noise = 0;

  double decibels() const {
    if (noise == 0) return std::numeric_limits<double>::infinity();
    return signal > 0 ? 10 * std::log10(signal / noise) : -std::numeric_limits<double>::infinity();
  }
};

}  // namespace

Accuracy accuracy_of(const RealNetwork& real, const QuantisedNetwork& network, const Images& images,
                     const std::vector<std::int64_t>& labels, ThreadPool& pool) {
  const std::size_t count = network.steps.size();
  const TensorShape &input = real.draft.input, &shape = real.shapes.back();
  const auto batch = static_cast<std::size_t>(input.batch), image = static_cast<std::size_t>(shape.elements()) / batch;
  const std::size_t rows = static_cast<std::size_t>(shape.batch) / batch;  // vectors that an image's result consists of
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  Accuracy accuracy;
  accuracy.images = images.count;
  std::vector<Noise> noise(count);
  Moments moments;
  std::int64_t agreed = 0, correct = 0, real_correct = 0;
  RealTensors expected(count);
  QuantisedTensors tensors(count);
  for (std::int64_t first = 0; first < images.count; first += input.batch) {
    const auto used = static_cast<std::size_t>(std::min(input.batch, images.count - first));  // of the last batch, not all
    for (std::size_t index = 0; index < count; ++index) {
      if (index == 0) {
        expected[0] = input_of(real, images, first / input.batch);
        tensors[0] = integers_of(network.steps[0], expected[0]);
      } else {
        expected[index] = run_real_step(real, index, expected, pool);
        tensors[index] = run_step(network, index, tensors, pool);
      }
      const std::vector<float> is = real_values(network.steps[index], tensors[index]);
      for (std::size_t i = 0; i < is.size() / batch * used; ++i) {
        const double value = expected[index][i], off = value - is[i];
        noise[index].signal += value * value;
        noise[index].noise += off * off;
      }
      if (index + 1 < count) continue;
      accuracy.results.insert(accuracy.results.end(), is.begin(), is.begin() + static_cast<std::ptrdiff_t>(used * image));
      for (std::size_t i = 0; i < used * image; ++i) moments.add(expected[index][i], is[i]);
      for (std::size_t n = 0; n < used * rows; ++n) {
        for (std::size_t place = 0; place < plane; ++place) {
          const std::size_t best = best_channel(is, shape, n, place),
                            real_best = best_channel(expected[index], shape, n, place);
          agreed += best == real_best ? 1 : 0;
          if (labels.empty()) continue;
          const auto label = static_cast<std::size_t>(labels[static_cast<std::size_t>(first) + n]);
          correct += best == label ? 1 : 0;
          real_correct += real_best == label ? 1 : 0;
        }
      }
    }
  }
  const auto answers = static_cast<double>(images.count) * static_cast<double>(rows * plane);
  accuracy.agreement = static_cast<double>(agreed) / answers;
  accuracy.correlation = moments.correlation();
  for (const Noise& step : noise) accuracy.noise_ratio.push_back(step.decibels());
  if (labels.empty()) return accuracy;
  accuracy.correct = static_cast<double>(correct) / answers;
  accuracy.real_correct = static_cast<double>(real_correct) / answers;
  return accuracy;
}

}  // namespace tilewright
