// Integers chosen by data. Every scale may be any number, and every channel has its own, though a machine only shifts:
//
//   q = clip((sum of w q' + bias) >> shift)    w = W s' / u,  s = u 2^shift,  real value = s (q - zero)
//
// The input's scales s' go into the weights before they are rounded, with a unit u of the sums per output channel, so the
// result has a scale per channel too, and the next step takes that into its own weights. What zero points add to the sums is
// known exactly and part of the bias. docs/quantisation.md tells which channel gets which scale.
#pragma once

#include "tilewright/workload/calibration_statistics.hpp"
#include "tilewright/workload/quantised_network.hpp"

namespace tilewright {

struct DataCalibration {
  RangeOptions ranges;
  bool corrects_bias = true;  // by what the integers are off on average
};

// A draft as calibration wants it: what stands between the layers, sums and clips, becomes products where the machine can do
// without (a depthwise convolution by one), and a clip of the input part of it. Products of two tensors are an Error.
Result<RealNetwork> calibrated_form(Draft draft);

// `network` is of calibrated_form.
Result<QuantisedNetwork> quantise(const RealNetwork& network, const Images& images, const DataCalibration& options,
                                  ThreadPool& pool);

// Moves every bias by what the sums of its channel are off on average, step after step, each on what the ones before it
// compute in integers by then. Takes as many of the images as leave the tensors of all of them within half a gigabyte.
void correct_bias(const RealNetwork& network, const std::vector<StepStatistics>& statistics, const Images& images,
                  QuantisedNetwork& quantised, ThreadPool& pool);

}  // namespace tilewright
