// Scenarios in which predators chase prey: simple_tag, simple_world_comm.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tilewright/particle/scenario.hpp"

namespace tilewright {
namespace {

AgentTraits predator(std::string name) {
  return {.name = std::move(name),
          .team = "predator",
          .kind = Body::Kind::Adversary,
          .radius = 0.075,
          .acceleration = 3,
          .max_speed = 1};
}

AgentTraits prey(std::size_t index, double radius) {
  return {.name = "agent_" + std::to_string(index),
          .team = "prey",
          .kind = Body::Kind::Prey,
          .radius = radius,
          .acceleration = 4,
          .max_speed = 1.3};
}

class Pursuit : public Scenario {
 protected:
  bool touch(const double* world, std::size_t one, std::size_t other) const {
    return distance(body(world, one), body(world, other)) < radius(one) + radius(other);
  }
  double radius(std::size_t index) const {
    const std::size_t agents = shape_.agents.size();
    return index < agents ? shape_.agents[index].radius : shape_.landmarks[index - agents].radius;
  }
  // What a prey pays for running away, along one axis.
  double boundary(double coordinate) const {
    const double x = std::abs(coordinate);
    if (x < 0.9) return 0;
    if (x < 1.0) return (x - 0.9) * 10;
    return std::min(std::exp(2 * x - 2), 10.0);
  }

  std::size_t predators_ = 0;  // they come first
};

class Tag : public Pursuit {
 public:
  explicit Tag(const ScenarioSize& size) {
    predators_ = size.agents;
    const std::size_t agents = size.agents + size.prey;
    for (std::size_t i = 0; i < size.agents; ++i) shape_.agents.push_back(predator("adversary_" + std::to_string(i)));
    for (std::size_t i = 0; i < size.prey; ++i) shape_.agents.push_back(prey(i, 0.05));
    shape_.landmarks.assign(size.obstacles, {.kind = Body::Kind::Obstacle, .radius = 0.2, .spawn = 0.9});
    shape_.pushing = agents + size.obstacles;
    shape_.word_size = 2;
    for (std::size_t i = 0; i < agents; ++i) {
      const std::size_t before = std::max(i, predators_), after = std::max(i + 1, predators_);
      views_.push_back(ViewOf(shape_, i)
                           .velocity()
                           .position()
                           .landmarks()
                           .others()
                           .numbers(shape_.velocity(predators_), 2 * (before - predators_))
                           .numbers(shape_.velocity(after), 2 * (agents - after))
                           .blocks());
    }
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    double catches = 0;
    for (std::size_t g = predators_; g < shape_.agents.size(); ++g) {
      double reward = 0;
      for (std::size_t a = 0; a < predators_; ++a) reward -= touch(world, g, a) ? 10 : 0;
      catches -= reward;
      rewards[g] = reward - boundary(body(world, g)[0]) - boundary(body(world, g)[1]);
    }
    std::fill_n(rewards.begin(), predators_, catches);
  }
};

// Bodies: a leader that talks, three more predators, two prey; an obstacle, two pieces of food, two forests.
class WorldComm : public Pursuit {
 public:
  explicit WorldComm(Dialect dialect) : dialect_(dialect) {
    predators_ = 4;
    shape_.agents = {predator("leadadversary_0"), predator("adversary_0"), predator("adversary_1"),
                     predator("adversary_2"),     prey(0, 0.045),          prey(1, 0.045)};
    shape_.agents[kLeader].talks = true;
    shape_.landmarks = {{.kind = Body::Kind::Obstacle, .radius = 0.2, .spawn = 0.9}};
    shape_.landmarks.insert(shape_.landmarks.end(), kFood, {.radius = 0.03, .spawn = 0.9});
    shape_.landmarks.insert(shape_.landmarks.end(), kForests, {.radius = 0.3, .spawn = 0.9});
    shape_.pushing = kFirstFood;
    shape_.word_size = 4;
    for (std::size_t i = 0; i < kAgents; ++i) {
      const std::size_t start = shape_.size(), seen = sight_size(i);
      shape_.derived_size += seen;
      ViewOf view(shape_, i);
      view.velocity().position().landmarks().numbers(start, seen);
      if (i < predators_) view.numbers(shape_.word(kLeader), shape_.word_size);
      views_.push_back(view.blocks());
    }
  }

  // What each agent sees of the others and whether it stands in a forest, in the order of its observation.
  void derive(double* world) const override {
    std::array<std::array<bool, kForests>, kAgents> inside;
    for (std::size_t i = 0; i < kAgents; ++i) {
      for (std::size_t f = 0; f < kForests; ++f) inside[i][f] = touch(world, i, kFirstForest + f);
    }
    double* out = world + shape_.state_size();
    for (std::size_t i = 0; i < kAgents; ++i) {
      std::array<bool, kAgents> sees;
      for (std::size_t j = 0; j < kAgents; ++j) sees[j] = i == kLeader || meet(inside[i], inside[j]);
      const auto put = [&](bool visible, double x, double y) {
        *out++ = visible ? x : 0;
        *out++ = visible ? y : 0;
      };
      const auto put_flags = [&] {
        for (const bool in : inside[i]) *out++ = in ? 1 : -1;
      };
      const double* p = body(world, i);
      for (std::size_t j = 0; j < kAgents; ++j) {
        if (j != i) put(sees[j], body(world, j)[0] - p[0], body(world, j)[1] - p[1]);
      }
      if (i >= predators_) put_flags();
      for (std::size_t j = predators_; j < kAgents; ++j) {
        if (j != i) put(sees[j], world[shape_.velocity(j)], world[shape_.velocity(j) + 1]);
      }
      if (i < predators_) put_flags();
    }
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    std::size_t catches = 0;
    for (std::size_t g = predators_; g < kAgents; ++g) {
      double reward = 0;
      for (std::size_t a = 0; a < predators_; ++a) {
        if (!touch(world, g, a)) continue;
        reward -= 5;
        ++catches;
      }
      for (const double coordinate : {body(world, g)[0], body(world, g)[1]}) reward -= 2 * boundary(coordinate);
      for (std::size_t f = 0; f < kFood; ++f) reward += touch(world, g, kFirstFood + f) ? 2 : 0;
      const double food = nearest(world, g, kFirstFood, kFirstForest);
      rewards[g] = dialect_ == Dialect::OpenAi ? reward + 0.05 * food : reward - 0.05 * food;
    }
    for (std::size_t a = 0; a < predators_; ++a) {
      rewards[a] = -0.1 * nearest(world, a, predators_, kAgents);
      for (std::size_t k = 0; k < catches; ++k) rewards[a] += 5;
    }
  }

 private:
  static constexpr std::size_t kLeader = 0, kAgents = 6, kFood = 2, kForests = 2;
  static constexpr std::size_t kFirstFood = kAgents + 1, kFirstForest = kFirstFood + kFood;

  std::size_t sight_size(std::size_t viewer) const {
    const std::size_t prey_seen = kAgents - predators_ - (viewer < predators_ ? 0 : 1);
    return 2 * (kAgents - 1) + 2 * prey_seen + kForests;
  }
  // In the same forest, or both in the open.
  static bool meet(const std::array<bool, kForests>& a, const std::array<bool, kForests>& b) {
    bool open = true;
    for (std::size_t f = 0; f < kForests; ++f) {
      if (a[f] && b[f]) return true;
      open = open && !a[f] && !b[f];
    }
    return open;
  }
  double nearest(const double* world, std::size_t one, std::size_t first, std::size_t last) const {
    double squared = std::numeric_limits<double>::infinity();
    for (std::size_t other = first; other < last; ++other) {
      squared = std::min(squared, squared_distance(body(world, other), body(world, one)));
    }
    return std::sqrt(squared);
  }

  Dialect dialect_;
};

}  // namespace

std::unique_ptr<Scenario> make_tag(const ScenarioSize& size, Dialect) { return std::make_unique<Tag>(size); }

std::unique_ptr<Scenario> make_world_comm(const ScenarioSize&, Dialect dialect) {
  return std::make_unique<WorldComm>(dialect);
}

}  // namespace tilewright
