#include "tilewright/particle/prey.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {
namespace {

class FrozenPrey : public PreyDriver {
 public:
  explicit FrozenPrey(std::size_t prey) : prey_(prey) {}
  void drive(std::size_t, const double*, double* thrust) override { std::fill_n(thrust, 2 * prey_, 0.0); }

 private:
  std::size_t prey_;
};

// Has a stream of chance for every world.
class ChancePrey : public PreyDriver {
 public:
  ChancePrey(const WorldShape& shape, const PreyOptions& options)
      : shape_(shape), first_(options.first), chance_(options.worlds, Rng(0, "prey")) {}
  void begin_episode(std::size_t world_index, const Rng& rng) override { chance_[world_index] = rng; }

 protected:
  const WorldShape& shape_;
  std::size_t first_;
  std::vector<Rng> chance_;
};

class RandomPrey : public ChancePrey {
 public:
  using ChancePrey::ChancePrey;
  void drive(std::size_t world_index, const double*, double* thrust) override {
    Rng& rng = chance_[world_index];
    for (std::size_t prey = first_; prey < shape_.agents.size(); ++prey) {
      for (int axis = 0; axis < 2; ++axis) *thrust++ = (2 * rng.uniform() - 1) * shape_.agents[prey].acceleration;
    }
  }
};

// Draws displacements in the unit disc, leaves out those that end in a predator, and takes the one that ends farthest from
// the predator that is nearest now; as a thrust it is not multiplied by the prey's acceleration.
class HeuristicPrey : public ChancePrey {
 public:
  using ChancePrey::ChancePrey;
  void drive(std::size_t world_index, const double* world, double* thrust) override {
    for (std::size_t prey = first_; prey < shape_.agents.size(); ++prey, thrust += 2) {
      flee(chance_[world_index], world, prey, thrust);
    }
  }

 private:
  static constexpr int kCandidates = 100;

  void flee(Rng& rng, const double* world, std::size_t prey, double* thrust) const {
    const double* here = world + shape_.position(prey);
    std::size_t nearest = 0;
    for (std::size_t a = 1; a < first_; ++a) {
      if (squared_distance(world + shape_.position(a), here) < squared_distance(world + shape_.position(nearest), here)) {
        nearest = a;
      }
    }
    double best = -1;
    thrust[0] = thrust[1] = 0;
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      const double length = std::sqrt(rng.uniform()), angle = 2 * std::numbers::pi * rng.uniform();
      const double step[] = {length * std::cos(angle), length * std::sin(angle)};
      const double there[] = {here[0] + step[0], here[1] + step[1]};
      const double score = distance(world + shape_.position(nearest), there);
      if (score <= best || is_taken(world, prey, there)) continue;
      best = score;
      std::copy_n(step, 2, thrust);
    }
  }

  bool is_taken(const double* world, std::size_t prey, const double* there) const {
    for (std::size_t a = 0; a < first_; ++a) {
      const double touching = shape_.agents[a].radius + shape_.agents[prey].radius;
      if (distance(world + shape_.position(a), there) < touching) return true;
    }
    return false;
  }
};

class NetworkPrey : public PreyDriver {
 public:
  NetworkPrey(const Scenario& scenario, const PreyOptions& options, std::vector<Mlp> networks)
      : scenario_(scenario),
        dialect_(options.dialect),
        first_(options.first),
        networks_(std::move(networks)),
        seen_(view_size(scenario.view(first_))) {}

  void drive(std::size_t, const double* world, double* thrust) override {
    for (std::size_t i = 0; i < networks_.size(); ++i, thrust += 2) {
      float logits[5], action[5] = {};
      observe(scenario_.view(first_ + i), world, seen_.data());
      forward_one(networks_[i], seen_.data(), logits);
      action[std::max_element(logits, logits + 5) - logits] = 1;
      apply_action(action, scenario_.shape().agents[first_ + i], dialect_, 0, thrust, nullptr);
    }
  }

 private:
  const Scenario& scenario_;
  Dialect dialect_;
  std::size_t first_;
  std::vector<Mlp> networks_;  // one per prey
  std::vector<float> seen_;
};

// The shape that the tensors NAME.weight0, NAME.weight1, … of a file describe; without outputs when they describe none.
MlpShape shape_in(const TensorFile& file, const std::string& name) {
  MlpShape shape{.inputs = 0, .hidden = {}, .outputs = 0};
  for (std::size_t layer = 0;; ++layer) {
    const auto weight = file.tensors.find(fmt::format("{}.weight{}", name, layer));
    if (weight == file.tensors.end()) return shape;
    if (weight->second.shape.size() != 2) return {.inputs = 0, .hidden = {}, .outputs = 0};
    if (layer == 0) {
      shape.inputs = weight->second.shape[0];
    } else {
      shape.hidden.push_back(shape.outputs);
    }
    shape.outputs = weight->second.shape[1];
  }
}

Result<Activation> activation_in(const TensorFile& file, const std::string& where) {
  const auto found = file.metadata.find("activation");
  if (found == file.metadata.end() || found->second == "relu") return Activation::Relu;
  if (found->second == "tanh") return Activation::Tanh;
  return invalid(fmt::format("{}: activation is '{}', expected 'relu' or 'tanh'", where, printable(found->second)));
}

// The networks in a file that turn `inputs` numbers into five.
std::vector<std::string> suitable_networks(const TensorFile& file, std::size_t inputs) {
  constexpr std::string_view kFirst = ".weight0";
  std::vector<std::string> names;
  for (const auto& [tensor, value] : file.tensors) {
    if (!tensor.ends_with(kFirst)) continue;
    const std::string name = tensor.substr(0, tensor.size() - kFirst.size());
    const MlpShape shape = shape_in(file, name);
    if (shape.inputs == inputs && shape.outputs == 5) names.push_back(name);
  }
  return names;
}

// One network per prey: the one named after it (NAME or NAME.actor), or the only one that suits.
Result<std::vector<Mlp>> read_networks(const Scenario& scenario, const PreyOptions& options) {
  TW_TRY(const TensorFile file, read_safetensors(options.network));
  TW_TRY(const Activation activation, activation_in(file, options.network));
  const std::size_t inputs = view_size(scenario.view(options.first));
  const std::vector<std::string> suitable = suitable_networks(file, inputs);
  std::vector<Mlp> networks;
  for (std::size_t prey = options.first; prey < scenario.shape().agents.size(); ++prey) {
    const std::string& own = scenario.shape().agents[prey].name;
    const auto named = std::find_if(suitable.begin(), suitable.end(),
                                    [&](const std::string& name) { return name == own || name == own + ".actor"; });
    if (named == suitable.end() && suitable.size() != 1) {
      return invalid(
          fmt::format("{}: {} networks turn the {} numbers a prey sees into 5 choices, expected one, or one named "
                      "'{}.actor' for each prey",
                      options.network, suitable.size(), inputs, own));
    }
    const std::string& name = named == suitable.end() ? suitable.front() : *named;
    MlpShape shape = shape_in(file, name);
    shape.activation = activation;
    Mlp network(shape);
    const Result<Done> read = file.get(name, network);
    if (!read) return invalid(options.network + ": " + read.error().message);
    networks.push_back(std::move(network));
  }
  return networks;
}

}  // namespace

Result<std::unique_ptr<PreyDriver>> make_prey_driver(const Scenario& scenario, const PreyOptions& options) {
  const WorldShape& shape = scenario.shape();
  std::unique_ptr<PreyDriver> driver;
  switch (options.controller) {
    case PreyController::Learning:
      break;
    case PreyController::Random:
      driver = std::make_unique<RandomPrey>(shape, options);
      break;
    case PreyController::Frozen:
      driver = std::make_unique<FrozenPrey>(shape.agents.size() - options.first);
      break;
    case PreyController::Heuristic:
      driver = std::make_unique<HeuristicPrey>(shape, options);
      break;
    case PreyController::Network: {
      TW_TRY(std::vector<Mlp> networks, read_networks(scenario, options));
      driver = std::make_unique<NetworkPrey>(scenario, options, std::move(networks));
      break;
    }
  }
  return driver;
}

}  // namespace tilewright
