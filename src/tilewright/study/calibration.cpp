#include "tilewright/study/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kNoiseImages = 16;

std::vector<std::int64_t> without_ones(std::vector<std::int64_t> sizes) {
  std::erase(sizes, 1);
  return sizes;
}

Images noise(const Draft& draft, std::uint64_t seed) {
  Rng rng(seed, "calibration/noise");
  Images images{kNoiseImages, {}};
  const double low = draft.input_range.low, width = draft.input_range.high - low;
  images.values.resize(static_cast<std::size_t>(kNoiseImages * draft.input.elements() / draft.input.batch));
  for (float& value : images.values) value = static_cast<float>(low + width * rng.uniform());
  return images;
}

// The steps of integers that data did not choose are those of the draft after its fusion.
Result<Calibrated> calibrated_with_noise(Draft draft, const CalibrationFiles& files, ThreadPool& pool) {
  Calibrated result;
  result.input = draft.input_range;
  result.range_is_assumed = !files.range_is_told;
  if (!files.labels.empty()) {
    fuse(draft);
    TW_TRY(result.real, real_network(draft));
  }
  TW_TRY(result.network, quantise(std::move(draft), CalibrationOptions{files.seed, files.saturated}, pool));
  result.first = random_input(result.network, files.seed);
  return result;
}

Result<Done> read_labels(const CalibrationFiles& files, Calibrated& result) {
  if (files.labels.empty()) return Done{};
  const Draft& draft = result.real->draft;
  TW_TRY(const ArrayFile file, ArrayFile::read(files.labels));
  if (result.images.count == 0 || file.has(draft.input_name) || file.has("X")) {
    TW_TRY(result.images, images_of(file, draft));
  }
  const TensorShape& shape = result.real->shapes.back();
  if (shape.height * shape.width != 1 || shape.batch != draft.input.batch) {
    return invalid(fmt::format("{}: the network's result is {}, expected one number per class to compare labels with",
                               files.labels, to_text(shape)));
  }
  TW_TRY(result.labels, labels_of(file, result.images.count, shape.channels));
  return Done{};
}

}  // namespace

Result<Images> images_of(const ArrayFile& file, const Draft& draft) {
  std::string name = file.has(draft.input_name) ? draft.input_name : "X";
  if (!file.has(name)) {
    if (file.names().size() != 1) {
      return invalid(fmt::format("{}: has {} arrays and none is called X or '{}' as the input is, expected one that is",
                                 file.where(), file.names().size(), printable(draft.input_name)));
    }
    name = file.names()[0];
  }
  TW_TRY(NumberArray array, file.array(name));
  const TensorShape& in = draft.input;
  const std::vector<std::int64_t> expected = without_ones({in.channels, in.height, in.width});
  const auto complain = [&](const std::string& what) {
    return invalid(fmt::format("{}: array '{}' {}", file.where(), printable(name), what));
  };
  const std::string wanted = fmt::format("images of {}x{}x{}", in.channels, in.height, in.width);
  if (array.shape.empty()) return complain("is one number, expected " + wanted);
  const std::vector<std::int64_t> given = without_ones({array.shape.begin() + 1, array.shape.end()});
  std::int64_t product = 1;
  for (const std::int64_t size : given) product *= size;
  const bool is_flat = given.size() == 1 || expected.size() <= 1;
  if (given != expected && !(is_flat && product == in.elements() / in.batch)) {
    return complain(fmt::format("is {}, expected {} behind an axis that counts them", shape_text(array.shape), wanted));
  }
  if (array.shape[0] < 1) return complain("has no images, expected at least one");
  for (float& value : array.values) {
    if (!std::isfinite(value)) return complain("has a number that is not finite, expected every number to be");
    value = static_cast<float>((value - draft.input_zero) * draft.input_scale);
  }
  return Images{array.shape[0], std::move(array.values)};
}

Result<std::vector<std::int64_t>> labels_of(const ArrayFile& file, std::int64_t count, std::int64_t classes) {
  TW_TRY(const NumberArray array, file.array("y"));
  if (static_cast<std::int64_t>(array.values.size()) != count || array.shape.empty() || array.shape[0] != count) {
    return invalid(fmt::format("{}: array 'y' is {}, expected a class for each of {} images", file.where(),
                               array.shape.empty() ? "one number" : shape_text(array.shape), count));
  }
  std::vector<std::int64_t> labels;
  for (const float value : array.values) {
    if (!(value >= 0 && value < static_cast<float>(classes)) || value != std::floor(value)) {
      return invalid(fmt::format("{}: array 'y' has {} at {}, expected classes from 0 to {}", file.where(), value,
                                 labels.size(), classes - 1));
    }
    labels.push_back(static_cast<std::int64_t>(value));
  }
  return labels;
}

Result<Calibrated> calibrate(Draft draft, const CalibrationFiles& files, ThreadPool& pool) {
  const bool has_data = !files.calibration.empty();
  Calibrated result;
  if (!has_data) {
    // An integer model tells its own scales; the form that says so is only made when it may.
    const bool may_know = std::ranges::any_of(draft.steps, [](const DraftStep& step) { return step.range_is_known; });
    // What the host computes in real numbers needs its ranges looked at.
    const bool has_host =
        std::ranges::any_of(draft.steps, [](const DraftStep& step) { return step.step.kind == StepKind::Host; });
    if (!(may_know && !files.range_is_told) && !has_host) {
      TW_TRY(result, calibrated_with_noise(std::move(draft), files, pool));
      TW_TRY([[maybe_unused]] const Done read, read_labels(files, result));
      return result;
    }
    TW_TRY(RealNetwork real, calibrated_form(draft));
    const bool knows = real.draft.steps[0].range_is_known && !files.range_is_told;
    if (!knows && !has_host) {
      TW_TRY(result, calibrated_with_noise(std::move(draft), files, pool));
      TW_TRY([[maybe_unused]] const Done read, read_labels(files, result));
      return result;
    }
    result.real = std::move(real);
    const DraftStep& input = result.real->draft.steps[0];
    if (knows) {
      result.real->draft.input_range = {input.low, input.high};
      result.by = "model";
    }
    result.range_is_assumed = !knows && !files.range_is_told;
    const DataCalibration choice{.ranges = {.method = RangeMethod::MinMax}, .corrects_bias = false};
    TW_TRY(result.network, quantise(*result.real, noise(result.real->draft, files.seed), choice, pool));
    result.first = random_input(result.network, files.seed);
  } else {
    TW_TRY(result.real, calibrated_form(std::move(draft)));
    TW_TRY(const ArrayFile file, ArrayFile::read(files.calibration));
    TW_TRY(result.images, images_of(file, result.real->draft));
    result.by = name(files.choice.ranges.method);
    result.calibrated_on = result.images.count;
    TW_TRY(result.network, quantise(*result.real, result.images, files.choice, pool));
    result.first = integers_of(result.network.steps[0], input_of(*result.real, result.images, 0));
    const auto [least, most] = std::ranges::minmax_element(result.images.values);
    result.real->draft.input_range = {*least, *most};
    result.range_is_assumed = false;
  }
  result.input = result.real->draft.input_range;
  TW_TRY([[maybe_unused]] const Done read, read_labels(files, result));
  return result;
}

}  // namespace tilewright
