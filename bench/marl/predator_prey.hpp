// The sizes of simple_tag's predators, without its physics: what an update costs depends on nothing else.
#pragma once

#include <cstddef>
#include <vector>

#include "tilewright/marl/environment.hpp"
#include "tilewright/marl/learner.hpp"

namespace tilewright::bench {

// N predators that learn among N/3 prey and N/3 obstacles (2 at N = 3, 3 at N = 6), with the table of their observations:
// velocity, position, obstacles, all others, velocities of prey.
EnvironmentSpec predator_prey(std::size_t predators);

// `count` transitions between random states, as if each came from a world of its own.
class RandomExperience {
 public:
  RandomExperience(const EnvironmentSpec& spec, std::size_t count, std::uint64_t seed);
  Experience view() const;

 private:
  std::size_t count_;
  std::vector<float> states_, next_states_, observations_, next_observations_, actions_, rewards_;
  std::vector<std::uint8_t> ended_, live_;
};

}  // namespace tilewright::bench
