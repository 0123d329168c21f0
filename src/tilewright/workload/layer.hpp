// A layer: one operator of a network that multiplies and accumulates, with its full shape.
//
//   Convolution, Depthwise      out[n,k,y,x] += in[n,c,y*stride+r*dilation-pad,…] * weight[k,c,r,s]
//   TransposedConvolution       out[n,k,y*stride+r-pad,…] += in[n,c,y,x] * weight[c,k,r,s]
//   FullyConnected              out[n,k] += in[n,c] * weight[k,c]
//   MatrixMultiply              out[b,m,n] += left[b,m,k] * right[b,k,n]; `right` plays the part of the weight
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"
#include "tilewright/base/units.hpp"

namespace tilewright {

enum class Operator { Convolution, Depthwise, TransposedConvolution, FullyConnected, MatrixMultiply };

std::string_view name_of(Operator op);

struct Layer {
  std::string name;
  Operator op = Operator::Convolution;
  std::int64_t batch = 1;         // images; for a matrix multiply the number of independent products
  std::int64_t groups = 1;        // for Depthwise equal to in_channels
  std::int64_t out_channels = 1;  // of all groups together; for a matrix multiply the columns of the result
  std::int64_t in_channels = 1;   // of all groups together; for a matrix multiply the inner dimension
  std::int64_t in_height = 1;     // without padding; for a matrix multiply the rows of the result
  std::int64_t in_width = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride_height = 1;
  std::int64_t stride_width = 1;
  std::int64_t dilation_height = 1;
  std::int64_t dilation_width = 1;
  std::int64_t pad_top = 0;
  std::int64_t pad_bottom = 0;
  std::int64_t pad_left = 0;
  std::int64_t pad_right = 0;
  std::int64_t output_pad_height = 0;  // extra rows and columns of a transposed convolution
  std::int64_t output_pad_width = 0;

  bool operator==(const Layer&) const = default;
};

struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t out_channels = 1;
  std::int64_t in_channels = 1;
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
};
// A group per input channel (and more than one) makes it Depthwise.
Layer convolution(std::string name, const ConvolutionShape& shape);

struct MatrixShape {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t inner = 1;
  std::int64_t columns = 1;
};
Layer matrix_multiply(std::string name, const MatrixShape& shape);
Layer fully_connected(std::string name, std::int64_t batch, std::int64_t in_channels, std::int64_t out_channels);

// Rows and columns of the result. At least 1 for a layer that passed `check`.
std::int64_t out_height(const Layer& layer);
std::int64_t out_width(const Layer& layer);

// Multiply-accumulates of the whole layer, padding positions included (as published totals count them).
Macs macs(const Layer& layer);

struct TensorSizes {
  Elements input, weight, output;
};
TensorSizes tensor_sizes(const Layer& layer);

// Numbers in all three tensors; a double, because the sum may not fit in 63 bits.
double tensor_total(const Layer& layer);

// The layer itself, or a sentence that names the first impossible number: `layer 'conv1': stride is 0, expected at least 1`.
// Products of a checked layer fit in 63 bits.
Result<Layer> check(Layer layer);

// "3x224x224 -> 64x112x112, 7x7/2"; of a matrix multiply "12 x 128 x 64 x 128": products, rows, inner, columns.
std::string shape_text(const Layer& layer);
std::string stride_text(const Layer& layer);  // "2", or "2x1": rows, columns

// True when two layers do the same work, whatever they are called.
bool same_shape(const Layer& a, const Layer& b);

}  // namespace tilewright
