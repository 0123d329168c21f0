#include "off_policy_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "../twins.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/off_policy_streams.hpp"
#include "tilewright/marl/toy_games.hpp"
#include "tilewright/marl/trainer.hpp"

namespace tilewright {
namespace {

using oracle::Row;
using oracle::Rows;

// Mean return of all agents together in 200 greedy episodes after `episodes` of training.
double learned_return(Algorithm algorithm, const std::string& game, const OffPolicyOptions& options, std::int64_t episodes,
                      std::uint64_t seed) {
  constexpr std::size_t kWorlds = 10;
  const std::unique_ptr<Environment> environment = make_toy_game(game, 0, kWorlds, 3).value();
  Pupil pupil(algorithm, environment->spec(), options, seed);
  TrainerOptions training;
  training.episodes = episodes;
  Trainer trainer(*environment, *pupil.learner, pupil.profile, training);
  EXPECT_TRUE(trainer.run([](const TrainState&) { return true; }));
  double sum = 0;
  for (const double own : evaluate_greedily(*environment, *pupil.learner, 200, 1'000'000)) sum += own;
  return sum;
}

std::vector<float> uniform(std::size_t count, Rng rng) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * rng.uniform() - 1);
  return values;
}

std::vector<float> observe(const ObservationTable& table, const std::vector<float>& states) {
  const auto entry = [](const float* state, std::int32_t at) { return at == ObservationEntry::kNone ? 0.0f : state[at]; };
  std::vector<float> observations;
  for (std::size_t at = 0; at < states.size(); at += table.state_size)
    for (const ObservationEntry& e : table.entries)
      observations.push_back(entry(&states[at], e.plus) - entry(&states[at], e.minus));
  return observations;
}

Rows rows_of(const std::vector<float>& values, std::size_t row_size, std::size_t offset, std::size_t count,
             const std::vector<std::uint32_t>& indices) {
  Rows rows;
  for (const std::uint32_t index : indices) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(index * row_size + offset);
    rows.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
  }
  return rows;
}

Rows noise_rows(const ActionSpace& space, const Rng& rng, std::uint64_t first_row, std::size_t count) {
  Matrix noise(count, space.action_size());
  sample_noise(space, noise.view(), rng, first_row);
  Rows rows;
  for (std::size_t b = 0; b < count; ++b) rows.emplace_back(noise.row(b), noise.row(b) + space.action_size());
  return rows;
}

// What the learner would draw, by a sampler and a stream of our own.
struct Drawing {
  Drawing(const OffPolicyOptions& options, std::uint64_t seed, std::size_t agents) : streams(seed, agents) {
    for (std::size_t agent = 0; agent < agents; ++agent) samplers.push_back(make_sampler(options.sampler, options.capacity));
  }
  OffPolicyStreams streams;
  std::vector<std::unique_ptr<Sampler>> samplers;
};

}  // namespace

EnvironmentSpec mixed_spec(bool terminates) {
  EnvironmentSpec spec;
  spec.name = "mixed";
  spec.terminates = terminates;
  spec.agents = {{"walker", "all", 5, {{3}, 0}}, {"talker", "all", 7, {{2, 4}, 0}}, {"glider", "all", 4, {{3}, 2}}};
  ObservationTable table;
  table.state_size = 9;
  Rng rng(7, "table");
  for (std::size_t e = 0; e < spec.observation_size(); ++e) {
    const auto draw = [&] { return static_cast<std::int32_t>(rng.between(-1, 8)); };
    table.entries.push_back({draw(), draw()});
  }
  table.entries[3] = {ObservationEntry::kNone, ObservationEntry::kNone};
  table.entries[6] = {2, ObservationEntry::kNone};
  spec.table = table;
  return spec;
}

Journey::Journey(const EnvironmentSpec& world, std::size_t steps, std::uint64_t seed)
    : spec(world),
      length(steps),
      states(uniform(length * spec.state_size(), Rng(seed, "states"))),
      next_states(uniform(length * spec.state_size(), Rng(seed, "next"))),
      observations(observe(*spec.table, states)),
      next_observations(observe(*spec.table, next_states)),
      actions(uniform(length * spec.action_size(), Rng(seed, "actions"))),
      rewards(uniform(length * spec.agent_count(), Rng(seed, "rewards"))),
      terminated(rewards.size()),
      truncated(rewards.size()),
      live(length, 1) {
  Rng rng(seed, "terminated");
  for (std::uint8_t& flag : terminated) flag = spec.terminates && rng.below(4) == 0 ? 1 : 0;
}

Experience Journey::part(std::size_t first, std::size_t count) const {
  const auto cut = [&](const auto& values) {
    const std::size_t row = values.size() / length;
    return std::span(values).subspan(first * row, count * row);
  };
  return {.world_count = count,
          .observations = cut(observations),
          .states = cut(states),
          .masks = {},
          .actions = cut(actions),
          .rewards = cut(rewards),
          .next_observations = cut(next_observations),
          .next_states = cut(next_states),
          .terminated = cut(terminated),
          .truncated = cut(truncated),
          .live = cut(live)};
}

Pupil::Pupil(Algorithm algorithm, const EnvironmentSpec& spec, const OffPolicyOptions& options, std::uint64_t seed,
             std::size_t thread_count)
    : threads(thread_count), profile(thread_count) {
  auto made = make_learner(algorithm, spec, {.off_policy = options, .ppo = {}}, seed, threads, profile);
  if (!made) throw std::runtime_error(made.error().message);
  learner = std::move(made).value();
}

TensorFile Pupil::saved() const {
  TensorFile file;
  learner->save(file);
  return file;
}

OffPolicyOptions small_options(std::size_t every) {
  OffPolicyOptions options;
  options.capacity = 4 * every;
  options.batch = kTileRows + 1;  // a whole tile and the least part of one
  options.warm_up = every;
  options.update_every = every;
  options.hidden = {20, 16};
  return options;
}

oracle::Samples samples_of(const Journey& journey, const std::vector<std::uint32_t>& indices,
                           const std::vector<float>& weights, std::uint64_t seed, std::uint64_t batch_number,
                           std::size_t self) {
  const EnvironmentSpec& spec = journey.spec;
  const OffPolicyStreams streams(seed, spec.agent_count());
  const std::uint64_t first_row = batch_number * indices.size();
  oracle::Samples samples;
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    const AgentSpec& own = spec.agents[agent];
    const std::size_t offset = spec.observation_offset(agent);
    const auto observed = [&](const std::vector<float>& values) {
      return rows_of(values, spec.observation_size(), offset, own.observation_size, indices);
    };
    samples.observations.push_back(observed(journey.observations));
    samples.next_observations.push_back(observed(journey.next_observations));
    samples.actions.push_back(
        rows_of(journey.actions, spec.action_size(), spec.action_offset(agent), own.actions.action_size(), indices));
    Row rewards, terminated;
    for (const std::uint32_t index : indices) {
      rewards.push_back(journey.rewards[index * spec.agent_count() + agent]);
      terminated.push_back(journey.terminated[index * spec.agent_count() + agent]);
    }
    samples.rewards.push_back(rewards);
    samples.terminated.push_back(terminated);
    samples.target_noise.push_back(noise_rows(own.actions, streams.target_actions[agent], first_row, indices.size()));
  }
  samples.weights = weights.empty() ? Row(indices.size(), 1.0) : Row(weights.begin(), weights.end());
  samples.next_noise = noise_rows(spec.agents[self].actions, streams.next_actions[self], first_row, indices.size());
  samples.policy_noise = noise_rows(spec.agents[self].actions, streams.policy_actions[self], first_row, indices.size());
  return samples;
}

OffPolicyOptions game_options() {
  OffPolicyOptions options;
  options.capacity = 100'000;
  options.batch = 64;
  options.warm_up = 200;
  options.update_every = 10;
  options.hidden = {32, 32};
  return options;
}

double best_return(const std::string& game) { return std::ranges::find(toy_games(), game, &ToyGame::name)->best_return; }

void expect_learning(Algorithm algorithm, const std::string& game, const OffPolicyOptions& options, std::int64_t episodes,
                     double enough) {
  const Twins runs = twins(game, 3, [&](std::uint64_t seed, bool learns) {
    OffPolicyOptions chosen = options;
    if (!learns) chosen.learning_rate = 0;
    return learned_return(algorithm, game, chosen, episodes, seed);
  });
  for (const double learned : runs.learning) EXPECT_GT(learned, enough) << game;
  for (const double still : runs.still) EXPECT_LT(still, enough - 1) << game;
}

double relative_distance(const Row& a, const Row& b) {
  EXPECT_EQ(a.size(), b.size());
  double distance = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    distance += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return size > 0 ? std::sqrt(distance / size) : std::sqrt(distance);
}

Row folded(const EnvironmentSpec& spec, const Row& weight, std::size_t columns) {
  Row sum((spec.state_size() + spec.action_size()) * columns);
  const auto add = [&](std::size_t from, std::size_t to, double sign) {
    for (std::size_t c = 0; c < columns; ++c) sum[to * columns + c] += sign * weight[from * columns + c];
  };
  for (std::size_t r = 0; r < spec.table->entries.size(); ++r) {
    const ObservationEntry& entry = spec.table->entries[r];
    if (entry.plus >= 0) add(r, static_cast<std::size_t>(entry.plus), 1);
    if (entry.minus >= 0) add(r, static_cast<std::size_t>(entry.minus), -1);
  }
  for (std::size_t a = 0; a < spec.action_size(); ++a) add(spec.table->entries.size() + a, spec.state_size() + a, 1);
  return sum;
}

void expect_agreement_with_oracle(Algorithm algorithm, OffPolicyOptions options, oracle::Rules rules) {
  constexpr std::uint64_t kSeed = 5;
  constexpr std::size_t kEvery = 60;
  // Adam's first steps are as long for small gradients as for large ones, so a gradient that cancels down to a millionth of
  // its summands moves a weight by what is left of float's digits. Most tensors agree to 1e-6.
  constexpr double kTolerance = 5e-5;
  const Journey journey(mixed_spec(), 2 * kEvery);
  const EnvironmentSpec& spec = journey.spec;
  const std::size_t agent_count = spec.agent_count();
  const bool in_turn = options.semantics == Semantics::OpenAi;
  const std::size_t critics = rules.soft_actor_critic ? 2 : 1;

  // Weights of full size at the start, also of targets: those of the same learner on observations.
  OffPolicyOptions plain = options;
  plain.layout = ReplayLayout::Joint;
  std::vector<oracle::Agent> agents;
  for (const AgentSpec& agent : spec.agents)
    agents.push_back(oracle::agent(Pupil(algorithm, spec, plain, kSeed).saved(), agent.name, critics));

  Pupil pupil(algorithm, spec, options, kSeed);
  Drawing drawing(options, kSeed, agent_count);
  std::vector<std::uint32_t> indices;
  std::vector<float> weights;
  std::uint64_t batch_number = 0;
  for (std::size_t round = 0; round < 2; ++round) {
    pupil.learner->learn(journey.part(round * kEvery, kEvery));
    ASSERT_EQ(pupil.learner->update_count(), static_cast<std::int64_t>(round) + 1);

    const ReplayPosition position{(round + 1) * kEvery, options.capacity, (round + 1) * kEvery};
    std::vector<Rows> next_actions;
    Row mean_errors(options.batch);
    for (std::size_t self = 0; self < agent_count; ++self) {
      const std::size_t drawer = in_turn ? self : 0;
      if (in_turn || self == 0) {
        drawing.samplers[drawer]->draw(position, options.batch, drawing.streams.sampling[drawer], indices, weights);
        ++batch_number;
      }
      const oracle::Samples samples = samples_of(journey, indices, weights, kSeed, batch_number - 1, self);
      if (in_turn || self == 0) next_actions = oracle::target_actions(spec, agents, samples);
      const oracle::StepLosses losses = oracle::update(spec, rules, self, agents, samples, next_actions);
      EXPECT_NEAR(pupil.learner->losses().critic[self], losses.critic, kTolerance * losses.critic) << "agent " << self;
      EXPECT_NEAR(pupil.learner->losses().actor[self], losses.actor, kTolerance * (1 + std::abs(losses.actor)));
      for (std::size_t b = 0; b < options.batch; ++b)
        mean_errors[b] += losses.squared_errors[b] / static_cast<double>(in_turn ? 1 : agent_count);
      if (!in_turn && self + 1 < agent_count) continue;
      const std::vector<float> told(mean_errors.begin(), mean_errors.end());
      drawing.samplers[drawer]->feedback(position, indices, told);
      std::ranges::fill(mean_errors, 0.0);
    }

    const TensorFile file = pupil.saved();
    const auto expect_near = [&](const std::string& name, const oracle::Net& expected, bool fold) {
      const oracle::Net found = oracle::net(file, name);
      for (std::size_t k = 0; k < expected.tensors.size(); ++k) {
        const Row tensor = fold && k == 0 ? folded(spec, expected.tensors[0], expected.sizes[1]) : expected.tensors[k];
        EXPECT_LT(relative_distance(found.tensors[k], tensor), kTolerance) << name << ", tensor " << k;
      }
    };
    const bool fold = options.layout == ReplayLayout::State;
    for (std::size_t self = 0; self < agent_count; ++self) {
      const std::string& name = spec.agents[self].name;
      expect_near(name + ".actor", agents[self].actor.online, false);
      expect_near(name + ".target_actor", agents[self].actor.target, false);
      for (std::size_t c = 0; c < critics; ++c) {
        const std::string role = c == 0 ? "critic" : "critic2";
        expect_near(name + "." + role, agents[self].critics[c].online, false);
        expect_near(name + ".target_" + role, agents[self].critics[c].target, fold);
      }
    }
  }
}

void expect_true_gradients(Algorithm algorithm, oracle::Rules rules) {
  const Journey journey(mixed_spec(), 12);
  const EnvironmentSpec& spec = journey.spec;
  OffPolicyOptions options = small_options(12);
  options.hidden = {9, 7};
  const TensorFile file = Pupil(algorithm, spec, options).saved();
  std::vector<std::uint32_t> indices(journey.length);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::uint32_t>(i);
  Rng rng(3, "entries");

  // The derivative by one parameter, at a few places of every tensor.
  const auto expect_slopes = [&](oracle::Net net, const auto& loss) {
    oracle::Net gradient = net.zeros();
    loss(net, &gradient);
    for (std::size_t k = 0; k < net.tensors.size(); ++k) {
      for (int trial = 0; trial < 12; ++trial) {
        double& value =
            net.tensors[k][static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(net.tensors[k].size())))];
        const double slope = gradient.tensors[k][static_cast<std::size_t>(&value - net.tensors[k].data())];
        constexpr double kStep = 1e-6;
        const double kept = value;
        value = kept + kStep;
        const double above = loss(net, nullptr);
        value = kept - kStep;
        const double below = loss(net, nullptr);
        value = kept;
        EXPECT_NEAR((above - below) / (2 * kStep), slope, 1e-7 + 1e-5 * std::abs(slope)) << "tensor " << k;
      }
    }
  };
  for (std::size_t self = 0; self < spec.agent_count(); ++self) {
    const oracle::Samples samples = samples_of(journey, indices, {}, 1, 0, self);
    const oracle::Agent agent = oracle::agent(file, spec.agents[self].name, 1);
    Rows inputs;
    for (std::size_t b = 0; b < indices.size(); ++b)
      inputs.push_back(oracle::joint(samples.observations, samples.actions, b));
    expect_slopes(agent.critics[0].online, [&](const oracle::Net& net, oracle::Net* gradient) {
      return oracle::critic_loss(net, inputs, samples.rewards[self], samples.weights, gradient);
    });
    expect_slopes(agent.actor.online, [&](const oracle::Net& net, oracle::Net* gradient) {
      return oracle::actor_loss(spec, rules, self, net, agent.critics[0].online, samples, gradient);
    });
  }
}

}  // namespace tilewright
