// Critics that learn returns in units of their own spread (PopArt, van Hasselt et al. 2016): the network's output y stands
// for mean + deviation·y. When the running moments move, the last layer moves the other way, so that what the critic says
// stays.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tilewright/base/result.hpp"
#include "tilewright/nn/mlp.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

struct ReturnScale {
  double mean = 0;
  double deviation = 1;
  double sum = 0, square_sum = 0, weight = 0;  // decayed sums, so that the returns of weak early policies are forgotten

  float to_return(float output) const { return static_cast<float>(mean + deviation * static_cast<double>(output)); }
  float to_output(float value) const { return static_cast<float>((static_cast<double>(value) - mean) / deviation); }

  // Takes in the returns at `rows` of one rollout, and keeps what `critic` (one output) stands for.
  void follow(std::span<const float> returns, std::span<const std::uint32_t> rows, Mlp& critic);

  void save(const std::string& name, TensorFile& file) const;
  Result<Done> load(const std::string& name, const TensorFile& file);
};

}  // namespace tilewright
