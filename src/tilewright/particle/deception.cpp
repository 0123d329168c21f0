// Scenarios with a goal that one side must not find or reach: simple_adversary, simple_push.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/particle/scenario.hpp"

namespace tilewright {
namespace {

AgentTraits adversary() { return {.name = "adversary_0", .team = "adversary", .kind = Body::Kind::Adversary}; }
AgentTraits good(std::size_t index) { return {.name = "agent_" + std::to_string(index), .team = "good"}; }

// Agent 0 is the adversary. The goal's numbers begin with its position.
class Deception : public Scenario {
 public:
  std::size_t goal_count() const override { return shape_.landmarks.size(); }
  void set_goal(std::size_t goal, double* world) const override {
    std::copy_n(landmark(world, goal), 2, world + shape_.goal());
  }

 protected:
  double squared_to_goal(const double* world, std::size_t index) const {
    return squared_distance(body(world, index), world + shape_.goal());
  }
  double to_goal(const double* world, std::size_t index) const { return std::sqrt(squared_to_goal(world, index)); }
};

class Adversary : public Deception {
 public:
  Adversary(std::size_t good_count, Dialect dialect) : dialect_(dialect) {
    shape_.agents = {adversary()};
    for (std::size_t i = 0; i < good_count; ++i) shape_.agents.push_back(good(i));
    for (AgentTraits& agent : shape_.agents) agent.radius = 0.15;
    shape_.landmarks.assign(good_count, {.radius = 0.08});
    shape_.word_size = 2;
    shape_.goal_size = 2;
    views_.push_back(ViewOf(shape_, 0).landmarks().others().blocks());
    for (std::size_t i = 1; i < shape_.agents.size(); ++i) {
      views_.push_back(ViewOf(shape_, i).relative(shape_.goal(), 2).landmarks().others().blocks());
    }
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < rewards.size(); ++i) nearest = std::min(nearest, to_goal(world, i));
    std::fill(rewards.begin() + 1, rewards.end(), -nearest + to_goal(world, 0));
    rewards[0] = dialect_ == Dialect::OpenAi ? -squared_to_goal(world, 0) : -to_goal(world, 0);
  }

 private:
  Dialect dialect_;
};

// The goal's numbers: position, colour of the good agent, colours of the landmarks. A colour tells which landmark is meant.
class Push : public Deception {
 public:
  Push() {
    shape_.agents = {adversary(), good(0)};
    shape_.landmarks.resize(kLandmarks);
    shape_.pushing = shape_.agents.size();
    shape_.word_size = 2;
    shape_.goal_size = 2 + kColour + kLandmarks * kColour;
    const std::size_t colour = shape_.goal() + 2;
    views_ = {ViewOf(shape_, 0).velocity().landmarks().others().blocks(),
              ViewOf(shape_, 1)
                  .velocity()
                  .relative(shape_.goal(), 2)
                  .numbers(colour, kColour)
                  .landmarks()
                  .numbers(colour + kColour, kLandmarks * kColour)
                  .others()
                  .blocks()};
  }

  void set_goal(std::size_t goal, double* world) const override {
    Deception::set_goal(goal, world);
    double* colour = world + shape_.goal() + 2;
    paint(colour, 0.25, goal, 0.5);
    for (std::size_t k = 0; k < kLandmarks; ++k) paint(colour + (k + 1) * kColour, 0.1, k, 0.8);
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    rewards[0] = to_goal(world, 1) - to_goal(world, 0);
    rewards[1] = -to_goal(world, 1);
  }

 private:
  static constexpr std::size_t kLandmarks = 2, kColour = 3;

  static void paint(double* colour, double ground, std::size_t landmark, double more) {
    std::fill_n(colour, kColour, ground);
    colour[landmark + 1] += more;
  }
};

}  // namespace

std::unique_ptr<Scenario> make_adversary(const ScenarioSize& size, Dialect dialect) {
  return std::make_unique<Adversary>(size.agents, dialect);
}

std::unique_ptr<Scenario> make_push(const ScenarioSize&, Dialect) { return std::make_unique<Push>(); }

}  // namespace tilewright
