#include "tilewright/marl/agent_update.hpp"

#include <memory>

namespace tilewright {
namespace {

std::size_t most(const EnvironmentSpec& spec, std::size_t (*size)(const AgentSpec&)) {
  std::size_t result = 1;
  for (const AgentSpec& agent : spec.agents) result = std::max(result, size(agent));
  return result;
}

// The inputs of a critic in terms of (state | actions).
std::shared_ptr<const FoldedForm> folded_form(const ObservationTable& table, std::size_t action_size) {
  std::vector<FoldedInput> inputs;
  for (const ObservationEntry& entry : table.entries) inputs.push_back({entry.plus, entry.minus});
  for (std::size_t a = 0; a < action_size; ++a)
    inputs.push_back({static_cast<std::int32_t>(table.state_size + a), FoldedInput::kNone});
  return std::make_shared<const FoldedForm>(inputs);
}

View tile_of(Matrix& matrix, Tile tile, std::size_t columns) {
  return matrix.row_range(0, tile.count).column_range(0, columns);
}

void clear(Mlp& gradient) { std::ranges::fill(gradient.values(), 0.0f); }

void copy_columns(ConstView from, View to) {
  for (std::size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.columns, to.row(r));
}

}  // namespace

NetworkForms::NetworkForms(const EnvironmentSpec& spec, const Representation& representation,
                           const std::vector<std::size_t>& hidden) {
  critic.shape = {.inputs = spec.observation_size() + spec.action_size(), .hidden = hidden, .outputs = 1};
  critic.inputs = representation.size() + spec.action_size();
  if (const ObservationTable* table = representation.table()) critic.fold = folded_form(*table, spec.action_size());
  for (const AgentSpec& agent : spec.agents) {
    const MlpShape shape{.inputs = agent.observation_size, .hidden = hidden, .outputs = agent.actions.output_size()};
    const auto same = std::ranges::find(actors, shape, &NetworkForm::shape);
    observation_column.push_back(spec.observation_offset(actor_of.size()));
    action_column.push_back(spec.action_offset(actor_of.size()));
    actor_of.push_back(static_cast<std::size_t>(same - actors.begin()));
    if (same == actors.end()) actors.push_back({.shape = shape, .fold = nullptr, .inputs = shape.inputs});
  }
}

UpdateRoom::UpdateRoom(const EnvironmentSpec& spec, const NetworkForms& forms, std::size_t batch)
    : critic(forms.critic.computing_shape()),
      critic_gradient(forms.critic.computing_shape()),
      observations(kTileRows, most(spec, [](const AgentSpec& agent) { return agent.observation_size; })),
      outputs(kTileRows, most(spec, [](const AgentSpec& agent) { return agent.actions.output_size(); })),
      doutputs(kTileRows, outputs.columns()),
      noise(kTileRows, most(spec, [](const AgentSpec& agent) { return agent.actions.action_size(); })),
      dactions(kTileRows, noise.columns()),
      dvalues(kTileRows, 1),
      own_actions(batch, noise.columns()),
      entropy(kTileRows, noise.columns()),
      targets(batch),
      values(batch),
      entropies(batch) {
  for (const NetworkForm& form : forms.actors) {
    actors.emplace_back(form.shape);
    actor_gradients.emplace_back(form.shape);
  }
}

void draw_actions(const ActionSpace& space, const Rng* noise, std::uint64_t first_noise_row, UpdateRoom& room,
                  View actions) {
  const Tile tile{0, actions.rows};
  const View drawn = tile_of(room.noise, tile, space.action_size());
  if (noise != nullptr) {
    sample_noise(space, drawn, *noise, first_noise_row);
  } else {
    for (std::size_t r = 0; r < drawn.rows; ++r) std::fill_n(drawn.row(r), drawn.columns, 0.0f);
  }
  soft_actions(space, tile_of(room.outputs, tile, space.output_size()), drawn, actions);
}

void sample_actions(const ActionSpace& space, const Mlp& actor, std::size_t actor_form, ConstView observations,
                    const Rng* noise, std::uint64_t first_noise_row, UpdateRoom& room, View actions) {
  forward(actor, observations, tile_of(room.outputs, {0, observations.rows}, space.output_size()), room.actors[actor_form]);
  draw_actions(space, noise, first_noise_row, room, actions);
}

void critic_values(const Mlp& critic, ConstView rows, UpdateRoom& room, std::span<float> values) {
  for_each_tile(rows.rows, [&](Tile tile) {
    forward(critic, rows.row_range(tile.first, tile.count), {values.data() + tile.first, tile.count, 1, 1}, room.critic);
  });
}

void discount(const AgentUpdate& update, std::span<float> values) {
  const float* rewards = update.batch.rewards.row(update.agent);
  const auto gamma = static_cast<float>(update.options.gamma);
  const bool terminates = update.batch.terminated.rows() > 0;
  for (std::size_t b = 0; b < values.size(); ++b) {
    const float goes_on = terminates ? 1 - update.batch.terminated.row(update.agent)[b] : 1.0f;
    values[b] = rewards[b] + gamma * goes_on * values[b];
  }
}

double regress(AgentUpdate& update, TrainedNetwork& critic, std::span<const float> y) {
  UpdateRoom& room = update.room;
  const std::vector<float>& weights = update.batch.weights;
  const double share = 1.0 / static_cast<double>(y.size());
  double loss = 0;
  room.critic.load_transposed(critic.online);
  clear(room.critic_gradient);
  for_each_tile(y.size(), [&](Tile tile) {
    const ConstView x = update.x.row_range(tile.first, tile.count);
    const View values{room.values.data() + tile.first, tile.count, 1, 1};
    const View dvalues = tile_of(room.dvalues, tile, 1);
    forward(critic.online, x, values, room.critic);
    for (std::size_t i = 0; i < tile.count; ++i) {
      const std::size_t b = tile.first + i;
      const float error = room.values[b] - y[b];
      const float weight = weights.empty() ? 1 : weights[b];
      loss += share * static_cast<double>(weight * error * error);
      dvalues.data[i] = static_cast<float>(2 * share) * weight * error;
      if (!update.squared_errors.empty()) update.squared_errors[b] = std::max(update.squared_errors[b], error * error);
    }
    backward(critic.online, x, dvalues, room.critic, &room.critic_gradient);
  });
  step(critic, room.critic_gradient, update.options.clip, update.adam);
  return loss;
}

void begin_actor_step(AgentUpdate& update) {
  UpdateRoom& room = update.room;
  const std::size_t size = update.actions().action_size();
  copy_columns(update.x.column_range(update.own_column, size), room.own_actions.view());
  room.actors[update.actor_form].load_transposed(update.networks.actor.online);
  room.critic.load_transposed(update.networks.critics.front().online);
  clear(room.actor_gradients[update.actor_form]);
}

PolicyTile propose(AgentUpdate& update, Tile tile) {
  UpdateRoom& room = update.room;
  const ActionSpace& space = update.actions();
  const View x = update.x.row_range(tile.first, tile.count);
  const PolicyTile policy{.tile = tile,
                          .observations = update.representation.observations(update.agent, x, room.observations),
                          .outputs = tile_of(room.outputs, tile, space.output_size()),
                          .noise = tile_of(room.noise, tile, space.action_size()),
                          .actions = x.column_range(update.own_column, space.action_size()),
                          .doutputs = tile_of(room.doutputs, tile, space.output_size())};
  sample_actions(space, update.networks.actor.online, update.actor_form, policy.observations,
                 &update.streams.policy_actions[update.agent], update.first_noise_row + tile.first, room, policy.actions);
  return policy;
}

double descend_value(AgentUpdate& update, const Mlp& critic, const PolicyTile& policy) {
  UpdateRoom& room = update.room;
  const ActionSpace& space = update.actions();
  const ConstView x = update.x.row_range(policy.tile.first, policy.tile.count);
  const View values{room.values.data(), policy.tile.count, 1, 1};
  const View dvalues = tile_of(room.dvalues, policy.tile, 1);
  const View dactions = tile_of(room.dactions, policy.tile, space.action_size());
  const double share = 1.0 / static_cast<double>(update.batch.rows);

  forward(critic, x, values, room.critic);
  double sum = 0;
  for (std::size_t i = 0; i < policy.tile.count; ++i) sum += static_cast<double>(values.data[i]);
  std::fill_n(dvalues.data, policy.tile.count, static_cast<float>(-share));
  backward(critic, x, dvalues, room.critic, nullptr, dactions, update.own_column);
  soft_actions_backward(space, policy.outputs, policy.noise, policy.actions, dactions, policy.doutputs);
  return -share * sum;
}

void accumulate(AgentUpdate& update, const PolicyTile& policy) {
  backward(update.networks.actor.online, policy.observations, policy.doutputs, update.room.actors[update.actor_form],
           &update.room.actor_gradients[update.actor_form]);
}

void end_actor_step(AgentUpdate& update) {
  const std::size_t size = update.actions().action_size();
  copy_columns(update.room.own_actions.row_range(0, update.x.rows).column_range(0, size),
               update.x.column_range(update.own_column, size));
  step(update.networks.actor, update.room.actor_gradients[update.actor_form], update.options.clip, update.adam);
}

void move_targets(AgentUpdate& update) {
  move_target(update.networks.actor, update.options.tau);
  for (TrainedNetwork& critic : update.networks.critics) move_target(critic, update.options.tau);
}

}  // namespace tilewright
