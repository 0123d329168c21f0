// A learner with the worlds it learns in: what Maddpg, Masac, Ippo and Mappo of Python are.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "one_thread.hpp"

#include "tilewright/base/parallel.hpp"
#include "tilewright/marl/trainer.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright::python {

class TeamLearner {
 public:
  // In a world of a name; its settings are among `settings`.
  static std::unique_ptr<TeamLearner> in_named_world(TrainSettings settings, std::size_t threads);
  // In worlds of one's own.
  static std::unique_ptr<TeamLearner> in_worlds(TrainSettings settings, std::unique_ptr<Environment> worlds,
                                                std::size_t threads);

  const EnvironmentSpec& spec() const { return environment_->spec(); }
  const TrainSettings& settings() const { return settings_; }
  std::size_t world_count() const { return environment_->world_count(); }
  Learner& learner() { return *learner_; }
  const TrainState& state() const { return state_; }
  // As of the latest round, for any thread, also while it is trained.
  std::int64_t episodes() const { return episodes_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t update_count() const { return updates_; }

  // Until `episodes` more are done, in whole rounds, or `keep_going`, asked after every round, says no.
  void train(std::int64_t episodes, const std::function<bool(const TrainState&)>& keep_going);
  // Mean return of each agent over greedy episodes, which nothing learns from.
  std::vector<double> evaluate(std::int64_t episodes, std::uint64_t first_episode);
  void act(std::span<const float> observations, std::span<const float> masks, std::size_t rows, bool explore,
           std::span<float> actions);

  TensorFile tensors();
  void set_tensors(const TensorFile& file);  // of everything that tensors() has
  TensorFile policy();
  void save(const std::string& directory);
  void load(const std::string& directory);

  OneThread& users() { return users_; }

 private:
  TeamLearner(TrainSettings settings, std::unique_ptr<Environment> environment, std::size_t threads);
  void renew();  // the learner, and nothing of what it knew
  void count(const TrainState& state);

  TrainSettings settings_;
  std::unique_ptr<Environment> environment_;
  ThreadPool threads_;
  Profile profile_;
  AlgorithmOptions options_;
  std::unique_ptr<Learner> learner_;
  TrainState state_;
  std::optional<std::int64_t> curve_every_;
  std::atomic<std::int64_t> episodes_ = 0, steps_ = 0, updates_ = 0;
  bool cut_ = false;  // an episode was left in the middle
  OneThread users_;
};

}  // namespace tilewright::python
