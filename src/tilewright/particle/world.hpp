// The physics of the particle worlds: round bodies in the plane that thrust, slow down and push one another softly.
//
// The numbers of one world are one row of doubles, so that an observation is a few runs of it minus a position:
//   velocities of agents | positions of agents | positions of landmarks | words of talking agents | goal | derived
// Everything before the derived numbers is the world's state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tilewright/particle/particle_environment.hpp"

namespace tilewright {

struct AgentTraits {
  std::string name = {};
  std::string team = {};
  Body::Kind kind = Body::Kind::Agent;
  double radius = 0.05;
  double acceleration = 5;  // thrust of a whole action
  double max_speed = std::numeric_limits<double>::infinity();
  bool moves = true;
  bool talks = false;
};

struct LandmarkTraits {
  Body::Kind kind = Body::Kind::Landmark;
  double radius = 0.05;
  double spawn = 1;  // placed in [-spawn, spawn]²
};

// What all copies of a world have in common, and where its numbers lie. Bodies are numbered agents first, then landmarks.
struct WorldShape {
  std::vector<AgentTraits> agents;
  std::vector<LandmarkTraits> landmarks;
  std::size_t pushing = 0;  // bodies 0 … pushing-1 push one another; agents among them must move
  std::size_t word_size = 0;
  std::size_t goal_size = 0;
  std::size_t derived_size = 0;  // what observations need beyond the state

  std::size_t velocity(std::size_t agent) const { return 2 * agent; }
  std::size_t position(std::size_t body) const { return 2 * (agents.size() + body); }
  std::size_t landmark(std::size_t index) const { return position(agents.size() + index); }
  std::size_t word(std::size_t agent) const;
  std::size_t goal() const { return word(agents.size()); }
  std::size_t state_size() const { return goal() + goal_size; }
  std::size_t size() const { return state_size() + derived_size; }
  std::size_t action_size(std::size_t agent) const;
};

inline double squared_distance(const double* a, const double* b) {
  const double x = a[0] - b[0], y = a[1] - b[1];
  return x * x + y * y;
}
inline double distance(const double* a, const double* b) { return std::sqrt(squared_distance(a, b)); }

class Physics {
 public:
  Physics(const WorldShape& shape, Dialect dialect, Contacts contacts);

  // One time step under the agents' own thrust, two numbers each, which are used up.
  void step(double* world, double* thrust) const;

 private:
  void push(const double* world, double* thrust) const;
  void move(double* world, const double* thrust) const;

  std::vector<double> radii_;       // of the pushing bodies
  std::vector<double> max_speeds_;  // of all agents; 0 = cannot move
  bool position_first_;
  double reach_;  // surfaces further apart than this do not push
};

// Turns an agent's action, five numbers to move by (the first means nothing) and its word, into thrust and words. PettingZoo
// clips both to [0, 1]. `Number` is what the action was made in, because NumPy subtracts in that precision. Returns the end
// of the action.
template <typename Number>
const Number* apply_action(const Number* action, const AgentTraits& agent, Dialect dialect, std::size_t word_size,
                           double* thrust, double* word) {
  const auto taken = [&](Number value) {
    return dialect == Dialect::OpenAi ? value : std::clamp(value, Number{0}, Number{1});
  };
  if (agent.moves) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const Number first = taken(action[1 + 2 * axis]), second = taken(action[2 + 2 * axis]);
      const Number along = dialect == Dialect::OpenAi ? first - second : second - first;
      thrust[axis] = static_cast<double>(along) * agent.acceleration;
    }
    action += 5;
  }
  if (agent.talks) {
    for (std::size_t k = 0; k < word_size; ++k) word[k] = static_cast<double>(taken(*action++));
  }
  return action;
}

}  // namespace tilewright
