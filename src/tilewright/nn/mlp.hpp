// A multi-layer perceptron, y = W3·f(W2·f(W1·x + b1) + b2) + b3 with any number of hidden layers, and its gradient.
//
// Parameters are one flat array: weight 0, bias 0, weight 1, … Weights are (inputs × outputs), rows padded as in matrix.hpp.
// A gradient has the same form, so optimiser, clipping and Polyak averaging are loops over that array.
//
// Learners call forward, make dy, call backward for one tile of kTileRows samples after the other: the activations of a
// tile stay in the first cache levels. Sums over samples run in sample order, whatever the tile or the vector width.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/nn/matrix.hpp"

namespace tilewright {

enum class Activation { Relu, Tanh };
template <>
struct Names<Activation> {
  static constexpr std::string_view kWhat = "activation";
  static constexpr NameTable<Activation, 2> kTable = {{{Activation::Relu, "relu"}, {Activation::Tanh, "tanh"}}};
};

struct MlpShape {
  std::size_t inputs = 0;
  std::vector<std::size_t> hidden = {64, 64};
  std::size_t outputs = 0;
  Activation activation = Activation::Relu;
  bool operator==(const MlpShape&) const = default;
};

// Where one weight or bias lies in the flat array.
struct TensorPlace {
  std::string name;  // "weight0", "bias0", "weight1", …
  std::size_t offset = 0;
  std::size_t rows = 0;     // 1 for a bias
  std::size_t columns = 0;  // without padding
  std::size_t stride = 0;
  std::size_t size() const { return rows * stride; }
};

class Mlp {
 public:
  Mlp() = default;
  explicit Mlp(MlpShape shape);  // all zero

  const MlpShape& shape() const { return shape_; }
  std::size_t layer_count() const { return shape_.hidden.size() + 1; }
  const std::vector<TensorPlace>& tensors() const { return tensors_; }  // weight l at 2l, bias l at 2l+1
  std::span<float> values() { return values_; }
  std::span<const float> values() const { return values_; }
  View weight(std::size_t layer) { return view(tensors_[2 * layer]); }
  ConstView weight(std::size_t layer) const { return view(tensors_[2 * layer]); }
  std::span<float> bias(std::size_t layer);
  std::span<const float> bias(std::size_t layer) const;

  View view(const TensorPlace& place) { return {values_.data() + place.offset, place.rows, place.columns, place.stride}; }
  ConstView view(const TensorPlace& place) const {
    return {values_.data() + place.offset, place.rows, place.columns, place.stride};
  }

 private:
  MlpShape shape_;
  std::vector<TensorPlace> tensors_;
  AlignedVector<float> values_;
};

// Weights uniform in ±sqrt(6 / (inputs + outputs)), biases zero.
void initialise_xavier(Mlp& mlp, Rng rng);
// Orthogonal weights of the given gains, biases zero: the usual start for PPO.
void initialise_orthogonal(Mlp& mlp, double hidden_gain, double output_gain, Rng rng);

inline constexpr std::size_t kTileRows = 96;

// The activations and deltas of up to `rows` samples, and the transposed weights that backward needs.
class MlpWorkspace {
 public:
  MlpWorkspace() = default;
  explicit MlpWorkspace(const MlpShape& shape, std::size_t rows = kTileRows);

  // Call when the parameters of `mlp` have changed and backward follows.
  void load_transposed(const Mlp& mlp);
  // What backward needs of weight 0, made when it is first asked for: usually a few inputs, or none.
  void load_inputs(const Mlp& mlp, std::size_t first, std::size_t count);

  std::vector<Matrix> activations;  // of hidden layer l, kept by forward for backward
  std::vector<Matrix> deltas;       // loss gradient before the activation of hidden layer l
  std::vector<Matrix> transposed;   // weight l, (outputs × inputs)
  std::size_t first_input = 0;      // which inputs of weight 0 are there
  std::size_t input_count = 0;
};

// y <- mlp(x). Hidden activations stay in the workspace.
void forward(const Mlp& mlp, ConstView x, View y, MlpWorkspace& workspace);

// After forward with the same x: adds the gradient of the parameters to `gradient` (nothing when null), and overwrites `dx`
// (when it has columns) with the gradient of the inputs first_input … first_input + dx.columns - 1. `dy` must be readable
// up to its padded columns; what is there does not matter.
void backward(const Mlp& mlp, ConstView x, ConstView dy, MlpWorkspace& workspace, Mlp* gradient, View dx = {},
              std::size_t first_input = 0);

// One sample, without a workspace; for acting.
void forward_one(const Mlp& mlp, const float* x, float* y);

}  // namespace tilewright
