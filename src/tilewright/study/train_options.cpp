#include "tilewright/study/train_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"

namespace tilewright {
namespace {

Result<std::vector<std::size_t>> parse_hidden(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    const auto size = parse_integer(trim(part));
    if (!size || *size < 1 || *size > 65'536) {
      return invalid(fmt::format("--hidden is {}, expected layer sizes like 64,64", in_quotes(text)));
    }
    sizes.push_back(static_cast<std::size_t>(*size));
  }
  return sizes;
}

Result<std::size_t> choice(std::string_view option, const std::string& text, const std::vector<std::string>& choices) {
  const auto found = std::ranges::find(choices, text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  return invalid(
      fmt::format("--{} is {}{}, expected {}", option, in_quotes(text), did_you_mean(text, choices), join(choices, " or ")));
}

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
  fill(s.algorithm, std::string("maddpg"));
  fill(s.worlds, std::int64_t{1});
  fill(s.seed, std::int64_t{1});
  if (!is_toy(s)) {
    const ParticleOptions particle;
    fill(s.dialect, std::string("openai"));
    fill(s.contacts, std::string("fast"));
    fill(s.episode_length, as_count(particle.episode_length));
  }
  if (s.world == "simple_tag") {
    fill(s.prey, std::string("random"));
  }
  const OffPolicyOptions off_policy;
  const PpoOptions ppo;
  const bool on_policy = s.algorithm == "ippo" || s.algorithm == "mappo";
  const auto& hidden = on_policy ? ppo.hidden : off_policy.hidden;
  fill(s.hidden, fmt::format("{}", fmt::join(hidden, ",")));
  fill(s.learning_rate, on_policy ? ppo.learning_rate : off_policy.learning_rate);
  fill(s.gamma, on_policy ? ppo.gamma : off_policy.gamma);
  fill(s.clip_norm, on_policy ? ppo.max_gradient_norm : off_policy.clip);
  if (on_policy) {
    fill(s.entropy, ppo.entropy_bonus);
    fill(s.activation, std::string(ppo.activation == Activation::Relu ? "relu" : "tanh"));
    fill(s.rollout, as_count(ppo.rollout));
    fill(s.epochs, as_count(ppo.epochs));
    fill(s.minibatches, as_count(ppo.minibatches));
    fill(s.gae_lambda, ppo.gae_lambda);
    fill(s.clip_ratio, ppo.clip);
  } else {
    fill(s.sampler, to_string(off_policy.sampler));
    fill(s.semantics, std::string(to_string(off_policy.semantics)));
    fill(s.capacity, as_count(off_policy.capacity));
    fill(s.batch, as_count(off_policy.batch));
    fill(s.warm_up, as_count(off_policy.warm_up));
    fill(s.update_every, as_count(off_policy.update_every));
    fill(s.tau, off_policy.tau);
  }
  if (s.algorithm == "maddpg") fill(s.logit_penalty, off_policy.logit_penalty);
  if (s.algorithm == "masac") {
    fill(s.entropy, off_policy.entropy);
    fill(s.entropy_form, std::string("per-sample"));
  }
  fill(s.curve_every, default_curve_every(episodes));
  return s;
}

void resolve_layout(TrainSettings& settings, const EnvironmentSpec& spec) {
  if (!settings.sampler) return;  // an on-policy learner
  fill(settings.layout, std::string(to_string(spec.table ? ReplayLayout::State : ReplayLayout::Joint)));
}

Result<ParticleOptions> particle_options(const TrainSettings& settings) {
  ParticleOptions options;
  options.scenario = *settings.world;
  TW_TRY(options.dialect, parse_dialect(*settings.dialect));
  TW_TRY(const std::size_t contacts, choice("contacts", *settings.contacts, {"exact", "fast"}));
  options.contacts = contacts == 0 ? Contacts::Exact : Contacts::Fast;
  options.agents = as_size(settings.agents.value_or(0));
  options.episode_length = as_size(settings.episode_length);
  options.worlds = as_size(settings.worlds);
  options.seed = static_cast<std::uint64_t>(*settings.seed);
  if (settings.prey) {
    TW_TRY(options.prey_controller, parse_prey(*settings.prey));
    if (options.prey_controller == PreyController::Network) options.prey_network = *settings.prey;
    options.prey = as_size(settings.prey_count.value_or(0));
    options.obstacles = as_size(settings.obstacles.value_or(0));
  }
  return options;
}

Result<AlgorithmOptions> algorithm_options(const TrainSettings& settings) {
  AlgorithmOptions options;
  TW_TRY(const std::vector<std::size_t> hidden, parse_hidden(*settings.hidden));
  if (!settings.sampler) {
    PpoOptions& ppo = options.ppo;
    ppo.hidden = hidden;
    TW_TRY(const std::size_t activation, choice("activation", *settings.activation, {"relu", "tanh"}));
    ppo.activation = activation == 0 ? Activation::Relu : Activation::Tanh;
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
  TW_TRY(off_policy.semantics, parse_semantics(*settings.semantics));
  TW_TRY(off_policy.layout, parse_layout(*settings.layout));
  TW_TRY(off_policy.sampler, parse_sampler(*settings.sampler));
  off_policy.hidden = hidden;
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
  if (settings.entropy_form) {
    TW_TRY(const std::size_t form, choice("entropy-form", *settings.entropy_form, {"per-sample", "batch-mean"}));
    off_policy.entropy_batch_mean = form == 1;
  }
  return options;
}

}  // namespace tilewright
