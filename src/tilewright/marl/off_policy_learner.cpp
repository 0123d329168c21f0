#include "tilewright/marl/off_policy_learner.hpp"

#include <algorithm>
#include <utility>

namespace tilewright {

OffPolicyLearner::OffPolicyLearner(const OffPolicyAlgorithm& algorithm, const EnvironmentSpec& spec,
                                   const OffPolicyOptions& options, std::uint64_t seed, ThreadPool& threads,
                                   Profile& profile)
    : algorithm_(algorithm),
      spec_(spec),
      options_(options),
      adam_{.learning_rate = options.learning_rate, .epsilon = algorithm.adam_epsilon},
      threads_(threads),
      profile_(profile),
      seed_(static_cast<std::int64_t>(seed)),
      streams_(seed, spec.agent_count()),
      replay_(spec, options.layout, options.capacity),
      forms_(spec, replay_.representation(), options.hidden),
      batch_(replay_.make_batch(options.batch)) {
  for (std::size_t agent = 0; agent < agent_count(); ++agent) {
    const Rng& rng = streams_.weights[agent];
    AgentNetworks networks;
    networks.actor = make_network(forms_.actors[forms_.actor_of[agent]], algorithm.target_start, rng.fork("actor"));
    for (std::size_t c = 0; c < algorithm.critics; ++c)
      networks.critics.push_back(make_network(forms_.critic, algorithm.target_start, rng.fork("critic", c)));
    networks_.push_back(std::move(networks));
  }
  for (std::size_t s = 0; s < (options.semantics == Semantics::Shared ? 1 : agent_count()); ++s)
    samplers_.push_back(make_sampler(options.sampler, options.capacity));
  for (std::size_t thread = 0; thread < threads.thread_count(); ++thread) {
    rooms_.emplace_back(spec, forms_, options.batch);
    const bool needs_copy = thread > 0 && options.semantics == Semantics::Shared;
    copies_.push_back(needs_copy ? Matrix(options.batch, batch_.current.columns()) : Matrix());
  }
  losses_ = {std::vector<double>(agent_count()), std::vector<double>(agent_count())};
  if (samplers_.front()->wants_feedback()) {
    squared_errors_ = Matrix(agent_count(), options.batch);
    mean_squared_errors_.resize(options.batch);
  }
}

const Mlp& OffPolicyLearner::acting_network(std::size_t agent) const {
  const TrainedNetwork& actor = networks_[agent].actor;
  return algorithm_.acts_with_target ? actor.target : actor.online;
}

void OffPolicyLearner::act(std::span<const float> observations, std::span<const float>, std::size_t world_count,
                           Acting acting, std::span<float> actions) {
  const std::size_t observation_size = spec_.observation_size(), action_size = spec_.action_size();
  const auto act_for = [&](std::size_t agent, std::size_t thread) {
    const AgentSpec& self = spec_.agents[agent];
    const ConstView seen{observations.data() + forms_.observation_column[agent], world_count, self.observation_size,
                         observation_size};
    const View done{actions.data() + forms_.action_column[agent], world_count, self.actions.action_size(), action_size};
    const Rng* noise = acting == Acting::Explore ? &streams_.acting[agent] : nullptr;
    const auto row = static_cast<std::uint64_t>(acted_);
    if (world_count == 1) {
      forward_one(acting_network(agent), seen.data, rooms_[thread].outputs.row(0));
      draw_actions(self.actions, noise, row, rooms_[thread], done);
      return;
    }
    for_each_tile(world_count, [&](Tile tile) {
      sample_actions(self.actions, acting_network(agent), forms_.actor_of[agent], seen.row_range(tile.first, tile.count),
                     noise, row + tile.first, rooms_[thread], done.row_range(tile.first, tile.count));
    });
  };
  if (world_count < kTileRows) {  // waking threads would take longer than the work
    for (std::size_t agent = 0; agent < agent_count(); ++agent) act_for(agent, 0);
  } else {
    threads_.for_each(agent_count(), act_for);
  }
  if (acting == Acting::Explore) acted_ += static_cast<std::int64_t>(world_count);
}

void OffPolicyLearner::learn(const Experience& experience) {
  replay_.add(experience);
  const auto every = static_cast<std::int64_t>(options_.update_every);
  std::int64_t due = -(steps_ / every);
  steps_ += std::ranges::count_if(experience.live, [](std::uint8_t live) { return live != 0; });
  due += steps_ / every;
  if (replay_.size() < options_.warm_up) return;
  for (; due > 0; --due) {
    if (options_.semantics == Semantics::Shared) {
      update_all_together();
    } else {
      update_all_in_turn();
    }
    ++updates_;
  }
}

void OffPolicyLearner::update_all_together() {
  draw_batch(0);
  write_all_target_actions();
  {
    const ParallelSection section(profile_);
    threads_.for_each(agent_count(), [&](std::size_t agent, std::size_t thread) {
      update_agent(agent, thread, thread == 0 ? batch_.current.view() : copies_[thread].view());
    });
  }
  if (!samplers_.front()->wants_feedback()) return;
  std::ranges::fill(mean_squared_errors_, 0.0f);
  for (std::size_t agent = 0; agent < agent_count(); ++agent) {
    for (std::size_t b = 0; b < options_.batch; ++b)
      mean_squared_errors_[b] += squared_errors_.row(agent)[b] / static_cast<float>(agent_count());
  }
  tell_sampler(0, mean_squared_errors_);
}

void OffPolicyLearner::update_all_in_turn() {
  for (std::size_t agent = 0; agent < agent_count(); ++agent) {
    draw_batch(agent);
    write_all_target_actions();
    update_agent(agent, 0, batch_.current.view());
    if (samplers_[agent]->wants_feedback()) tell_sampler(agent, {squared_errors_.row(agent), options_.batch});
  }
}

void OffPolicyLearner::draw_batch(std::size_t sampler) {
  PhaseClock clock(profile_, 0, PhaseClock::Detail::Cpu);
  samplers_[sampler]->draw(position(), options_.batch, streams_.sampling[sampler], batch_.indices, batch_.weights);
  const std::size_t bytes = replay_.gather(batch_);
  for (Matrix& copy : copies_)
    if (copy.rows() > 0) copy = batch_.current;
  ++batches_;
  clock.lap(Phase::Sampling, bytes);
}

void OffPolicyLearner::tell_sampler(std::size_t sampler, std::span<const float> squared_errors) {
  PhaseClock clock(profile_, 0, PhaseClock::Detail::Cpu);
  samplers_[sampler]->feedback(position(), batch_.indices, squared_errors);
  clock.lap(Phase::Sampling);
}

// a'_j <- g(π'_j(o'_j)) of every agent j, into the action columns of the next rows. Tile by tile, because the rows of a tile
// are larger than an actor.
void OffPolicyLearner::write_all_target_actions() {
  const ParallelSection section(profile_);
  const Representation& representation = replay_.representation();
  threads_.for_each((options_.batch + kTileRows - 1) / kTileRows, [&](std::size_t item, std::size_t thread) {
    PhaseClock clock(profile_, thread, PhaseClock::Detail::Cpu);
    const Tile tile{item * kTileRows, std::min(kTileRows, options_.batch - item * kTileRows)};
    const View rows = batch_.next.row_range(tile.first, tile.count);
    UpdateRoom& room = rooms_[thread];
    for (std::size_t agent = 0; agent < agent_count(); ++agent) {
      const ActionSpace& space = spec_.agents[agent].actions;
      sample_actions(space, networks_[agent].actor.target, forms_.actor_of[agent],
                     representation.observations(agent, rows, room.observations), &streams_.target_actions[agent],
                     first_noise_row() + tile.first, room,
                     rows.column_range(representation.size() + forms_.action_column[agent], space.action_size()));
    }
    clock.lap(Phase::TargetQ);
  });
}

void OffPolicyLearner::update_agent(std::size_t agent, std::size_t thread, View x) {
  PhaseClock clock(profile_, thread, PhaseClock::Detail::Cpu);
  std::span<float> errors;
  if (squared_errors_.rows() > 0) errors = {squared_errors_.row(agent), options_.batch};
  std::ranges::fill(errors, 0.0f);
  AgentUpdate update{.agent = agent,
                     .spec = spec_,
                     .options = options_,
                     .adam = adam_,
                     .representation = replay_.representation(),
                     .batch = batch_,
                     .x = x,
                     .own_column = replay_.representation().size() + forms_.action_column[agent],
                     .networks = networks_[agent],
                     .actor_form = forms_.actor_of[agent],
                     .room = rooms_[thread],
                     .clock = clock,
                     .streams = streams_,
                     .first_noise_row = first_noise_row(),
                     .squared_errors = errors};
  algorithm_.update_agent(update);
  losses_.critic[agent] = update.critic_loss;
  losses_.actor[agent] = update.actor_loss;
}

}  // namespace tilewright
