#include "tilewright/vta/column_folding.hpp"

namespace tilewright::vta {

namespace {
constexpr std::int64_t kMostImageChannels = 4;
}

bool is_folded(const Layer& layer) {
  return layer.op == Operator::Convolution && layer.in_channels <= kMostImageChannels && layer.kernel_width > 1;
}

Layer machine_layer(const Layer& layer) { return is_folded(layer) ? folded_layer(layer) : layer; }

Layer folded_layer(const Layer& layer) {
  Layer folded = layer;
  folded.op = Operator::Convolution;
  folded.in_channels = layer.in_channels * layer.kernel_width;
  folded.in_width = out_width(layer);
  folded.kernel_width = folded.stride_width = folded.dilation_width = 1;
  folded.pad_left = folded.pad_right = 0;
  return folded;
}

std::vector<std::int8_t> folded_input(const Layer& l, std::span<const std::int8_t> input) {
  const std::int64_t width = out_width(l);
  std::vector<std::int8_t> folded(static_cast<std::size_t>(l.batch * l.in_channels * l.kernel_width * l.in_height * width),
                                  0);
  std::int8_t* to = folded.data();
  for (std::int64_t plane = 0; plane < l.batch * l.in_channels; ++plane) {
    for (std::int64_t s = 0; s < l.kernel_width; ++s) {
      for (std::int64_t y = 0; y < l.in_height; ++y) {
        const std::int8_t* const row = input.data() + (plane * l.in_height + y) * l.in_width;
        for (std::int64_t x = 0; x < width; ++x, ++to) {
          const std::int64_t column = x * l.stride_width + s * l.dilation_width - l.pad_left;
          if (column >= 0 && column < l.in_width) *to = row[column];
        }
      }
    }
  }
  return folded;
}

std::vector<std::int8_t> folded_weight(const Layer& l, std::span<const std::int8_t> weight) {
  std::vector<std::int8_t> folded;
  folded.reserve(weight.size());
  for (std::int64_t kernel = 0; kernel < l.out_channels * (l.in_channels / l.groups); ++kernel) {
    for (std::int64_t s = 0; s < l.kernel_width; ++s) {
      for (std::int64_t r = 0; r < l.kernel_height; ++r) {
        folded.push_back(weight[static_cast<std::size_t>((kernel * l.kernel_height + r) * l.kernel_width + s)]);
      }
    }
  }
  return folded;
}

}  // namespace tilewright::vta
