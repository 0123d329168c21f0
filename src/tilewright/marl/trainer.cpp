#include "tilewright/marl/trainer.hpp"

#include <algorithm>
#include <utility>

namespace tilewright {
namespace {

// Adds the rewards of the worlds that are still going on, and returns how many that were.
std::size_t add_rewards(std::vector<double>& returns, const WorldArrays& arrays, const std::vector<std::uint8_t>& live,
                        std::size_t agent_count) {
  std::size_t count = 0;
  for (std::size_t world = 0; world < live.size(); ++world) {
    if (live[world] == 0) continue;
    ++count;
    for (std::size_t place = world * agent_count; place < (world + 1) * agent_count; ++place) {
      returns[place] += static_cast<double>(arrays.rewards[place]);
    }
  }
  return count;
}

// Leaves out the worlds that have ended, and returns whether any goes on.
bool update_live(std::vector<std::uint8_t>& live, const WorldArrays& arrays, std::size_t agent_count) {
  bool any = false;
  for (std::size_t world = 0; world < live.size(); ++world) {
    if (live[world] == 0) continue;
    live[world] = has_ended(arrays, world, agent_count) ? 0 : 1;
    any = any || live[world] != 0;
  }
  return any;
}

CurvePoint interval_point(const TrainState& state, std::int64_t updates) {
  std::vector<double> means = state.interval_returns;
  for (double& value : means) value /= static_cast<double>(state.interval_episodes);
  return curve_point(state.episodes, state.steps, updates, std::move(means));
}

}  // namespace

CurvePoint curve_point(std::int64_t episodes, std::int64_t steps, std::int64_t updates, std::vector<double> agent_returns) {
  CurvePoint point{episodes, steps, updates, 0, std::move(agent_returns)};
  for (const double value : point.agent_returns) point.mean_return += value;
  return point;
}

std::vector<CurvePoint> curve_so_far(const TrainState& state, std::int64_t updates) {
  std::vector<CurvePoint> curve = state.curve;
  if (state.interval_episodes > 0) curve.push_back(interval_point(state, updates));
  return curve;
}

Trainer::Trainer(Environment& environment, Learner& learner, Profile& profile, TrainerOptions options)
    : environment_(environment), learner_(learner), profile_(profile), options_(std::move(options)) {
  TW_ASSERT(options_.curve_every >= 1);
  const EnvironmentSpec& spec = environment_.spec();
  const std::size_t worlds = environment_.world_count();
  if (!options_.checkpoint_dir.empty()) checkpoints_.emplace(options_.checkpoint_dir);
  state_.interval_returns.resize(spec.agent_count());
  actions_.resize(worlds * spec.action_size());
  live_.resize(worlds);
  returns_.resize(worlds * spec.agent_count());
}

Result<bool> Trainer::resume() {
  if (!checkpoints_ || !checkpoints_->holds_checkpoint()) return false;
  TW_TRY(const Done read, checkpoints_->read(learner_, state_));
  checkpointed_ = state_.episodes;
  return true;
}

void Trainer::go_on(TrainState state) {
  TW_ASSERT(state.interval_returns.size() == environment_.spec().agent_count());
  state_ = std::move(state);
  checkpointed_ = state_.episodes;
}

Result<Done> Trainer::run(const std::function<bool(const TrainState&)>& keep_going) {
  PhaseClock clock(profile_, 0, PhaseClock::Detail::Wall);
  while (state_.episodes < options_.episodes) {
    round(clock);
    const std::int64_t every = options_.checkpoint_every;
    if (checkpoints_ && every > 0 && state_.episodes / every > checkpointed_ / every) {
      TW_TRY(const Done written, checkpoint());
    }
    const bool go_on = keep_going(state_);
    clock.lap(Phase::Other);
    if (!go_on) break;
  }
  if (checkpoints_ && (state_.episodes != checkpointed_ || !checkpoints_->holds_checkpoint())) {
    TW_TRY(const Done written, checkpoint());
    clock.lap(Phase::Other);
  }
  return Done{};
}

void Trainer::round(PhaseClock& clock) {
  const std::size_t worlds = environment_.world_count();
  const std::size_t agents = environment_.spec().agent_count();
  environment_.reset(static_cast<std::uint64_t>(state_.episodes));
  std::fill(live_.begin(), live_.end(), std::uint8_t{1});
  std::fill(returns_.begin(), returns_.end(), 0.0);
  clock.lap(Phase::Environment);
  for (bool any_live = true; any_live;) {
    const WorldArrays& before = environment_.arrays();
    observations_ = before.observations;  // same size every time, so nothing is allocated
    states_ = before.states;
    masks_ = before.masks;
    learner_.act(observations_, masks_, worlds, Acting::Explore, actions_);
    clock.lap(Phase::Acting);
    environment_.step(actions_);
    clock.lap(Phase::Environment);

    const WorldArrays& after = environment_.arrays();
    const std::int64_t updates = learner_.update_count();
    learner_.learn({worlds, observations_, states_, masks_, actions_, after.rewards, after.observations, after.states,
                    after.terminated, after.truncated, live_});
    // An update has measured itself.
    if (learner_.update_count() != updates) clock.restart();
    state_.steps += static_cast<std::int64_t>(add_rewards(returns_, after, live_, agents));
    any_live = update_live(live_, after, agents);
    clock.lap(Phase::Other);
  }
  count_episodes();
}

// Episodes count in the order of their numbers, so that every point of the curve is the mean of as many.
void Trainer::count_episodes() {
  const std::size_t agents = environment_.spec().agent_count();
  for (std::size_t world = 0; world < live_.size(); ++world) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      state_.interval_returns[agent] += returns_[world * agents + agent];
    }
    ++state_.interval_episodes;
    ++state_.episodes;
    if (state_.interval_episodes < options_.curve_every) continue;
    state_.curve.push_back(interval_point(state_, learner_.update_count()));
    std::fill(state_.interval_returns.begin(), state_.interval_returns.end(), 0.0);
    state_.interval_episodes = 0;
  }
}

Result<Done> Trainer::checkpoint() {
  TW_TRY(const Done written, checkpoints_->write(learner_, state_));
  checkpointed_ = state_.episodes;
  return Done{};
}

std::vector<double> evaluate_greedily(Environment& environment, Learner& learner, std::int64_t episodes,
                                      std::uint64_t first_episode) {
  const std::size_t worlds = environment.world_count();
  const std::size_t agents = environment.spec().agent_count();
  std::vector<float> actions(worlds * environment.spec().action_size());
  std::vector<double> means(agents);
  for (std::int64_t done = 0; done < episodes; done += static_cast<std::int64_t>(worlds)) {
    environment.reset(first_episode + static_cast<std::uint64_t>(done));
    std::vector<std::uint8_t> live(worlds, 1);
    std::vector<double> returns(worlds * agents);
    do {
      learner.act(environment.arrays().observations, environment.arrays().masks, worlds, Acting::Greedy, actions);
      environment.step(actions);
      add_rewards(returns, environment.arrays(), live, agents);
    } while (update_live(live, environment.arrays(), agents));
    const std::size_t counted = std::min(worlds, static_cast<std::size_t>(episodes - done));
    for (std::size_t place = 0; place < counted * agents; ++place) means[place % agents] += returns[place];
  }
  for (double& mean : means) mean /= static_cast<double>(std::max<std::int64_t>(1, episodes));
  return means;
}

}  // namespace tilewright
