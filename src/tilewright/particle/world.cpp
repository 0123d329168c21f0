#include "tilewright/particle/world.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tilewright {
namespace {

constexpr double kTimeStep = 0.1;
constexpr double kKept = 1 - 0.25;  // of the velocity, after damping
constexpr double kContactForce = 100;
constexpr double kContactMargin = 1e-3;

// Beyond 0.75 the force is exactly zero, because e^-750 is; beyond 0.04 it is below 5e-19.
constexpr double kExactReach = 0.75;
constexpr double kFastReach = 0.04;

// ln(1 + e^z) with the roundings of NumPy's logaddexp(0, z). Beyond ±38 the smaller term is below half a unit in the last
// place, so that leaving it out changes no bit.
double softplus(double z) {
  if (z == 0) return std::numbers::ln2;
  if (z > 38) return z;
  if (z < -38) return std::exp(z);
  return z < 0 ? std::log1p(std::exp(z)) : z + std::log1p(std::exp(-z));
}

}  // namespace

std::size_t WorldShape::word(std::size_t agent) const {
  const auto talkers = std::count_if(agents.begin(), agents.begin() + static_cast<std::ptrdiff_t>(agent),
                                     [](const AgentTraits& traits) { return traits.talks; });
  return landmark(landmarks.size()) + word_size * static_cast<std::size_t>(talkers);
}

std::size_t WorldShape::action_size(std::size_t agent) const {
  return (agents[agent].moves ? 5 : 0) + (agents[agent].talks ? word_size : 0);
}

Physics::Physics(const WorldShape& shape, Dialect dialect, Contacts contacts)
    : position_first_(dialect == Dialect::PettingZoo), reach_(contacts == Contacts::Exact ? kExactReach : kFastReach) {
  for (const AgentTraits& agent : shape.agents) {
    if (radii_.size() < shape.pushing) {
      TW_ASSERT(agent.moves);
      radii_.push_back(agent.radius);
    }
    max_speeds_.push_back(agent.moves ? agent.max_speed : 0);
  }
  for (std::size_t k = 0; radii_.size() < shape.pushing; ++k) radii_.push_back(shape.landmarks[k].radius);
}

void Physics::step(double* world, double* thrust) const {
  push(world, thrust);
  move(world, thrust);
}

// Pairs in lexicographic order and operations as the packages write them: sums in another order have other last bits.
void Physics::push(const double* world, double* thrust) const {
  const std::size_t agents = max_speeds_.size(), bodies = radii_.size();
  const double* positions = world + 2 * agents;
  for (std::size_t a = 0; a < std::min(agents, bodies); ++a) {
    const double x = positions[2 * a], y = positions[2 * a + 1], radius = radii_[a];
    for (std::size_t b = a + 1; b < bodies; ++b) {
      const double dx = x - positions[2 * b], dy = y - positions[2 * b + 1];
      const double squared = dx * dx + dy * dy;
      const double touching = radius + radii_[b];
      if (squared > (touching + reach_) * (touching + reach_)) continue;
      const double apart = std::sqrt(squared);
      const double penetration = softplus(-(apart - touching) / kContactMargin) * kContactMargin;
      const double fx = kContactForce * dx / apart * penetration;
      const double fy = kContactForce * dy / apart * penetration;
      thrust[2 * a] += fx;
      thrust[2 * a + 1] += fy;
      if (b >= agents) continue;
      thrust[2 * b] -= fx;
      thrust[2 * b + 1] -= fy;
    }
  }
}

void Physics::move(double* world, const double* thrust) const {
  double* positions = world + 2 * max_speeds_.size();
  for (std::size_t agent = 0; agent < max_speeds_.size(); ++agent) {
    if (max_speeds_[agent] == 0) continue;
    double *v = world + 2 * agent, *p = positions + 2 * agent;
    const auto advance = [&] {
      p[0] += v[0] * kTimeStep;
      p[1] += v[1] * kTimeStep;
    };
    if (position_first_) advance();
    v[0] = v[0] * kKept + thrust[2 * agent] * kTimeStep;
    v[1] = v[1] * kKept + thrust[2 * agent + 1] * kTimeStep;
    const double speed = std::sqrt(v[0] * v[0] + v[1] * v[1]);
    if (speed > max_speeds_[agent]) {
      v[0] = v[0] / speed * max_speeds_[agent];
      v[1] = v[1] / speed * max_speeds_[agent];
    }
    if (!position_first_) advance();
  }
}

}  // namespace tilewright
