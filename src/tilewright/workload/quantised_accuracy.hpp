// How good the integers of a network are on given images: every step against the real numbers it stands for, and the
// answers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/workload/calibration_statistics.hpp"
#include "tilewright/workload/quantised_network.hpp"

namespace tilewright {

struct Accuracy {
  std::int64_t images = 0;
  std::vector<double> noise_ratio;  // by step: decibels of signal over noise; infinite where nothing differs
  double agreement = 0;             // share of answers whose best class is the same in integers and in real numbers
  double correlation = 0;           // of all numbers of the result
  std::optional<double> correct, real_correct;  // share of right answers, with labels
  std::vector<float> results;                   // of the integers, image after image
};

// `labels` has a class per image, or is empty. An answer is the best channel of an image; with several rows and columns, or
// several vectors per image, of each, and labels are then refused by whoever read them.
Accuracy accuracy_of(const RealNetwork& real, const QuantisedNetwork& network, const Images& images,
                     const std::vector<std::int64_t>& labels, ThreadPool& pool);

}  // namespace tilewright
