// Agents that walk through design spaces: in every step each agent moves each of its parameters to the next smaller legal
// value, leaves it, or moves it to the next larger one.
//
// Many worlds walk side by side. With several problems (the layers of a network), a group of worlds has one world per
// problem, and its first parameters, those of the machine, are the same in all of them: they move as the group's first world
// chose.
//
// An agent observes its own parameters (index over the largest) and the problem's features, no other agent's parameters; a
// central critic sees the observations of all. How much of the area is used is seen by the agent of the first hardware
// parameter, how full the buffers are by the agent of the last tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/marl/learner.hpp"
#include "tilewright/marl/ppo.hpp"
#include "tilewright/marl/profile.hpp"
#include "tilewright/search/settings.hpp"
#include "tilewright/space/codesign_space.hpp"

namespace tilewright {

struct WalkPlan {
  std::vector<const DesignSpace*> spaces;        // the same parameters in all; their choices may differ
  std::vector<std::vector<std::size_t>> agents;  // parameters of each agent: every one once
  std::size_t shared = 0;                        // parameters at the beginning that a group of worlds has in common
  std::size_t groups = 64;
  std::size_t steps = 32;  // until an episode is cut
};

class Walk {
 public:
  explicit Walk(WalkPlan plan);

  const EnvironmentSpec& spec() const { return spec_; }
  const WalkPlan& plan() const { return plan_; }
  std::size_t world_count() const { return plan_.groups * plan_.spaces.size(); }
  std::size_t problem_of(std::size_t world) const { return world % plan_.spaces.size(); }

  // Worlds begin here: legal points, equal shared entries within a group. With `hold_shared` those stay as they are.
  void begin(std::vector<Point> points, bool hold_shared = false);
  // One step of all worlds. Shared parameters' actions become those of the group's first world, in `actions` too, so that
  // what is learned from is what was done.
  void step(std::span<float> actions);

  const std::vector<Point>& points() const { return points_; }
  std::span<const float> observations() const { return observations_; }
  std::span<const float> masks() const { return masks_; }

  // What all agents observe at a point.
  void observe(std::size_t problem, PointView point, std::span<float> observation) const;
  // Which moves a point has.
  void mask(std::size_t problem, PointView point, std::span<float> mask) const;
  // The action that leaves everything where it is.
  void stay(std::span<float> action) const;

 private:
  struct Place {
    std::size_t agent = 0;
    std::size_t action = 0;  // where its three moves begin in a world's actions
  };
  void move(std::size_t world, std::span<const float> action);
  void hold(std::size_t world);

  WalkPlan plan_;
  EnvironmentSpec spec_;
  std::vector<Place> places_;                 // of each parameter
  std::vector<const CodesignSpace*> limits_;  // of each problem, or null
  std::vector<std::vector<float>> features_;  // of each problem; the last entry is the mean of all
  std::size_t area_agent_ = 0, buffer_agent_ = 0;
  std::vector<Point> points_;
  std::vector<float> observations_, masks_;
  bool hold_shared_ = false;
};

// How those who walk learn: PPO as CHAMELEON uses it.
struct WalkLearning {
  std::int64_t hidden = 64;  // width of both hidden layers of actors and critics
  double learning_rate = 1e-3;
  double gamma = 0.9;
  double gae_lambda = 0.99;
  double clip = 0.3;
  double entropy_bonus = 0.1;
  std::int64_t epochs = 3;
  std::int64_t minibatches = 4;
};
std::vector<Setting> settings_of(WalkLearning& learning);
PpoOptions ppo_options(const WalkLearning& learning, Critic critic);

// The team that walks, with the engine of marl/ that trains it.
class WalkTeam {
 public:
  WalkTeam(const Walk& walk, const PpoOptions& options, std::uint64_t seed, ThreadPool& threads);

  Learner& learner() { return *learner_; }

  // What the critics expect from a point on, mean over them: rows of all agents' observations. 0 without critics.
  void values(std::span<const float> observations, std::vector<double>& values) const;

 private:
  EnvironmentSpec spec_;
  PpoOptions options_;
  Profile profile_;
  std::unique_ptr<Learner> learner_;
};

// What a step was worth: worlds × agents rewards of walk.points().
using Judge = std::function<void(const Walk& walk, std::span<float> rewards)>;

// One episode of every world from where it stands, learning from it.
void walk_episode(Walk& walk, WalkTeam& team, const Judge& judge);

// Shows the team what staying at measured points brings: rewards of all agents alike.
void show_measured(const Walk& walk, WalkTeam& team, std::span<const Point> points, std::span<const std::size_t> problems,
                   std::span<const float> rewards);

}  // namespace tilewright
