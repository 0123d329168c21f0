// Integers of a network by data: which arrays of a file are its images and labels, and what scales they lead to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/array_file.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/workload/data_calibration.hpp"
#include "tilewright/workload/quantised_accuracy.hpp"

namespace tilewright {

struct CalibrationFiles {
  std::string calibration, labels;  // .npz, .npy or folders; empty = none
  DataCalibration choice;
  std::uint64_t seed = 1;      // of noise, where there is no data
  bool range_is_told = false;  // --input-range
  double saturated = 0.001;
};

// The integers of a network, and what is needed to say how good they are.
struct Calibrated {
  QuantisedNetwork network;
  std::optional<RealNetwork> real;  // what the integers are compared with, where there are images
  Images images;                    // that they are compared on
  std::vector<std::int64_t> labels;
  std::string by = "noise";        // a method's name, or `model`: its own scales
  std::int64_t calibrated_on = 0;  // images
  InputRange input;
  bool range_is_assumed = true;
  std::vector<std::int8_t> first;  // a batch of the input in integers
};
Result<Calibrated> calibrate(Draft draft, const CalibrationFiles& files, ThreadPool& pool);

// The array that `names` asks for first, as images of the network's input: the first axis counts them, the others are its
// channels, rows and columns, those of size one left out or not, or a single one.
Result<Images> images_of(const ArrayFile& file, const Draft& draft);
// Array `y`: a class for each of `count` images, below `classes`.
Result<std::vector<std::int64_t>> labels_of(const ArrayFile& file, std::int64_t count, std::int64_t classes);

}  // namespace tilewright
