// The networks of one agent: an actor and one or two critics, each with its slow copy and its optimiser.
//
// When mini-batches hold world states, a critic's first layer is a FoldedLayer: `online` and `target` are then networks on
// (state | actions), and the weights that learn, on (observations | actions), are in `fold`. Averaging targets commutes with
// folding, so a target needs no weights of full size.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/nn/folded_layer.hpp"
#include "tilewright/nn/mlp.hpp"
#include "tilewright/nn/optimiser.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

struct TrainedNetwork {
  Mlp online, target;
  Adam adam;                        // all tensors; but see fold
  std::optional<FoldedLayer> fold;  // the first weight and its moments, when `online` holds it folded
};

enum class TargetStart { Copy, Independent };

struct NetworkForm {
  MlpShape shape;                          // as it learns
  std::shared_ptr<const FoldedForm> fold;  // null: computes as it learns
  std::size_t inputs = 0;                  // as it computes
  MlpShape computing_shape() const;
};

// Xavier's weights; the same for a folded and an unfolded form.
TrainedNetwork make_network(const NetworkForm& form, TargetStart start, const Rng& rng);

// One Adam step with each tensor's gradient clipped by itself. `gradient` is that of `online`.
void step(TrainedNetwork& network, const Mlp& gradient, double clip, const AdamOptions& options);

// target <- (1-τ)·target + τ·online
void move_target(TrainedNetwork& network, double tau);

// As AGENT.ROLE.weight0, … (in full size), AGENT.ROLE.adam.first, …, AGENT.target_ROLE.weight0, … (as it computes).
void save(const TrainedNetwork& network, const std::string& agent, const std::string& role, TensorFile& file);
Result<Done> load(TrainedNetwork& network, const std::string& agent, const std::string& role, const TensorFile& file);

struct AgentNetworks {
  TrainedNetwork actor;
  std::vector<TrainedNetwork> critics;
};

}  // namespace tilewright
