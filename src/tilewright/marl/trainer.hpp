// The loop that owns episodes, curves and checkpoints: act, step, learn, in rounds of one episode in every world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/checkpoint.hpp"
#include "tilewright/marl/environment.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/marl/profile.hpp"

namespace tilewright {

struct TrainerOptions {
  std::int64_t episodes = 25'000;         // rounded up to whole rounds
  std::int64_t curve_every = 1'000;       // episodes per point of the learning curve
  std::int64_t checkpoint_every = 5'000;  // episodes; 0 = only at the end
  std::filesystem::path checkpoint_dir;   // see checkpoint.hpp; empty = no checkpoints
};

// Mean over the episodes of one interval.
struct CurvePoint {
  std::int64_t episodes = 0;  // finished when the interval ended
  std::int64_t steps = 0;     // environment steps until then (until the end of that round)
  std::int64_t updates = 0;
  double mean_return = 0;             // sum over agents
  std::vector<double> agent_returns;  // each agent's mean
};
CurvePoint curve_point(std::int64_t episodes, std::int64_t steps, std::int64_t updates, std::vector<double> agent_returns);

struct TrainState {
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::vector<CurvePoint> curve;
  std::vector<double> interval_returns;  // sums of the unfinished interval, per agent
  std::int64_t interval_episodes = 0;
};

// The curve, and the unfinished interval as its last point. Only for showing: the state of a run that goes on has whole
// intervals only.
std::vector<CurvePoint> curve_so_far(const TrainState& state, std::int64_t updates);

class Trainer {
 public:
  // The environment and the learner must be as new.
  Trainer(Environment& environment, Learner& learner, Profile& profile, TrainerOptions options);

  // Continues from options.checkpoint_dir if it holds a checkpoint; true when it did.
  Result<bool> resume();

  // Goes on from a state that belongs to the learner as it is, for callers who keep checkpoints themselves.
  void go_on(TrainState state);

  // Runs until options.episodes are done or `keep_going` (asked after every round) says no; writes checkpoints on the way
  // and at the end.
  Result<Done> run(const std::function<bool(const TrainState&)>& keep_going);

  const TrainState& state() const { return state_; }

 private:
  void round(PhaseClock& clock);
  void count_episodes();
  Result<Done> checkpoint();

  Environment& environment_;
  Learner& learner_;
  Profile& profile_;
  TrainerOptions options_;
  TrainState state_;
  std::optional<CheckpointDirectory> checkpoints_;
  std::int64_t checkpointed_ = 0;  // episodes of the latest checkpoint

  // Room for one step and one round of every world.
  std::vector<float> observations_, states_, masks_, actions_;
  std::vector<std::uint8_t> live_;
  std::vector<double> returns_;
};

// Mean return of each agent over `episodes` greedy episodes, which nothing learns from. Episodes are numbered from
// `first_episode`, far from those of training.
std::vector<double> evaluate_greedily(Environment& environment, Learner& learner, std::int64_t episodes,
                                      std::uint64_t first_episode);

}  // namespace tilewright
