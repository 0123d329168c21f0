// The settings of a training run: what they are called, what they may be, and how they are written down and read again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/marl/algorithms.hpp"
#include "tilewright/particle/particle_environment.hpp"

namespace tilewright {

// Settings decide every bit of the result: run.json records them under the names of their options. Each is empty until it is
// given or resolve() has filled it in; those of other worlds and algorithms stay empty.
struct TrainSettings {
  std::optional<std::string> world, algorithm;
  std::optional<std::int64_t> agents, worlds, seed;
  // particle worlds
  std::optional<std::string> dialect, contacts;
  std::optional<std::int64_t> episode_length;
  // simple_tag
  std::optional<std::string> prey;
  std::optional<std::int64_t> prey_count, obstacles;
  // all learners
  std::optional<std::string> hidden;
  std::optional<double> learning_rate, gamma, clip_norm;
  // off-policy learners
  std::optional<std::string> sampler, layout, semantics, entropy_form;
  std::optional<std::int64_t> capacity, batch, warm_up, update_every;
  std::optional<double> tau, logit_penalty, entropy;
  // on-policy learners
  std::optional<std::string> activation;
  std::optional<std::int64_t> rollout, epochs, minibatches;
  std::optional<double> gae_lambda, clip_ratio;
  std::optional<std::int64_t> curve_every;
};

inline constexpr std::int64_t kDefaultEpisodes = 25'000;
inline constexpr std::int64_t kMostEpisodes = 1'000'000'000'000;  // their steps stay within 64 bits

// Of settings with a world and an algorithm: an Error when one is out of range or belongs to another world or algorithm than
// the one chosen.
Result<Done> check(const TrainSettings& settings);

// Fills in every default that depends on nothing but the names and numbers given.
TrainSettings resolve(TrainSettings settings, std::int64_t episodes);

// Of resolved settings. The layout is the only one that the environment decides: state where it has a table.
void resolve_layout(TrainSettings& settings, const EnvironmentSpec& spec);
Result<ParticleOptions> particle_options(const TrainSettings& settings);
Result<AlgorithmOptions> algorithm_options(const TrainSettings& settings);

// As run.json keeps them, and back. Unknown names and other types are Errors that begin with `where`.
nlohmann::ordered_json to_json(const TrainSettings& settings);
Result<TrainSettings> settings_from_json(const nlohmann::ordered_json& json, const std::string& where);

// "--gamma is 0.9, but 0.95 in DIR/run.json": the first setting that was given and differs from the recorded one.
std::optional<Error> first_difference(const TrainSettings& given, const TrainSettings& recorded, const std::string& where);

bool is_toy(const TrainSettings& settings);

}  // namespace tilewright
