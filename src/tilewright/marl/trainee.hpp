// A network and what it needs to learn by itself: gradient, optimiser, room for a mini-batch and for one tile of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/nn/matrix.hpp"
#include "tilewright/nn/mlp.hpp"
#include "tilewright/nn/optimiser.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

struct Trainee {
  Mlp mlp, gradient;
  Adam adam;
  MlpWorkspace workspace;
  std::vector<std::uint32_t> order;  // samples, shuffled
  Matrix inputs;                     // of a mini-batch
  Matrix outputs, doutputs;          // of a tile

  // Orthogonal weights of gain sqrt(2) in hidden layers and `output_gain` in the last.
  Trainee(const MlpShape& shape, double output_gain, const Rng& rng);

  void save(const std::string& name, TensorFile& file) const;  // weights and optimiser
  Result<Done> load(const std::string& name, const TensorFile& file);
};

// Row i of `to` (which grows as needed) <- row rows[i] of `from`.
void gather(ConstView from, std::span<const std::uint32_t> rows, Matrix& to);

// In an order that depends on the stream only.
void shuffle(std::span<std::uint32_t> values, Rng rng);

}  // namespace tilewright
