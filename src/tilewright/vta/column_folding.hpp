// The first layer of a network has few input channels, which leaves most of every input block empty. When the host puts the
// inputs under each column of the kernel side by side, the columns become channels:
//
//   folded[n, c*KW+s, y, x] = input[n, c, y, x*stride+s*dilation-pad]     (zero outside)
//
// and the layer has a kernel one column wide. ResNet's 7x7 over 3 channels then takes 2 blocks of 16 x 7 rows instead of 49
// steps per result. Weights are only renamed: [CO][CI][KH][KW] to [CO][CI*KW][KH]. The host lays every input out in blocks
// anyway, so this costs it another order of writing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/workload/layer.hpp"

namespace tilewright::vta {

// A convolution of an image: at most 4 channels, and a kernel of several columns. No machine takes more steps for it folded.
bool is_folded(const Layer& layer);

// The layer as the machine computes it, folded or as it is: what schedules are made for.
Layer machine_layer(const Layer& layer);

Layer folded_layer(const Layer& layer);  // a Convolution
std::vector<std::int8_t> folded_input(const Layer& layer, std::span<const std::int8_t> input);
std::vector<std::int8_t> folded_weight(const Layer& layer, std::span<const std::int8_t> weight);

}  // namespace tilewright::vta
