#include "tilewright/agents/dcoc_walk.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/return_scale.hpp"
#include "tilewright/marl/trainee.hpp"
#include "tilewright/vta/generator_loops.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMoves = 3;  // to the next smaller value, none, to the next larger
constexpr std::size_t kBuffers = 3;

std::int32_t place_in(const Choices& choices, std::int32_t index) {
  std::int32_t low = 0, high = choices.count() - 1;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (choices[middle] < index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void set_mask(const Choices& choices, std::int32_t index, float* mask) {
  mask[0] = index > choices[0] ? 1 : 0;
  mask[1] = 1;
  mask[2] = index < choices.back() ? 1 : 0;
}

void append_mean(std::vector<std::vector<float>>& features) {
  std::vector<float> mean(features.front().size(), 0);
  for (const std::vector<float>& one : features) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / static_cast<float>(features.size());
  }
  features.push_back(std::move(mean));
}

}  // namespace

Walk::Walk(WalkPlan plan) : plan_(std::move(plan)) {
  const std::vector<Parameter>& parameters = plan_.spaces.front()->parameters();
  for (const DesignSpace* space : plan_.spaces) {
    TW_ASSERT(space->parameters().size() == parameters.size());
    features_.push_back(space->features());
    limits_.push_back(dynamic_cast<const CodesignSpace*>(space));
  }
  append_mean(features_);
  const bool limited = std::ranges::all_of(limits_, [](const CodesignSpace* space) { return space != nullptr; });
  if (!limited) limits_.assign(limits_.size(), nullptr);

  places_.resize(parameters.size());
  spec_.name = "walk";
  spec_.episode_length = plan_.steps;
  spec_.masks = true;
  std::size_t action = 0;
  for (std::size_t agent = 0; agent < plan_.agents.size(); ++agent) {
    for (const std::size_t parameter : plan_.agents[agent]) {
      places_[parameter] = {agent, action};
      action += kMoves;
    }
    const std::size_t own = plan_.agents[agent].size();
    spec_.agents.push_back({fmt::format("agent_{}", agent),
                            "team",
                            own + features_.front().size(),
                            {.categorical = std::vector<std::size_t>(own, kMoves)}});
  }
  if (limited) {
    area_agent_ = places_.front().agent;
    buffer_agent_ = places_.back().agent;
    spec_.agents[area_agent_].observation_size += 1;
    spec_.agents[buffer_agent_].observation_size += kBuffers;
  }
}

void Walk::observe(std::size_t problem, PointView point, std::span<float> observation) const {
  const std::vector<Parameter>& parameters = plan_.spaces[problem]->parameters();
  std::size_t at = 0;
  for (std::size_t agent = 0; agent < plan_.agents.size(); ++agent) {
    for (const std::size_t parameter : plan_.agents[agent]) {
      const std::int32_t most = std::max(parameters[parameter].value_count - 1, 1);
      observation[at++] = static_cast<float>(point[parameter]) / static_cast<float>(most);
    }
    // Who moves what all problems share sees what they have in common.
    const bool shares = std::ranges::any_of(plan_.agents[agent], [&](std::size_t p) { return p < plan_.shared; });
    const std::vector<float>& features = shares ? features_.back() : features_[problem];
    std::ranges::copy(features, observation.begin() + static_cast<std::ptrdiff_t>(at));
    at += features.size();
    const CodesignSpace* limits = limits_[problem];
    if (limits == nullptr || (agent != area_agent_ && agent != buffer_agent_)) continue;
    const vta::Machine machine = limits->machine(point);
    if (agent == area_agent_) {
      observation[at++] = static_cast<float>(vta::relative_area(machine) / limits->options().area_budget);
    }
    if (agent != buffer_agent_) continue;
    const vta::Schedule schedule = limits->schedule(point);
    const vta::Tiling t = vta::tiling(vta::element_loops(limits->layer(), machine), machine, schedule);
    const auto add = [&](std::int64_t need, vta::Buffer buffer) {
      const auto share = static_cast<float>(need) / static_cast<float>(vta::depth(machine, buffer));
      observation[at++] = std::min(share, 2.0F);
    };
    add(t.inp_slots * t.inp_elements, vta::Buffer::Inp);
    add(t.wgt_slots * t.wgt_elements, vta::Buffer::Wgt);
    add(t.acc_slots * t.acc_elements, vta::Buffer::Acc);
  }
}

void Walk::mask(std::size_t problem, PointView point, std::span<float> mask) const {
  Choices choices;
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    plan_.spaces[problem]->choices(point, parameter, choices);
    set_mask(choices, point[parameter], &mask[places_[parameter].action]);
  }
}

void Walk::stay(std::span<float> action) const {
  for (std::size_t i = 0; i < action.size(); ++i) action[i] = i % kMoves == 1 ? 1.0F : 0.0F;
}

void Walk::hold(std::size_t world) {
  for (std::size_t parameter = 0; hold_shared_ && parameter < plan_.shared; ++parameter) {
    float* mask = &masks_[world * spec_.action_size() + places_[parameter].action];
    mask[0] = mask[2] = 0;
  }
}

void Walk::begin(std::vector<Point> points, bool hold_shared) {
  TW_ASSERT(points.size() == world_count());
  points_ = std::move(points);
  hold_shared_ = hold_shared;
  const std::size_t observed = spec_.observation_size(), actions = spec_.action_size();
  observations_.resize(world_count() * observed);
  masks_.resize(world_count() * actions);
  for (std::size_t world = 0; world < world_count(); ++world) {
    observe(problem_of(world), points_[world], std::span(observations_).subspan(world * observed, observed));
    mask(problem_of(world), points_[world], std::span(masks_).subspan(world * actions, actions));
    hold(world);
  }
}

void Walk::move(std::size_t world, std::span<const float> action) {
  thread_local Choices choices;
  const DesignSpace& space = *plan_.spaces[problem_of(world)];
  Point& point = points_[world];
  const std::span<float> mask = std::span(masks_).subspan(world * action.size(), action.size());
  // In order: a move is one among what is legal after the moves before it, and entries those made illegal go to the nearest.
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    const std::size_t at = places_[parameter].action;
    std::int32_t place = place_in(choices, choices.nearest(point[parameter]));
    if (action[at] > 0.5F) place = std::max(place - 1, 0);
    if (action[at + 2] > 0.5F) place = std::min(place + 1, choices.count() - 1);
    point[parameter] = choices[place];
    set_mask(choices, point[parameter], &mask[at]);
  }
  space.canonicalise(point);
}

void Walk::step(std::span<float> actions) {
  const std::size_t width = spec_.action_size(), observed = spec_.observation_size(), members = plan_.spaces.size();
  for (std::size_t world = 0; world < world_count(); ++world) {
    const std::size_t first = world / members * members;
    for (std::size_t parameter = 0; parameter < plan_.shared && first != world; ++parameter) {
      const std::size_t at = places_[parameter].action;
      std::copy_n(&actions[first * width + at], kMoves, &actions[world * width + at]);
    }
    move(world, actions.subspan(world * width, width));
    hold(world);
    observe(problem_of(world), points_[world], std::span(observations_).subspan(world * observed, observed));
  }
}

std::vector<Setting> settings_of(WalkLearning& learning) {
  return {
      {"hidden", "width of both hidden layers", &learning.hidden, 1, 4096},
      {"learning_rate", "of actors and critics", &learning.learning_rate, 0, 1},
      {"gamma", "discount per step", &learning.gamma, 0, 1},
      {"gae_lambda", "1 is Monte Carlo, 0 one-step", &learning.gae_lambda, 0, 1},
      {"clip", "of the ratio of probabilities", &learning.clip, 1e-6, 100},
      {"entropy_bonus", "weight of the policies' entropy", &learning.entropy_bonus, 0, 10},
      {"epochs", "passes over the steps of an update", &learning.epochs, 1, 1000},
      {"minibatches", "per pass", &learning.minibatches, 1, 1000},
  };
}

PpoOptions ppo_options(const WalkLearning& learning, Critic critic) {
  PpoOptions ppo;
  ppo.critic = critic;
  ppo.epochs = static_cast<std::size_t>(learning.epochs);
  ppo.minibatches = static_cast<std::size_t>(learning.minibatches);
  ppo.hidden.assign(2, static_cast<std::size_t>(learning.hidden));
  ppo.activation = Activation::Tanh;
  ppo.learning_rate = learning.learning_rate;
  ppo.gamma = learning.gamma;
  ppo.gae_lambda = learning.gae_lambda;
  ppo.clip = learning.clip;
  ppo.entropy_bonus = learning.entropy_bonus;
  return ppo;
}

WalkTeam::WalkTeam(const Walk& walk, const PpoOptions& options, std::uint64_t seed, ThreadPool& threads)
    : spec_(walk.spec()), options_(options), profile_(threads.thread_count()) {
  options_.rollout = walk.world_count() * walk.plan().steps;
  auto made = make_ppo(spec_, options_, seed, threads, profile_);
  TW_ASSERT(made);
  learner_ = std::move(made).value();
}

// Learners do not tell their critics' opinions, but what they save has them.
void WalkTeam::values(std::span<const float> observations, std::vector<double>& values) const {
  const std::size_t width = spec_.observation_size(), rows = observations.size() / width;
  values.assign(rows, 0);
  if (options_.critic == Critic::None) return;
  TensorFile file;
  learner_->save(file);
  const ConstView all{observations.data(), rows, width, width};
  std::vector<float> outputs(rows);
  for (std::size_t agent = 0; agent < spec_.agent_count(); ++agent) {
    const bool central = options_.critic == Critic::Central;
    const std::size_t seen = central ? width : spec_.agents[agent].observation_size;
    Trainee critic({seen, options_.hidden, 1, options_.activation}, 1, Rng(0, "critic"));
    ReturnScale scale;
    const std::string& name = spec_.agents[agent].name;
    const auto loaded = critic.load(name + ".critic", file);
    const auto scaled = scale.load(name + ".return_scale", file);
    TW_ASSERT(loaded && scaled);
    const ConstView view = central ? all : all.column_range(spec_.observation_offset(agent), seen);
    for (std::size_t first = 0; first < rows; first += kTileRows) {
      const std::size_t count = std::min(kTileRows, rows - first);
      forward(critic.mlp, view.row_range(first, count), {outputs.data() + first, count, 1, 1}, critic.workspace);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      values[row] += static_cast<double>(scale.to_return(outputs[row])) / static_cast<double>(spec_.agent_count());
    }
  }
}

void walk_episode(Walk& walk, WalkTeam& team, const Judge& judge) {
  const std::size_t worlds = walk.world_count(), agents = walk.spec().agent_count();
  std::vector<float> actions(worlds * walk.spec().action_size()), rewards(worlds * agents), observations, masks;
  const std::vector<std::uint8_t> live(worlds, 1), running(worlds * agents, 0), cut(worlds * agents, 1);
  for (std::size_t step = 0; step < walk.plan().steps; ++step) {
    observations.assign(walk.observations().begin(), walk.observations().end());
    masks.assign(walk.masks().begin(), walk.masks().end());
    team.learner().act(observations, masks, worlds, Acting::Explore, actions);
    walk.step(actions);
    judge(walk, rewards);
    Experience experience;
    experience.world_count = worlds;
    experience.observations = observations;
    experience.masks = masks;
    experience.actions = actions;
    experience.rewards = rewards;
    experience.next_observations = walk.observations();
    experience.terminated = running;
    experience.truncated = step + 1 == walk.plan().steps ? cut : running;
    experience.live = live;
    team.learner().learn(experience);
  }
}

void show_measured(const Walk& walk, WalkTeam& team, std::span<const Point> points, std::span<const std::size_t> problems,
                   std::span<const float> rewards) {
  const std::size_t worlds = walk.world_count(), agents = walk.spec().agent_count();
  const std::size_t observed = walk.spec().observation_size(), width = walk.spec().action_size();
  const std::vector<std::uint8_t> running(worlds * agents, 0), cut(worlds * agents, 1);
  for (std::size_t first = 0; first < points.size(); first += worlds) {
    const std::size_t count = std::min(worlds, points.size() - first);
    std::vector<float> observations(worlds * observed), masks(worlds * width, 1), actions(worlds * width);
    std::vector<float> gains(worlds * agents);
    std::vector<std::uint8_t> live(worlds, 0);
    for (std::size_t world = 0; world < count; ++world) {
      const std::size_t problem = problems[first + world];
      walk.observe(problem, points[first + world], std::span(observations).subspan(world * observed, observed));
      walk.mask(problem, points[first + world], std::span(masks).subspan(world * width, width));
      walk.stay(std::span(actions).subspan(world * width, width));
      std::fill_n(&gains[world * agents], agents, rewards[first + world]);
      live[world] = 1;
    }
    Experience experience;
    experience.world_count = worlds;
    experience.observations = observations;
    experience.masks = masks;
    experience.actions = actions;
    experience.rewards = gains;
    experience.next_observations = observations;
    experience.terminated = running;
    experience.truncated = cut;
    experience.live = live;
    team.learner().learn(experience);
  }
}

}  // namespace tilewright
