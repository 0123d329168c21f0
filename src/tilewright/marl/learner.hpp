// What turns experience into policies. A learner acts in any environment, is shown every step, and updates itself when its
// own schedule says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/environment.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

class Replay;

// One step of every world, as flat as WorldArrays. The next_* arrays hold the true successors, also at the end of an
// episode.
struct Experience {
  std::size_t world_count = 0;
  std::span<const float> observations, states, masks;  // before the step
  std::span<const float> actions;
  std::span<const float> rewards;
  std::span<const float> next_observations, next_states;
  std::span<const std::uint8_t> terminated, truncated;
  std::span<const std::uint8_t> live;  // worlds: 0 = had already ended, to be skipped
};

enum class Acting {
  Explore,  // as training acts
  Greedy,   // without chance
};

// Losses of the latest update, per agent; empty before the first.
struct Losses {
  std::vector<double> critic, actor;
};

class Learner {
 public:
  virtual ~Learner() = default;

  // Actions of every agent in `world_count` worlds.
  virtual void act(std::span<const float> observations, std::span<const float> masks, std::size_t world_count, Acting acting,
                   std::span<float> actions) = 0;

  // Remembers the step, and updates when due.
  virtual void learn(const Experience& experience) = 0;

  virtual std::int64_t update_count() const = 0;  // update-all-trainers so far
  virtual const Losses& losses() const = 0;

  // Everything but the replay memory: weights, optimiser, generators, counters, unfinished rollouts. After load, learning
  // goes on bit by bit as it would have.
  virtual void save(TensorFile& file) const = 0;
  virtual Result<Done> load(const TensorFile& file) = 0;
  virtual Replay* replay() { return nullptr; }  // saved apart, because it is large; null when there is none
};

}  // namespace tilewright
