#include "tilewright/nn/mlp.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "tilewright/nn/kernels.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kTensorAlignment = 16;  // floats: a cache line

kernels::Curve curve(Activation activation) {
  return activation == Activation::Relu ? kernels::Curve::Relu : kernels::Curve::Tanh;
}

std::size_t inputs_of(const MlpShape& shape, std::size_t layer) {
  return layer == 0 ? shape.inputs : shape.hidden[layer - 1];
}
std::size_t outputs_of(const MlpShape& shape, std::size_t layer) {
  return layer == shape.hidden.size() ? shape.outputs : shape.hidden[layer];
}

double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

// `count` orthonormal vectors of `size` >= count numbers, one after the other: Gram and Schmidt on Gaussian vectors, twice
// for the digits that the first round loses.
std::vector<double> orthonormal(std::size_t count, std::size_t size, Rng rng) {
  std::vector<double> vectors(count * size);
  for (double& value : vectors) value = normal(rng);
  const auto dot = [size](const double* a, const double* b) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
  };
  for (std::size_t v = 0; v < count; ++v) {
    double* vector = &vectors[v * size];
    for (int round = 0; round < 2; ++round) {
      for (std::size_t u = 0; u < v; ++u) {
        const double* earlier = &vectors[u * size];
        const double along = dot(vector, earlier);
        for (std::size_t i = 0; i < size; ++i) vector[i] -= along * earlier[i];
      }
    }
    const double length = std::sqrt(dot(vector, vector));
    for (std::size_t i = 0; i < size; ++i) vector[i] /= length;
  }
  return vectors;
}

}  // namespace

Mlp::Mlp(MlpShape shape) : shape_(std::move(shape)) {
  std::size_t offset = 0;
  const auto place = [&](std::string name, std::size_t rows, std::size_t columns) {
    tensors_.push_back({std::move(name), offset, rows, columns, padded(columns)});
    offset += (tensors_.back().size() + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  };
  for (std::size_t layer = 0; layer < layer_count(); ++layer) {
    place("weight" + std::to_string(layer), inputs_of(shape_, layer), outputs_of(shape_, layer));
    place("bias" + std::to_string(layer), 1, outputs_of(shape_, layer));
  }
  values_.resize(offset);
}

std::span<float> Mlp::bias(std::size_t layer) {
  const TensorPlace& place = tensors_[2 * layer + 1];
  return {values_.data() + place.offset, place.columns};
}
std::span<const float> Mlp::bias(std::size_t layer) const {
  const TensorPlace& place = tensors_[2 * layer + 1];
  return {values_.data() + place.offset, place.columns};
}

void initialise_xavier(Mlp& mlp, Rng rng) {
  for (std::size_t layer = 0; layer < mlp.layer_count(); ++layer) {
    const View weight = mlp.weight(layer);
    Rng weight_rng = rng.fork("weight", layer);
    const double most = std::sqrt(6.0 / static_cast<double>(weight.rows + weight.columns));
    for (std::size_t r = 0; r < weight.rows; ++r)
      for (std::size_t c = 0; c < weight.columns; ++c)
        weight.row(r)[c] = static_cast<float>((2 * weight_rng.uniform() - 1) * most);
    for (float& value : mlp.bias(layer)) value = 0;
  }
}

void initialise_orthogonal(Mlp& mlp, double hidden_gain, double output_gain, Rng rng) {
  for (std::size_t layer = 0; layer < mlp.layer_count(); ++layer) {
    const View weight = mlp.weight(layer);
    const double gain = layer + 1 == mlp.layer_count() ? output_gain : hidden_gain;
    const bool columns_are_orthogonal = weight.rows >= weight.columns;
    const std::size_t size = columns_are_orthogonal ? weight.rows : weight.columns;
    const std::size_t count = columns_are_orthogonal ? weight.columns : weight.rows;
    const std::vector<double> vectors = orthonormal(count, size, rng.fork("weight", layer));
    for (std::size_t r = 0; r < weight.rows; ++r) {
      for (std::size_t c = 0; c < weight.columns; ++c) {
        const double value = columns_are_orthogonal ? vectors[c * size + r] : vectors[r * size + c];
        weight.row(r)[c] = static_cast<float>(gain * value);
      }
    }
    for (float& value : mlp.bias(layer)) value = 0;
  }
}

MlpWorkspace::MlpWorkspace(const MlpShape& shape, std::size_t rows) {
  for (const std::size_t width : shape.hidden) {
    activations.emplace_back(rows, width);
    deltas.emplace_back(rows, width);
  }
  for (std::size_t layer = 0; layer <= shape.hidden.size(); ++layer)
    transposed.emplace_back(outputs_of(shape, layer), inputs_of(shape, layer));
}

void MlpWorkspace::load_transposed(const Mlp& mlp) {
  for (std::size_t layer = 1; layer < mlp.layer_count(); ++layer)
    kernels::transpose(mlp.weight(layer), transposed[layer].view());
  first_input = input_count = 0;
}

void MlpWorkspace::load_inputs(const Mlp& mlp, std::size_t first, std::size_t count) {
  if (first >= first_input && first + count <= first_input + input_count) return;
  kernels::transpose(mlp.weight(0).row_range(first, count), transposed[0].view().column_range(first, count));
  first_input = first;
  input_count = count;
}

void forward(const Mlp& mlp, ConstView x, View y, MlpWorkspace& workspace) {
  TW_ASSERT(x.columns == mlp.shape().inputs && y.columns == mlp.shape().outputs && x.rows == y.rows);
  TW_ASSERT(workspace.activations.empty() || x.rows <= workspace.activations[0].rows());
  const std::size_t last = mlp.layer_count() - 1;
  ConstView input = x;
  for (std::size_t layer = 0; layer <= last; ++layer) {
    const View output = layer == last ? y : workspace.activations[layer].row_range(0, x.rows);
    kernels::dense(input, mlp.weight(layer), mlp.bias(layer).data(),
                   layer == last ? kernels::Curve::Identity : curve(mlp.shape().activation), output);
    input = output;
  }
}

void backward(const Mlp& mlp, ConstView x, ConstView dy, MlpWorkspace& workspace, Mlp* gradient, View dx,
              std::size_t first_input) {
  TW_ASSERT(dy.columns == mlp.shape().outputs && x.rows == dy.rows);
  TW_ASSERT(first_input + dx.columns <= mlp.shape().inputs);
  const kernels::Curve f = curve(mlp.shape().activation);
  ConstView delta = dy;
  for (std::size_t layer = mlp.layer_count(); layer-- > 0;) {
    const ConstView input = layer == 0 ? x : workspace.activations[layer - 1].row_range(0, x.rows);
    if (gradient != nullptr) kernels::dense_gradient(input, delta, gradient->weight(layer), gradient->bias(layer).data());
    if (layer > 0) {
      const View below = workspace.deltas[layer - 1].row_range(0, x.rows);
      kernels::dense_backward(delta, workspace.transposed[layer].view(), 0, f, input, below);
      delta = below;
    } else if (dx.columns > 0) {
      workspace.load_inputs(mlp, first_input, dx.columns);
      kernels::dense_backward(delta, workspace.transposed[0].view(), first_input, kernels::Curve::Identity, {}, dx);
    }
  }
}

void forward_one(const Mlp& mlp, const float* x, float* y) {
  thread_local AlignedVector<float> scratch[2];
  const std::size_t last = mlp.layer_count() - 1;
  ConstView input{x, 1, mlp.shape().inputs, mlp.shape().inputs};
  for (std::size_t layer = 0; layer <= last; ++layer) {
    const std::size_t columns = mlp.bias(layer).size();
    View output{y, 1, columns, columns};
    if (layer < last) {
      AlignedVector<float>& room = scratch[layer % 2];
      if (room.size() < padded(columns)) room.resize(padded(columns));
      output.data = room.data();
    }
    kernels::dense(input, mlp.weight(layer), mlp.bias(layer).data(),
                   layer == last ? kernels::Curve::Identity : curve(mlp.shape().activation), output);
    input = output;
  }
}

}  // namespace tilewright
