#include "tilewright/workload/data_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr double kMostInteger = 127;
constexpr int kMostShift = 20;                    // a sum of 8-bit products needs no more
constexpr double kDead = 1e-6, kDeadShare = 256;  // a channel that is never alive gets this share of the tensor's range
constexpr double kFewValues = 4096, kMostWidening = 1.5;
constexpr double kSparsePeak = 6;  // peaks so much above the root mean square are rare events

bool is_finite(double number) { return std::abs(number) < std::numeric_limits<double>::infinity(); }

std::int32_t to_int32(double number) {
  constexpr double kMost = 1 << 30;  // leaves room for what is added
  return static_cast<std::int32_t>(std::llround(std::clamp(number, -kMost, kMost)));
}

bool has_padding(const Layer& layer) { return layer.pad_top + layer.pad_bottom + layer.pad_left + layer.pad_right > 0; }

// What is wanted of a channel's integers: [low, high] within them, as fine as that allows.
struct Wanted {
  double low = 0, high = 0;
  bool is_asymmetric = false;
  bool reaches_bound = false;  // the step's own upper bound is what ends it

  double scale() const {
    return is_asymmetric ? (high - low) / 255 : std::max(std::abs(low), std::abs(high)) / kMostInteger;
  }
  double zero(double scale) const { return is_asymmetric ? std::round(-0.5 - (low + high) / 2 / scale) : 0; }
};

class GridChooser {
 public:
  GridChooser(const RealNetwork& real, const std::vector<StepStatistics>& statistics)
      : real_(real),
        statistics_(statistics),
        takes_zero_(real.shapes.size(), true),
        is_uniform_(real.shapes.size(), false) {}

  Result<QuantisedNetwork> run() {
    network_.name = real_.draft.name;
    network_.notes = real_.draft.notes;
    look_at_readers();
    for (std::size_t index = 0; index < real_.shapes.size(); ++index) {
      network_.steps.push_back(entry(index).step);
      choose(index);
    }
    return check(std::move(network_), real_.draft.name);
  }

 private:
  const DraftStep& entry(std::size_t index) const { return real_.draft.steps[index]; }
  const QuantisedStep& input(const QuantisedStep& step, std::size_t index) const {
    return network_.steps[step.inputs[index]];
  }

  // Zeros around an image must be zeros of its integers. Whoever reads the last step sees numbers of one scale.
  void look_at_readers() {
    takes_zero_.back() = false;
    is_uniform_.back() = true;
    for (std::size_t index = real_.shapes.size(); index-- > 1;) {
      const QuantisedStep& step = entry(index).step;
      const bool passes = step.kind == StepKind::MaxPool || step.kind == StepKind::Flatten || step.kind == StepKind::Concat;
      for (const std::size_t from : step.inputs) {
        const bool is_data = from == step.inputs[0];
        bool takes = true;
        if (passes) takes = takes_zero_[index];
        if (step.kind == StepKind::Product && is_data) {
          takes = !step.is_average && (from == 0 || !has_padding(step.layer));
          if (from == 0 && has_padding(step.layer)) input_is_padded_ = true;
        }
        takes_zero_[from] = takes_zero_[from] && takes;
        if (passes || step.is_average) is_uniform_[from] = is_uniform_[from] || is_uniform_[index];
      }
    }
  }

  void choose(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    switch (step.kind) {
      case StepKind::Input:
        return choose_input(step);
      case StepKind::Product:
        return step.is_average ? choose_average(index) : choose_product(index);
      case StepKind::Table:
        return choose_table(index);
      case StepKind::Host:
        for (const Wanted& channel : wanted(index)) {
          step.grid.scale.push_back(channel.scale());
          step.grid.zero.push_back(channel.zero(channel.scale()));
        }
        break;
      case StepKind::Concat:
        step.alignment.assign(step.inputs.size(), 0);
        for (std::size_t i = 0; i < step.inputs.size(); ++i) append(step.grid, input(step, i), 1);
        break;
      case StepKind::Flatten:
        append(step.grid, input(step, 0), input(step, 0).shape.height * input(step, 0).shape.width);
        break;
      default:
        step.grid = input(step, 0).grid;
    }
    simplify(step.grid);
  }

  static void append(Grid& grid, const QuantisedStep& from, std::int64_t copies) {
    for (std::size_t channel = 0; channel < static_cast<std::size_t>(from.shape.channels); ++channel) {
      grid.scale.insert(grid.scale.end(), static_cast<std::size_t>(copies), scale_at(from, channel));
      grid.zero.insert(grid.zero.end(), static_cast<std::size_t>(copies), zero_at(from, channel));
    }
  }

  static void simplify(Grid& grid) {
    const auto equal = [](const std::vector<double>& list) {
      return std::ranges::all_of(list, [&](double number) { return number == list[0]; });
    };
    if (!equal(grid.scale) || !equal(grid.zero)) return;
    grid.scale.resize(1);
    grid.zero.resize(1);
  }

  // By channel; all the same where the step is uniform.
  std::vector<Wanted> wanted(std::size_t index) const {
    const DraftStep& from = entry(index);
    const StepStatistics& channels = statistics_[index];
    bool is_uniform = is_uniform_[index];
    // One bound for all channels is exact when they have one scale; zero and the end of 8 bits are exact with any.
    is_uniform = is_uniform || (is_finite(from.low) && from.low != 0);
    std::vector<Wanted> all;
    Wanted widest{.low = channels[0].low, .high = channels[0].high};
    double largest = 0;
    for (const ChannelStatistics& c : channels) {
      const bool known = from.range_is_known && is_finite(from.low) && is_finite(from.high);
      Wanted w{.low = known ? from.low : c.low, .high = known ? from.high : c.high};
      if (from.low == 0) w.low = 0;
      w.is_asymmetric = takes_zero_[index] && !is_uniform;
      w.reaches_bound = is_finite(from.high) && c.most >= from.high * (1 - 1e-6);
      widest.low = std::min(widest.low, w.low);
      widest.high = std::max(widest.high, w.high);
      widest.reaches_bound = widest.reaches_bound || w.reaches_bound;
      largest = std::max({largest, std::abs(w.low), std::abs(w.high)});
      all.push_back(w);
    }
    if (largest == 0) largest = 1;
    widen(from, index == 0, channels, all);
    for (Wanted& w : all) {
      if (is_uniform) w = widest;
      if (w.scale() * kMostInteger < largest * kDead) w.high = w.low + 2 * largest / kDeadShare;
    }
    return all;
  }

  // A channel of which few values were seen shows less of its tails than all channels together: it is given as many standard
  // deviations as any of them, within half as much again and, as an image's pixels have an end, what the whole input
  // reaches.
  static void widen(const DraftStep& from, bool is_input, const StepStatistics& channels, std::vector<Wanted>& all) {
    if (channels[0].count >= kFewValues || from.range_is_known) return;
    const auto spread = [](const ChannelStatistics& c) { return std::sqrt(std::max(c.mean_square - c.mean * c.mean, 0.0)); };
    double above = 0, below = 0, low = all[0].low, high = all[0].high;  // in deviations; of the tensor
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double deviation = spread(channels[k]);
      low = std::min(low, all[k].low);
      high = std::max(high, all[k].high);
      if (deviation <= 0) continue;
      above = std::max(above, (all[k].high - channels[k].mean) / deviation);
      below = std::max(below, (channels[k].mean - all[k].low) / deviation);
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      Wanted& w = all[k];
      const double mean = channels[k].mean, deviation = spread(channels[k]);
      const double up = std::min(above * deviation, kMostWidening * (w.high - mean));
      const double down = std::min(below * deviation, kMostWidening * (mean - w.low));
      w.high = std::min(std::max(w.high, mean + up), is_input ? high : from.high);
      if (from.low != 0) w.low = std::max(std::min(w.low, mean - down), is_input ? low : from.low);
    }
  }

  void choose_input(QuantisedStep& step) {
    std::vector<Wanted> channels = wanted(0);
    const DraftStep& from = entry(0);
    double low = channels[0].low, high = channels[0].high;
    for (const Wanted& w : channels) {
      low = std::min(low, w.low);
      high = std::max(high, w.high);
    }
    for (std::size_t c = 0; c < channels.size(); ++c) {
      Wanted& w = channels[c];
      const double peak = std::max(std::abs(w.low), std::abs(w.high));
      const double root = std::sqrt(statistics_[0][c].mean_square);
      if (from.range_is_known || peak > kSparsePeak * root) {  // another image may show what these do not
        w.low = low;
        w.high = high;
      }
      w.is_asymmetric = takes_zero_[0];
      if (input_is_padded_) {
        w.low = std::min(w.low, 0.0);
        w.high = std::max(w.high, 0.0);
      }
      if (w.high <= w.low) w.high = w.low + 1;
      const double scale = w.scale();
      step.grid.scale.push_back(scale);
      step.grid.zero.push_back(w.is_asymmetric ? std::round(-128 - w.low / scale) : 0);
    }
    simplify(step.grid);
  }

  // The mean is taken of integers, whose scale stays what it was, as large as 8 bits allow; rounding down takes half a unit.
  void choose_average(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    const QuantisedStep& from = input(step, 0);
    double largest = 0;
    for (std::size_t c = 0; c < statistics_[index].size(); ++c) {
      const ChannelStatistics& s = statistics_[index][c];
      for (const double end : {s.least, s.most}) largest = std::max(largest, std::abs(end / scale_at(from, c)));
    }
    const auto area = static_cast<double>(step.layer.kernel_height * step.layer.kernel_width);
    const double gain = std::clamp(largest > 0 ? kMostInteger / largest : 1, 1.0, kMostInteger * area);
    step.shift = static_cast<int>(std::floor(std::log2(kMostInteger * area / gain)));
    const double multiplier = std::max(std::floor(std::ldexp(gain / area, step.shift)), 1.0);
    step.weight.assign(entry(index).weight.size(), static_cast<std::int8_t>(multiplier));
    const double exact = std::ldexp(multiplier * area, -step.shift);
    for (std::size_t c = 0; c < from.grid.scale.size(); ++c) {
      step.grid.scale.push_back(scale_at(from, c) / exact);
      step.grid.zero.push_back(zero_at(from, c) * exact - 0.5);
    }
  }

  void choose_table(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    const QuantisedStep& from = input(step, 0);
    double low = 0, high = 0;
    for (const ChannelStatistics& c : statistics_[index]) {
      low = std::min(low, c.low);
      high = std::max(high, c.high);
    }
    if (high <= low) high = low + 1;
    const Wanted range{.low = low, .high = high, .is_asymmetric = takes_zero_[index]};
    step.grid = {{range.scale()}, {range.is_asymmetric ? std::round(-128 - low / range.scale()) : 0}};
    for (std::size_t c = 0; c < from.grid.scale.size(); ++c) {
      for (int value = -128; value <= 127; ++value) {
        const double result = entry(index).function(scale_at(from, c) * (value - zero_at(from, c)));
        const double place = result / step.grid.scale[0] + step.grid.zero[0];
        step.table.push_back(
            static_cast<std::int8_t>(std::lround(std::clamp(std::isnan(place) ? 0 : place, -128.0, 127.0))));
      }
    }
  }

  struct Unrounded {
    std::vector<double> weight;  // in units of the input's integers
    std::vector<double> finest;  // by output channel: the unit of sums with which the largest weight is 127
    std::vector<double> square;  // by output channel: the mean of the sum of squared integers under the kernel
  };

  Unrounded unrounded(std::size_t index) const {
    const QuantisedStep& step = network_.steps[index];
    const QuantisedStep& from = input(step, 0);
    const Layer& layer = step.layer;
    const auto inner = static_cast<std::size_t>(layer.in_channels / layer.groups);
    const auto area = static_cast<std::size_t>(layer.kernel_height * layer.kernel_width);
    const auto outer = static_cast<std::size_t>(layer.out_channels),
               group = static_cast<std::size_t>(layer.out_channels / layer.groups);
    const StepStatistics& known = statistics_[step.inputs[0]];
    Unrounded result;
    result.weight.reserve(entry(index).weight.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < outer; ++k) {
      double largest = 0, square = 0;
      for (std::size_t c = 0; c < inner; ++c) {
        const std::size_t channel = k / group * inner + c;
        const double scale = scale_at(from, channel);
        square += static_cast<double>(area) * known[channel].mean_square / scale / scale;
        for (std::size_t tap = 0; tap < area; ++tap) {
          result.weight.push_back(entry(index).weight[next++] * scale);
          largest = std::max(largest, std::abs(result.weight.back()));
        }
      }
      result.finest.push_back(largest / kMostInteger);
      result.square.push_back(square);
    }
    return result;
  }

  // The shift with which results and weights together lose least, relative to each channel's range.
  static int shift_for(const std::vector<Wanted>& wanted, const Unrounded& numbers, bool is_uniform) {
    int best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (int shift = 0; shift <= kMostShift; ++shift) {
      double loss = 0;
      bool bounded = true, fits = true;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const double scale = wanted[k].scale(), unit = std::max(numbers.finest[k], std::ldexp(scale, -shift));
        const double result = std::ldexp(unit, shift) / scale;
        loss += result * result + unit * unit / scale / scale * numbers.square[k];
        if (result <= 1 + 1e-9) continue;
        fits = false;
        bounded = bounded && !wanted[k].reaches_bound;
      }
      if (shift > 0 && (!bounded || (is_uniform && !fits))) break;  // it only becomes worse
      if (loss >= least) continue;
      least = loss;
      best = shift;
    }
    return best;
  }

  void choose_product(std::size_t index) {
    QuantisedStep& step = network_.steps[index];
    const DraftStep& from = entry(index);
    const QuantisedStep& data = input(step, 0);
    const std::vector<Wanted> channels = wanted(index);
    const bool is_uniform =
        std::ranges::all_of(channels, [&](const Wanted& w) { return w.scale() == channels[0].scale(); }) &&
        is_uniform_[index];
    const Unrounded numbers = unrounded(index);
    step.shift = shift_for(channels, numbers, is_uniform);
    const std::size_t outer = channels.size(), taps = numbers.weight.size() / outer;
    const auto inner = static_cast<std::size_t>(step.layer.in_channels / step.layer.groups);
    const std::size_t area = taps / inner, group = outer / static_cast<std::size_t>(step.layer.groups);
    const double half = step.shift > 0 ? std::ldexp(1.0, step.shift - 1) : 0;
    int low = 127, high = -128;
    for (std::size_t k = 0; k < outer; ++k) {
      double unit = std::max(numbers.finest[k], std::ldexp(channels[k].scale(), -step.shift));
      double addend = 0;
      if (step.has_residual) {
        const QuantisedStep& residual = network_.steps[step.inputs.back()];
        const double scale = scale_at(residual, k), factor = std::floor(scale / unit);
        // A unit of which the residual's scale is a multiple makes the sum of the two exact.
        if (factor >= 1 && !is_uniform) unit = scale / factor;
        step.residual_factor.push_back(static_cast<std::int32_t>(std::min(std::round(scale / unit), 4e6)));
        addend -= step.residual_factor.back() * zero_at(residual, k);
      }
      for (std::size_t tap = 0; tap < taps; ++tap) {
        const double weight = std::round(std::clamp(numbers.weight[k * taps + tap] / unit, -kMostInteger, kMostInteger));
        step.weight.push_back(static_cast<std::int8_t>(weight));
        addend -= weight * zero_at(data, k / group * inner + tap / area);
      }
      const double scale = std::ldexp(unit, step.shift),
                   zero = from.low == 0 && channels[k].is_asymmetric ? -128 : channels[k].zero(scale);
      step.grid.scale.push_back(scale);
      step.grid.zero.push_back(zero);
      addend += (from.bias.empty() ? 0 : from.bias[k] / unit) + std::ldexp(zero, step.shift) + half;
      step.bias.push_back(to_int32(addend));
      low = std::min(low, bound(from.low, scale, zero));
      high = std::max(high, bound(from.high, scale, zero));
    }
    step.low = low;
    step.high = high;
    if (has_padding(step.layer) && std::ranges::any_of(data.grid.zero, [](double zero) { return zero != 0; }))
      pad(step, data);
    simplify(step.grid);
  }

  static void pad(QuantisedStep& step, const QuantisedStep& data) {
    if (step.inputs[0] != 0) return;  // half a unit of an average
    for (std::size_t c = 0; c < static_cast<std::size_t>(step.layer.in_channels); ++c) {
      step.padding.push_back(static_cast<std::int8_t>(std::clamp(zero_at(data, c), -128.0, 127.0)));
    }
  }

  static int bound(double number, double scale, double zero) {
    return static_cast<int>(std::lround(std::clamp(number / scale + zero, -128.0, 127.0)));
  }

  const RealNetwork& real_;
  const std::vector<StepStatistics>& statistics_;
  QuantisedNetwork network_;
  std::vector<bool> takes_zero_;  // by step: its integers may have a zero other than 0
  std::vector<bool> is_uniform_;  // by step: one scale for all channels
  bool input_is_padded_ = false;
};

}  // namespace

Result<QuantisedNetwork> quantise(const RealNetwork& network, const Images& images, const DataCalibration& options,
                                  ThreadPool& pool) {
  const std::vector<StepStatistics> statistics = statistics_of(network, images, options.ranges, pool);
  TW_TRY(QuantisedNetwork quantised, GridChooser(network, statistics).run());
  if (options.corrects_bias) correct_bias(network, statistics, images, quantised, pool);
  return quantised;
}

}  // namespace tilewright
