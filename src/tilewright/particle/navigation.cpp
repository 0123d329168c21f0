// Scenarios in which agents just have to get somewhere: simple, simple_spread.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/particle/scenario.hpp"

namespace tilewright {
namespace {

class Simple : public Scenario {
 public:
  Simple() {
    shape_.agents = {{.name = "agent_0", .team = "agent"}};
    shape_.landmarks.resize(1);
    views_ = {ViewOf(shape_, 0).velocity().landmarks().blocks()};
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    rewards[0] = -squared_distance(body(world, 0), landmark(world, 0));
  }
};

class Spread : public Scenario {
 public:
  Spread(std::size_t count, Dialect dialect) : dialect_(dialect) {
    for (std::size_t i = 0; i < count; ++i) {
      shape_.agents.push_back({.name = "agent_" + std::to_string(i), .team = "agent", .radius = 0.15});
    }
    shape_.landmarks.resize(count);
    shape_.pushing = count;
    shape_.word_size = 2;
    for (std::size_t i = 0; i < count; ++i) {
      // Nobody speaks, but the place for the others' words is part of what the packages show.
      const std::size_t words = shape_.word_size * (count - 1);
      views_.push_back(ViewOf(shape_, i).velocity().position().landmarks().others().zeros(words).blocks());
    }
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    const double coverage = coverage_of(world);
    const std::size_t count = shape_.agents.size();
    const double touching = shape_.agents[0].radius + shape_.agents[0].radius;
    const bool openai = dialect_ == Dialect::OpenAi;
    std::fill(rewards.begin(), rewards.end(), openai ? coverage - 1 : 0);  // OpenAI's agents also collide with themselves
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) {
        if (!(distance(body(world, i), body(world, j)) < touching)) continue;
        rewards[i] -= 1;
        rewards[j] -= 1;
      }
    }
    if (openai) return share_rewards(rewards);
    for (double& reward : rewards) reward = coverage * 0.5 + reward * 0.5;
  }

 private:
  // Minus the distance of each landmark to its nearest agent.
  double coverage_of(const double* world) const {
    double coverage = 0;
    for (std::size_t k = 0; k < shape_.landmarks.size(); ++k) {
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < shape_.agents.size(); ++i) {
        nearest = std::min(nearest, squared_distance(body(world, i), landmark(world, k)));
      }
      coverage -= std::sqrt(nearest);
    }
    return coverage;
  }

  Dialect dialect_;
};

}  // namespace

std::unique_ptr<Scenario> make_simple(const ScenarioSize&, Dialect) { return std::make_unique<Simple>(); }

std::unique_ptr<Scenario> make_spread(const ScenarioSize& size, Dialect dialect) {
  return std::make_unique<Spread>(size.agents, dialect);
}

}  // namespace tilewright
