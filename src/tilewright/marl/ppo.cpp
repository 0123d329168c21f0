// PPO (Schulman et al. 2017) for teams. Given a rollout, the agents learn independently of one another, and given the
// advantages so do the actor and the critic of an agent: every network is one item of parallel work.
//
//   actor   L = -mean min(ratio·A, clip(ratio, 1 - ε, 1 + ε)·A) - bonus·mean entropy,   ratio = π(a|o) / π_old(a|o)
//   critic  L = mean (V - (A + V_old))²
#include "tilewright/marl/ppo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "tilewright/marl/advantages.hpp"
#include "tilewright/marl/return_scale.hpp"
#include "tilewright/marl/rollout.hpp"
#include "tilewright/marl/trainee.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kSmallWork = std::size_t{1} << 20;  // multiplications that take less time than waking a thread
constexpr float kMostLogRatio = 20;                       // keeps the ratio finite

struct Agent {
  std::size_t index;
  std::string name;
  ActionSpace space;
  std::size_t observation_offset, observation_size, action_offset;
  Rng rng;
  Trainee actor, critic;
  ReturnScale scale = {};
  // Rows of the actor's mini-batch in which it had a choice, and their places in the mini-batch.
  std::vector<std::uint32_t> chosen = {}, places = {};
  Matrix actions = {}, masks = {};  // of those rows

  // The rollout at hand, by row.
  AgentSteps steps = {};
  std::vector<std::uint8_t> chooses = {};  // whether masks left it a choice
  std::vector<float> values = {}, kept_values = {}, successor_values = {}, advantages = {}, targets = {}, old_logs = {};
  std::vector<float> worth = {};  // of the rows of a mini-batch

  // Its part of rows that hold all agents.
  template <typename T>
  BasicView<T> observations_in(BasicView<T> rows) const {
    return rows.column_range(observation_offset, observation_size);
  }
  template <typename T>
  BasicView<T> actions_in(BasicView<T> rows) const {
    return rows.column_range(action_offset, space.action_size());
  }
};

// Room of one thread while it acts. The networks differ in their inputs and outputs only, so they share activations.
struct ActingRoom {
  MlpWorkspace workspace;
  Matrix outputs, noise;
  Matrix inputs, masks, actions;         // of rows with a choice
  std::vector<std::uint32_t> rows = {};  // of the tile
};

// Whether there is anything to choose. Where there is not, the network does not matter: the action has probability 1 and no
// gradient, so such rows are left out of its work.
bool has_choice(const ActionSpace& space, const float* mask) {
  if (space.continuous > 0) return true;
  for (const std::size_t count : space.categorical) {
    if (std::count_if(mask, mask + count, [](float open) { return open != 0; }) > 1) return true;
    mask += count;
  }
  return false;
}

View first_columns(Matrix& matrix, std::size_t rows, std::size_t columns) {
  return matrix.row_range(0, rows).column_range(0, columns);
}

// Calls work(first, count) for tiles of `rows`.
template <typename Work>
void for_each_tile(std::size_t rows, const Work& work) {
  for (std::size_t first = 0; first < rows; first += kTileRows) work(first, std::min(kTileRows, rows - first));
}

class Ppo final : public Learner {
 public:
  Ppo(const EnvironmentSpec& spec, PpoOptions options, std::uint64_t seed, ThreadPool& threads, Profile& profile);

  void act(std::span<const float> observations, std::span<const float> masks, std::size_t world_count, Acting acting,
           std::span<float> actions) override;
  void learn(const Experience& experience) override;
  std::int64_t update_count() const override { return updates_; }
  const Losses& losses() const override { return losses_; }
  void save(TensorFile& file) const override;
  Result<Done> load(const TensorFile& file) override;

 private:
  void act_where_open(const Agent& agent, ConstView seen, ConstView masks, std::uint64_t number, ActingRoom& room,
                      View chosen);
  void update();
  void estimate(Agent& agent);
  void remember_probabilities(Agent& agent);
  std::size_t gather_choices(Agent& agent, std::span<const std::uint32_t> rows);
  double fit_critic(Agent& agent, PhaseClock& clock);
  double fit_actor(Agent& agent, PhaseClock& clock);
  template <typename Work>
  double fit(const Agent& agent, Trainee& trainee, const Work& work) const;

  ConstView critic_view(const Agent& agent, ConstView rows) const {
    return options_.critic == Critic::Central ? rows : agent.observations_in(rows);
  }
  ConstView mask_view(const Agent& agent, ConstView masks) const {
    return masks_ ? masks.column_range(agent.action_offset, agent.space.choice_count()) : ConstView{};
  }

  PpoOptions options_;
  AdamOptions adam_;
  std::size_t observation_size_, action_size_;
  bool masks_;
  ThreadPool& threads_;
  Profile& profile_;
  std::vector<Agent> agents_;
  std::vector<ActingRoom> rooms_;  // per thread
  std::size_t weights_ = 0;        // of all actors
  Rollout rollout_;
  Losses losses_;
  std::int64_t updates_ = 0;
  std::uint64_t acted_ = 0;  // rows of exploration noise used so far
};

Ppo::Ppo(const EnvironmentSpec& spec, PpoOptions options, std::uint64_t seed, ThreadPool& threads, Profile& profile)
    : options_(std::move(options)),
      adam_{.learning_rate = options_.learning_rate, .epsilon = 1e-5},
      observation_size_(spec.observation_size()),
      action_size_(spec.action_size()),
      masks_(spec.masks),
      threads_(threads),
      profile_(profile),
      rollout_(spec) {
  const Rng root(seed, "ppo");
  std::size_t most_outputs = 0, most_actions = 0, most_inputs = 0;
  for (std::size_t index = 0; index < spec.agent_count(); ++index) {
    const AgentSpec& agent = spec.agents[index];
    const Rng rng = root.fork("agent", index);
    MlpShape actor{agent.observation_size, options_.hidden, agent.actions.output_size(), options_.activation};
    MlpShape critic = actor;
    critic.inputs = options_.critic == Critic::Central ? observation_size_ : agent.observation_size;
    critic.outputs = 1;
    agents_.push_back({.index = index,
                       .name = agent.name,
                       .space = agent.actions,
                       .observation_offset = spec.observation_offset(index),
                       .observation_size = agent.observation_size,
                       .action_offset = spec.action_offset(index),
                       .rng = rng,
                       .actor = Trainee(actor, 0.01, rng.fork("actor")),
                       .critic = Trainee(critic, 1, rng.fork("critic"))});
    most_outputs = std::max(most_outputs, agent.actions.output_size());
    most_inputs = std::max(most_inputs, agent.observation_size);
    most_actions = std::max(most_actions, agent.actions.action_size());
    weights_ += agents_.back().actor.mlp.values().size();
  }
  for (std::size_t thread = 0; thread < threads.thread_count(); ++thread) {
    rooms_.push_back({MlpWorkspace({1, options_.hidden, 1, options_.activation}), Matrix(kTileRows, most_outputs),
                      Matrix(kTileRows, most_actions), Matrix(kTileRows, most_inputs), Matrix(kTileRows, most_actions),
                      Matrix(kTileRows, most_actions)});
  }
}

// Explores in a tile whose first row is the `number`-th that ever acted; only rows with a choice ask the network.
void Ppo::act_where_open(const Agent& agent, ConstView seen, ConstView masks, std::uint64_t number, ActingRoom& room,
                         View chosen) {
  room.rows.clear();
  for (std::uint32_t row = 0; row < seen.rows; ++row) {
    if (has_choice(agent.space, masks.row(row))) {
      room.rows.push_back(row);
    } else {
      std::transform(masks.row(row), masks.row(row) + masks.columns, chosen.row(row),
                     [](float open) { return open != 0 ? 1.0F : 0.0F; });
    }
  }
  const std::size_t rows = room.rows.size();
  if (rows == 0) return;
  const View inputs = first_columns(room.inputs, rows, seen.columns), open = first_columns(room.masks, rows, masks.columns);
  for (std::size_t n = 0; n < rows; ++n) {
    std::copy_n(seen.row(room.rows[n]), seen.columns, inputs.row(n));
    std::copy_n(masks.row(room.rows[n]), masks.columns, open.row(n));
  }
  const View actions = first_columns(room.actions, rows, chosen.columns);
  const View outputs = first_columns(room.outputs, rows, agent.space.output_size());
  const View noise = first_columns(room.noise, rows, agent.space.action_size());
  const Rng stream = agent.rng.fork("act");
  for (std::size_t n = 0; n < rows; ++n) sample_noise(agent.space, noise.row_range(n, 1), stream, number + room.rows[n]);
  forward(agent.actor.mlp, inputs, outputs, room.workspace);
  hard_actions(agent.space, outputs, noise, actions, open);
  for (std::size_t n = 0; n < rows; ++n) std::copy_n(actions.row(n), chosen.columns, chosen.row(room.rows[n]));
}

void Ppo::act(std::span<const float> observations, std::span<const float> masks, std::size_t world_count, Acting acting,
              std::span<float> actions) {
  const ConstView all_observations{observations.data(), world_count, observation_size_, observation_size_};
  const ConstView all_masks{masks.data(), world_count, action_size_, action_size_};
  const View all_actions{actions.data(), world_count, action_size_, action_size_};
  const std::size_t tiles = (world_count + kTileRows - 1) / kTileRows;
  const auto act_tile = [&](std::size_t item, std::size_t thread) {
    const Agent& agent = agents_[item / tiles];
    ActingRoom& room = rooms_[thread];
    const std::size_t first = item % tiles * kTileRows, rows = std::min(kTileRows, world_count - first);
    const View chosen = agent.actions_in(all_actions.row_range(first, rows));
    const ConstView mask = mask_view(agent, all_masks.row_range(first, rows));
    const ConstView seen = agent.observations_in(all_observations.row_range(first, rows));
    if (masks_ && acting == Acting::Explore) return act_where_open(agent, seen, mask, acted_ + first, room, chosen);
    const View outputs = first_columns(room.outputs, rows, agent.space.output_size());
    const View noise = first_columns(room.noise, rows, agent.space.action_size());
    forward(agent.actor.mlp, seen, outputs, room.workspace);
    if (acting == Acting::Greedy) return greedy_actions(agent.space, outputs, chosen, mask);
    sample_noise(agent.space, noise, agent.rng.fork("act"), acted_ + first);
    hard_actions(agent.space, outputs, noise, chosen, mask);
  };
  const std::size_t items = agents_.size() * tiles;
  if (world_count * weights_ < kSmallWork) {
    for (std::size_t item = 0; item < items; ++item) act_tile(item, 0);
  } else {
    threads_.for_each(items, std::ref(act_tile));
  }
  if (acting == Acting::Explore) acted_ += world_count;
}

void Ppo::learn(const Experience& experience) {
  PhaseClock clock(profile_, 0, PhaseClock::Detail::Wall);
  rollout_.add(experience);
  if (rollout_.size() < options_.rollout) return;
  rollout_.close(experience);
  clock.lap(Phase::Other);
  update();
  clock.restart();
  rollout_.clear();
  clock.lap(Phase::Other);
}

void Ppo::update() {
  const ParallelSection section(profile_);
  threads_.for_each(agents_.size(), [&](std::size_t index, std::size_t thread) {
    PhaseClock clock(profile_, thread, PhaseClock::Detail::Cpu);
    estimate(agents_[index]);
    clock.lap(Phase::TargetQ);
  });
  losses_.critic.resize(agents_.size());
  losses_.actor.resize(agents_.size());
  threads_.for_each(2 * agents_.size(), [&](std::size_t item, std::size_t thread) {
    PhaseClock clock(profile_, thread, PhaseClock::Detail::Cpu);
    const std::size_t index = item / 2;
    if (item % 2 == 0 && options_.critic != Critic::None) losses_.critic[index] = fit_critic(agents_[index], clock);
    if (item % 2 == 1) losses_.actor[index] = fit_actor(agents_[index], clock);
  });
  ++updates_;
}

// Advantages, what the critic should have said, and the probabilities of the actions, all by the networks that acted.
void Ppo::estimate(Agent& agent) {
  const auto say_values = [&](ConstView seen, std::vector<float>& values) {
    values.assign(seen.rows, 0);
    if (options_.critic == Critic::None) return;
    for_each_tile(seen.rows, [&](std::size_t first, std::size_t count) {
      forward(agent.critic.mlp, seen.row_range(first, count), {values.data() + first, count, 1, 1}, agent.critic.workspace);
    });
    for (float& value : values) value = agent.scale.to_return(value);
  };
  say_values(critic_view(agent, rollout_.observations()), agent.values);
  say_values(critic_view(agent, rollout_.successors()), agent.kept_values);

  const std::size_t rows = rollout_.size();
  AgentSteps& steps = agent.steps;
  rollout_.read(agent.index, steps);
  rollout_.shift_values(agent.values, agent.kept_values, agent.successor_values);
  for (auto* numbers : {&agent.advantages, &agent.targets, &agent.old_logs}) numbers->resize(rows);
  estimate_advantages({steps.rewards, agent.values, agent.successor_values, steps.terminated, steps.ended, rollout_.next()},
                      options_.gamma, options_.gae_lambda, agent.advantages);
  for (std::size_t row = 0; row < rows; ++row) agent.targets[row] = agent.advantages[row] + agent.values[row];
  if (options_.normalise_returns) agent.scale.follow(agent.targets, steps.samples, agent.critic.mlp);
  for (float& target : agent.targets) target = agent.scale.to_output(target);
  if (options_.normalise_advantages) normalise(agent.advantages, steps.samples);

  agent.chooses.assign(rows, 1);
  for (std::size_t row = 0; masks_ && row < rows; ++row) {
    agent.chooses[row] = has_choice(agent.space, mask_view(agent, rollout_.masks()).row(row)) ? 1 : 0;
  }
  remember_probabilities(agent);
}

// Of the actions, by the network that chose them.
void Ppo::remember_probabilities(Agent& agent) {
  std::vector<std::uint32_t>& all = agent.actor.order;
  all.resize(rollout_.size());
  std::iota(all.begin(), all.end(), 0U);
  const std::size_t count = gather_choices(agent, all);
  for_each_tile(count, [&](std::size_t first, std::size_t rows) {
    const View outputs = agent.actor.outputs.row_range(0, rows);
    std::array<float, kTileRows> logs;
    forward(agent.actor.mlp, agent.actor.inputs.row_range(first, rows), outputs, agent.actor.workspace);
    log_probabilities(agent.space, outputs, agent.actions.row_range(first, rows), std::span(logs).first(rows),
                      masks_ ? ConstView(agent.masks.row_range(first, rows)) : ConstView{});
    for (std::size_t row = 0; row < rows; ++row) agent.old_logs[agent.chosen[first + row]] = logs[row];
  });
}

// What the actor saw, did and could have done in those of the rows in which it had a choice; the value is how many.
std::size_t Ppo::gather_choices(Agent& agent, std::span<const std::uint32_t> rows) {
  agent.chosen.clear();
  agent.places.clear();
  for (std::uint32_t place = 0; place < rows.size(); ++place) {
    if (agent.chooses[rows[place]] == 0) continue;
    agent.chosen.push_back(rows[place]);
    agent.places.push_back(place);
  }
  gather(agent.observations_in(rollout_.observations()), agent.chosen, agent.actor.inputs);
  gather(agent.actions_in(rollout_.actions()), agent.chosen, agent.actions);
  if (masks_) gather(mask_view(agent, rollout_.masks()), agent.chosen, agent.masks);
  return agent.chosen.size();
}

// Goes through the agent's samples `epochs` times in mini-batches; work(rows) adds to the gradient and returns the sum of
// losses. Returns the mean loss.
template <typename Work>
double Ppo::fit(const Agent& agent, Trainee& trainee, const Work& work) const {
  trainee.order = agent.steps.samples;
  const std::size_t count = trainee.order.size();
  double sum = 0;
  for (std::size_t epoch = 0; epoch < options_.epochs; ++epoch) {
    // The same order for the actor and the critic, as if they went through the mini-batches together.
    shuffle(trainee.order, agent.rng.fork("shuffle", static_cast<std::uint64_t>(updates_) * options_.epochs + epoch));
    for (std::size_t piece = 0; piece < options_.minibatches; ++piece) {
      const std::size_t first = piece * count / options_.minibatches, end = (piece + 1) * count / options_.minibatches;
      if (first == end) continue;
      std::ranges::fill(trainee.gradient.values(), 0.0F);
      trainee.workspace.load_transposed(trainee.mlp);
      sum += work(std::span<const std::uint32_t>(trainee.order).subspan(first, end - first));
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count * options_.epochs);
}

double Ppo::fit_critic(Agent& agent, PhaseClock& clock) {
  Trainee& critic = agent.critic;
  return fit(agent, critic, [&](std::span<const std::uint32_t> batch) {
    gather(critic_view(agent, rollout_.observations()), batch, critic.inputs);
    clock.lap(Phase::Sampling, batch.size() * critic.inputs.columns() * sizeof(float));
    double loss = 0;
    for_each_tile(batch.size(), [&](std::size_t first, std::size_t rows) {
      const ConstView seen = critic.inputs.row_range(first, rows);
      const View values = critic.outputs.row_range(0, rows), dvalues = critic.doutputs.row_range(0, rows);
      forward(critic.mlp, seen, values, critic.workspace);
      for (std::size_t row = 0; row < rows; ++row) {
        const float error = *values.row(row) - agent.targets[batch[first + row]];
        loss += static_cast<double>(error * error);
        *dvalues.row(row) = 2 * error / static_cast<float>(batch.size());
      }
      backward(critic.mlp, seen, dvalues, critic.workspace, &critic.gradient);
    });
    step_clipped_globally(critic.mlp, critic.gradient, critic.adam, options_.max_gradient_norm, adam_);
    clock.lap(Phase::QLoss);
    return loss;
  });
}

double Ppo::fit_actor(Agent& agent, PhaseClock& clock) {
  Trainee& actor = agent.actor;
  const auto least = static_cast<float>(1 - options_.clip), most = static_cast<float>(1 + options_.clip);
  return fit(agent, actor, [&](std::span<const std::uint32_t> batch) {
    const std::size_t count = gather_choices(agent, batch);
    const std::size_t columns = actor.inputs.columns() + agent.actions.columns() + agent.masks.columns();
    clock.lap(Phase::Sampling, count * columns * sizeof(float));
    const float share = 1 / static_cast<float>(batch.size());
    std::array<float, kTileRows> logs, dlogs, dentropies;
    dentropies.fill(-share * static_cast<float>(options_.entropy_bonus));
    agent.worth.resize(batch.size());  // of each row; where nothing was chosen, the ratio is 1
    std::ranges::transform(batch, agent.worth.begin(), [&](std::uint32_t sample) { return agent.advantages[sample]; });
    for_each_tile(count, [&](std::size_t first, std::size_t rows) {
      const ConstView seen = actor.inputs.row_range(first, rows), actions = agent.actions.row_range(first, rows);
      const ConstView mask = masks_ ? ConstView(agent.masks.row_range(first, rows)) : ConstView{};
      const View outputs = actor.outputs.row_range(0, rows), doutputs = actor.doutputs.row_range(0, rows);
      forward(actor.mlp, seen, outputs, actor.workspace);
      log_probabilities(agent.space, outputs, actions, std::span(logs).first(rows), mask);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t sample = agent.chosen[first + row];
        const float advantage = agent.advantages[sample];
        const float ratio = std::exp(std::clamp(logs[row] - agent.old_logs[sample], -kMostLogRatio, kMostLogRatio));
        const float free = ratio * advantage, clipped = std::clamp(ratio, least, most) * advantage;
        agent.worth[agent.places[first + row]] = std::min(free, clipped);
        dlogs[row] = free <= clipped ? -share * free : 0;  // d ratio = ratio · d log
      }
      std::fill_n(doutputs.data, rows * doutputs.stride, 0.0F);
      policy_backward(agent.space, outputs, actions, std::span(dlogs).first(rows), std::span(dentropies).first(rows),
                      doutputs, mask);
      backward(actor.mlp, seen, doutputs, actor.workspace, &actor.gradient);
    });
    step_clipped_globally(actor.mlp, actor.gradient, actor.adam, options_.max_gradient_norm, adam_);
    clock.lap(Phase::PLoss);
    double loss = 0;
    for (const float worth : agent.worth) loss -= static_cast<double>(worth);
    return loss;
  });
}

void Ppo::save(TensorFile& file) const {
  for (const Agent& agent : agents_) {
    agent.actor.save(agent.name + ".actor", file);
    agent.critic.save(agent.name + ".critic", file);
    agent.scale.save(agent.name + ".return_scale", file);
  }
  file.put("updates", updates_);
  file.put("acted", static_cast<std::int64_t>(acted_));
  file.put("losses.critic", std::span<const double>(losses_.critic));
  file.put("losses.actor", std::span<const double>(losses_.actor));
  rollout_.save("rollout", file);
}

Result<Done> Ppo::load(const TensorFile& file) {
  for (Agent& agent : agents_) {
    TW_TRY(const Done actor, agent.actor.load(agent.name + ".actor", file));
    TW_TRY(const Done critic, agent.critic.load(agent.name + ".critic", file));
    TW_TRY(const Done scale, agent.scale.load(agent.name + ".return_scale", file));
  }
  TW_TRY(updates_, file.get("updates"));
  TW_TRY(const std::int64_t acted, file.get("acted"));
  acted_ = static_cast<std::uint64_t>(acted);
  const std::size_t losses = updates_ > 0 ? agents_.size() : 0;
  losses_ = {.critic = std::vector<double>(losses), .actor = std::vector<double>(losses)};
  TW_TRY(const Done critic, file.get("losses.critic", std::span<double>(losses_.critic)));
  TW_TRY(const Done actor, file.get("losses.actor", std::span<double>(losses_.actor)));
  return rollout_.load("rollout", file);
}

}  // namespace

Result<std::unique_ptr<Learner>> make_ppo(const EnvironmentSpec& spec, const PpoOptions& options, std::uint64_t seed,
                                          ThreadPool& threads, Profile& profile) {
  TW_TRY(const Done checked, check(options));
  return std::unique_ptr<Learner>(std::make_unique<Ppo>(spec, options, seed, threads, profile));
}

}  // namespace tilewright
