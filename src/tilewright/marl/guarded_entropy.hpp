// The entropy that MASAC rewards. For categorical heads as tf2multiagentrl writes it, H = -Σ p·ln(p + 1e-6) with p the
// softmax of the outputs. Continuous components, which that code does not have, add -ln of the density at the sample
// tanh(mean + σ·noise), as soft actor-critic has it: the entropy before squashing would reward σ without bound.
#pragma once

#include <span>

#include "tilewright/nn/heads.hpp"

namespace tilewright {

// For the probabilities of up to `rows` samples.
struct EntropyRoom {
  EntropyRoom(std::size_t rows, std::size_t most_choices) : p(rows, most_choices), log_p(rows, most_choices) {}
  Matrix p, log_p;
};

// One number per row of outputs. `noise` as in soft_actions; only continuous components read it.
void guarded_entropies(const ActionSpace& space, ConstView outputs, ConstView noise, EntropyRoom& room,
                       std::span<float> result);

// doutputs += weight·dH/doutputs; returns the sum of the rows' entropies.
double add_entropy_gradient(const ActionSpace& space, ConstView outputs, ConstView noise, float weight, EntropyRoom& room,
                            View doutputs);

}  // namespace tilewright
