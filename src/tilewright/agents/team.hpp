// A team of policies, one agent per cluster of parameters, with the learner that trains it: the engine of marl/ on a game of
// single steps. A row is one step: what the agents saw, which choices were open, what they chose, and the reward they share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/agents/team_heads.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/marl/profile.hpp"

namespace tilewright {

struct LearningOptions {
  Algorithm learner = Algorithm::Ippo;
  Critic critic = Critic::Own;  // of ippo; mappo is ippo with the central one
  std::int64_t hidden = 64;     // width of both hidden layers
  double learning_rate = 1e-3;
  double entropy_bonus = 0.01;
  std::int64_t epochs = 3;       // passes over the rows of an update
  std::int64_t minibatches = 2;  // per pass
};

class TeamRows {
 public:
  TeamRows(std::size_t observation_size, std::size_t choice_count)
      : observation_size_(observation_size), choice_count_(choice_count) {}

  void clear() { observations_.clear(), masks_.clear(), actions_.clear(); }
  std::size_t size() const { return masks_.size() / choice_count_; }
  void add();                                           // a row of zeros
  void append(const TeamRows& other, std::size_t row);  // a copy
  std::span<float> observation(std::size_t row) { return {&observations_[row * observation_size_], observation_size_}; }
  std::span<float> mask(std::size_t row) { return {&masks_[row * choice_count_], choice_count_}; }
  std::span<float> actions(std::size_t row) { return {&actions_[row * choice_count_], choice_count_}; }

 private:
  friend class Team;
  std::size_t observation_size_, choice_count_;
  std::vector<float> observations_, masks_, actions_;
};

class Team {
 public:
  static Result<std::unique_ptr<Team>> make(const TeamHeads& heads, std::size_t observation_size,
                                            const LearningOptions& options, std::uint64_t seed, ThreadPool& threads);

  // Fills the actions of all rows: one number per choice, the largest open one of a head being what is chosen.
  void act(TeamRows& rows);
  std::size_t choice(TeamRows& rows, std::size_t row, std::size_t head) const;

  // One update with these rows and their rewards.
  void learn(TeamRows& rows, std::span<const float> rewards);

  std::int64_t update_count() const { return learner_->update_count(); }
  void save(TensorFile& file) const { learner_->save(file); }
  Result<Done> load(const TensorFile& file) { return learner_->load(file); }

 private:
  Team(const TeamHeads& heads, std::size_t observation_size, std::size_t threads)
      : heads_(heads), observation_size_(observation_size), profile_(threads) {}

  const TeamHeads& heads_;
  std::size_t observation_size_;
  bool masked_ = true;  // whether the learner takes masks
  Profile profile_;
  std::unique_ptr<Learner> learner_;
  std::vector<float> repeated_, rewards_;  // what is the same for all agents, once for each
  std::vector<std::uint8_t> ended_, running_, live_;
};

}  // namespace tilewright
