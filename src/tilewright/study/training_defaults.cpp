// What settings are when nobody says, and what they make of worlds and learners.
#include <algorithm>

#include <fmt/format.h>

#include "tilewright/study/training_parts.hpp"

namespace tilewright {
namespace {

template <typename T>
void fill(std::optional<T>& setting, T value) {
  if (!setting) setting = std::move(value);
}

std::int64_t as_count(std::size_t value) { return static_cast<std::int64_t>(value); }
std::size_t as_size(const std::optional<std::int64_t>& value) { return static_cast<std::size_t>(*value); }

// A round number that gives a run about twenty points or more.
std::int64_t default_curve_every(std::int64_t episodes) {
  std::int64_t every = 1;
  for (std::int64_t decade = 1; decade <= 1'000; decade *= 10) {
    for (const std::int64_t candidate : {decade, 2 * decade, 5 * decade}) {
      if (candidate <= std::min<std::int64_t>(1'000, episodes / 20)) every = candidate;
    }
  }
  return every;
}

}  // namespace

TrainSettings resolve(TrainSettings s, std::int64_t episodes) {
  fill(s.algorithm, Algorithm::Maddpg);
  fill(s.worlds, std::int64_t{1});
  fill(s.seed, std::int64_t{1});
  if (!is_toy(s)) {
    const ParticleOptions particle;
    fill(s.dialect, particle.dialect);
    fill(s.contacts, particle.contacts);
    fill(s.episode_length, as_count(particle.episode_length));
  }
  if (s.world == "simple_tag") fill(s.prey, Prey{});
  const OffPolicyOptions off_policy;
  const PpoOptions ppo;
  const bool on_policy = is_on_policy(*s.algorithm);
  const auto& hidden = on_policy ? ppo.hidden : off_policy.hidden;
  fill(s.hidden, hidden);
  fill(s.learning_rate, on_policy ? ppo.learning_rate : off_policy.learning_rate);
  fill(s.gamma, on_policy ? ppo.gamma : off_policy.gamma);
  fill(s.clip_norm, on_policy ? ppo.max_gradient_norm : off_policy.clip);
  if (on_policy) {
    fill(s.entropy, ppo.entropy_bonus);
    fill(s.activation, ppo.activation);
    fill(s.rollout, as_count(ppo.rollout));
    fill(s.epochs, as_count(ppo.epochs));
    fill(s.minibatches, as_count(ppo.minibatches));
    fill(s.gae_lambda, ppo.gae_lambda);
    fill(s.clip_ratio, ppo.clip);
  } else {
    fill(s.sampler, off_policy.sampler);
    fill(s.semantics, off_policy.semantics);
    fill(s.capacity, as_count(off_policy.capacity));
    fill(s.batch, as_count(off_policy.batch));
    fill(s.warm_up, as_count(off_policy.warm_up));
    fill(s.update_every, as_count(off_policy.update_every));
    fill(s.tau, off_policy.tau);
  }
  if (s.algorithm == Algorithm::Maddpg) fill(s.logit_penalty, off_policy.logit_penalty);
  if (s.algorithm == Algorithm::Masac) {
    fill(s.entropy, off_policy.entropy);
    fill(s.entropy_form, EntropyForm::PerSample);
  }
  fill(s.curve_every, default_curve_every(episodes));
  return s;
}

void resolve_layout(TrainSettings& settings, const EnvironmentSpec& spec) {
  if (!settings.sampler) return;  // an on-policy learner
  fill(settings.layout, spec.table ? ReplayLayout::State : ReplayLayout::Joint);
}

ParticleOptions particle_options(const TrainSettings& settings) {
  ParticleOptions options;
  options.scenario = *settings.world;
  options.dialect = *settings.dialect;
  options.contacts = *settings.contacts;
  options.agents = as_size(settings.agents.value_or(0));
  options.episode_length = as_size(settings.episode_length);
  options.worlds = as_size(settings.worlds);
  options.seed = static_cast<std::uint64_t>(*settings.seed);
  if (settings.prey) {
    options.prey_controller = settings.prey->controller;
    options.prey_network = settings.prey->file;
    options.prey = as_size(settings.prey_count.value_or(0));
    options.obstacles = as_size(settings.obstacles.value_or(0));
  }
  return options;
}

Result<AlgorithmOptions> algorithm_options(const TrainSettings& settings) {
  AlgorithmOptions options;
  if (!settings.sampler) {
    PpoOptions& ppo = options.ppo;
    ppo.hidden = *settings.hidden;
    ppo.activation = *settings.activation;
    ppo.rollout = as_size(settings.rollout);
    ppo.epochs = as_size(settings.epochs);
    ppo.minibatches = as_size(settings.minibatches);
    ppo.learning_rate = *settings.learning_rate;
    ppo.gamma = *settings.gamma;
    ppo.gae_lambda = *settings.gae_lambda;
    ppo.clip = *settings.clip_ratio;
    ppo.entropy_bonus = *settings.entropy;
    ppo.max_gradient_norm = *settings.clip_norm;
    return options;
  }
  OffPolicyOptions& off_policy = options.off_policy;
  off_policy.semantics = *settings.semantics;
  off_policy.layout = *settings.layout;
  off_policy.sampler = *settings.sampler;
  off_policy.hidden = *settings.hidden;
  off_policy.capacity = as_size(settings.capacity);
  off_policy.batch = as_size(settings.batch);
  off_policy.warm_up = as_size(settings.warm_up);
  off_policy.update_every = as_size(settings.update_every);
  if (off_policy.warm_up > off_policy.capacity) {
    return invalid(
        fmt::format("--warm-up is {}, expected at most --capacity, which is {}", off_policy.warm_up, off_policy.capacity));
  }
  off_policy.learning_rate = *settings.learning_rate;
  off_policy.gamma = *settings.gamma;
  off_policy.tau = *settings.tau;
  off_policy.clip = *settings.clip_norm;
  if (settings.logit_penalty) off_policy.logit_penalty = *settings.logit_penalty;
  if (settings.entropy) off_policy.entropy = *settings.entropy;
  off_policy.entropy_batch_mean = settings.entropy_form == EntropyForm::BatchMean;
  return options;
}

}  // namespace tilewright
