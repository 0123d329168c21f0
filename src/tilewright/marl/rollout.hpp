// What on-policy learners remember between two updates: the steps of all worlds, one row per joint step.
//
// Worlds end at different times, so rows of a world are linked: `next` leads to its following step in the same episode. The
// observations after a step are those before the next one; only where no next row follows (truncated episodes, and the cut
// at the end of the rollout) they are kept in `successors`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/nn/matrix.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

// By row.
struct AgentSteps {
  std::vector<float> rewards;
  std::vector<std::uint8_t> terminated, ended;
  std::vector<std::uint32_t> samples;  // rows in which the agent took part: who ends early waits for the others
};

class Rollout {
 public:
  Rollout() = default;
  explicit Rollout(const EnvironmentSpec& spec);

  void add(const Experience& experience);  // the live worlds, in order
  // No more steps follow before clear(): keeps the successors of episodes that still go on. Takes what was added last.
  void close(const Experience& last);
  void clear();

  std::size_t size() const { return next_.size(); }
  ConstView observations() const;  // rows × those of all agents
  ConstView actions() const;       // rows × those of all agents
  ConstView masks() const;         // like actions; without columns when the environment has none
  ConstView successors() const;    // observations after steps without a next row

  std::span<const std::int32_t> next() const { return next_; }  // by row, a row or kNoRow

  // What happened to one agent.
  void read(std::size_t agent, AgentSteps& steps) const;
  // From the values of observations() and successors() to those after each step; 0 where nothing comes after.
  void shift_values(std::span<const float> values, std::span<const float> kept, std::vector<float>& successor_values) const;

  // `name` begins the names of the tensors.
  void save(const std::string& name, TensorFile& file) const;
  Result<Done> load(const std::string& name, const TensorFile& file);

 private:
  static constexpr std::uint8_t kTerminated = 1, kTruncated = 2, kWaits = 4;
  void keep_successor(std::int32_t row, const Experience& experience, std::size_t world);

  std::size_t agents_ = 0, observation_size_ = 0, action_size_ = 0, mask_size_ = 0;
  std::vector<float> observations_, actions_, masks_, rewards_, successors_;
  std::vector<std::uint8_t> flags_;             // rows × agents
  std::vector<std::int32_t> next_, successor_;  // a row of observations(), of successors(), or kNoRow
  std::vector<std::int32_t> latest_;            // per world: its last row while the episode goes on, or kNoRow
  std::vector<std::uint8_t> ended_;             // worlds × agents: who has ended in an episode that goes on
};

}  // namespace tilewright
