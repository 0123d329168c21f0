// MADDPG and MASAC once more, in double precision and plain loops: what the fast learners are compared with.
//
// Nothing here comes from the learners but names of saved tensors and the noise, which is drawn through the public
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewright/marl/environment.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright::oracle {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Row tensor(const TensorFile& file, const std::string& name);

// Weights (inputs × outputs) and biases, layer after layer, and the same shape for gradients and moments.
struct Net {
  std::vector<std::size_t> sizes;  // inputs, hidden …, outputs
  std::vector<Row> tensors;        // weight0, bias0, weight1, …
  Net zeros() const;
};
Net net(const TensorFile& file, const std::string& name);

Row run(const Net& net, const Row& x);
// Adds to `gradient` unless it is null; returns the gradient of the inputs.
Row back(const Net& net, const Row& x, const Row& dy, Net* gradient);

struct Trained {
  Net online, target, first, second;
  int steps = 0;
};
struct Agent {
  Trained actor;
  std::vector<Trained> critics;
};
Agent agent(const TensorFile& file, const std::string& name, std::size_t critics);

struct Rules {
  bool soft_actor_critic = false;
  double gamma = 0.95, tau = 0.01, learning_rate = 0.01, epsilon = 1e-8, clip = 0.5;
  double logit_penalty = 1e-3, entropy = 0.05;
  bool entropy_batch_mean = false;
};

// A mini-batch, [agent][sample] but for weights: [sample].
struct Samples {
  std::vector<Rows> observations, actions, next_observations;
  std::vector<Row> rewards, terminated;
  Row weights;
  std::vector<Rows> target_noise;
  Rows policy_noise, next_noise;  // of the agent that is updated
};

Row soft_action(const ActionSpace& space, const Row& outputs, const Row& noise);
double guarded_entropy(const ActionSpace& space, const Row& outputs, const Row& noise);

// The inputs of a critic: all observations, then all actions.
Row joint(const std::vector<Rows>& observations, const std::vector<Rows>& actions, std::size_t sample);

// [agent][sample], from the target actors as they are.
std::vector<Rows> target_actions(const EnvironmentSpec& spec, const std::vector<Agent>& agents, const Samples& samples);

// Losses, and their gradients unless these are null.
double critic_loss(const Net& critic, const Rows& inputs, const Row& y, const Row& weights, Net* gradient);
double actor_loss(const EnvironmentSpec& spec, const Rules& rules, std::size_t self, const Net& actor, const Net& critic,
                  const Samples& samples, Net* gradient);

// Clip by tensor, TensorFlow's Adam.
void step(Trained& trained, const Net& gradient, const Rules& rules);

struct StepLosses {
  double critic = 0, actor = 0;
  Row squared_errors;
};
// Everything that happens to one agent once the target actions are there.
StepLosses update(const EnvironmentSpec& spec, const Rules& rules, std::size_t self, std::vector<Agent>& agents,
                  const Samples& samples, const std::vector<Rows>& next_actions);

}  // namespace tilewright::oracle
