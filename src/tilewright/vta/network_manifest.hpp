// What a compiled network consists of, as JSON (tilewright-manifest-1, docs/quantisation.md): machine, steps, programs,
// schedules, scales, and what the host does and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/vta/network_run.hpp"
#include "tilewright/workload/quantised_accuracy.hpp"

namespace tilewright::vta {

// "03_conv2_1.vtaprog": the index keeps files in the order of computation, the name is cut down to what file systems like.
std::string program_file(const QuantisedNetwork& network, std::size_t step);

struct ManifestOptions {
  std::uint64_t seed = 1;  // of weights and input
  TimingOptions timing;
  double input_low = -1, input_high = 1;  // the real numbers that scales were chosen for, with noise
  bool input_assumed = true;              // nobody said so
  std::string calibration = "noise";      // what chose the scales: noise, a method of data, or the model
  std::int64_t calibration_images = 0;
  const Accuracy* accuracy = nullptr;   // nothing where no images were given
  std::vector<std::size_t> worst = {};  // steps, the least faithful first
};
std::string manifest_json(const QuantisedNetwork& network, const NetworkPlan& plan, const NetworkRun& run,
                          const ManifestOptions& options);

}  // namespace tilewright::vta
