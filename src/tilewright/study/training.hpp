// Teams of agents that learn in particle worlds and toy games.
//
//   TrainOptions options;
//   options.settings.world = "simple_spread";
//   TW_TRY(const TrainingStudy study, train(options, context));
//
// With a run directory the training is checkpointed there, and the same training in it goes on. What the directory holds:
//
//   run.json             how the run was started: command line, settings, world, inputs, version; checksums of the rest
//   checkpoint/          see marl/checkpoint.hpp
//   curve.csv            the learning curve; the same bytes for any number of threads and interruptions
//   profile.csv          the phases of every interval of the curve
//   summary.json         what `--json` prints
//   policy.safetensors   the actors; the same bytes likewise
//   report.html          all of it for people
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/profile.hpp"
#include "tilewright/marl/trainer.hpp"
#include "tilewright/particle/particle_environment.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright {

enum class EntropyForm { PerSample, BatchMean };
template <>
struct Names<EntropyForm> {
  static constexpr std::string_view kWhat = "entropy form";
  static constexpr NameTable<EntropyForm, 2> kTable = {
      {{EntropyForm::PerSample, "per-sample"}, {EntropyForm::BatchMean, "batch-mean"}}};
};

// Who moves the prey of simple_tag: a controller, or the policy of a file.
struct Prey {
  PreyController controller = PreyController::Random;
  std::string file;  // of PreyController::Network
};

// Settings decide every bit of the result: run.json records them under the names of their options. Each is empty until it is
// given or resolve() has filled it in; those of other worlds and algorithms stay empty.
struct TrainSettings {
  std::optional<std::string> world;  // as --list has them: the particle worlds and the toy games have tables of their own
  std::optional<Algorithm> algorithm;
  std::optional<std::int64_t> agents, worlds, seed;
  // particle worlds
  std::optional<Dialect> dialect;
  std::optional<Contacts> contacts;
  std::optional<std::int64_t> episode_length;
  // simple_tag
  std::optional<Prey> prey;
  std::optional<std::int64_t> prey_count, obstacles;
  // all learners
  std::optional<std::vector<std::size_t>> hidden;  // sizes of the hidden layers
  std::optional<double> learning_rate, gamma, clip_norm;
  // off-policy learners
  std::optional<SamplerSpec> sampler;
  std::optional<ReplayLayout> layout;
  std::optional<Semantics> semantics;
  std::optional<EntropyForm> entropy_form;
  std::optional<std::int64_t> capacity, batch, warm_up, update_every;
  std::optional<double> tau, logit_penalty, entropy;
  // on-policy learners
  std::optional<Activation> activation;
  std::optional<std::int64_t> rollout, epochs, minibatches;
  std::optional<double> gae_lambda, clip_ratio;
  std::optional<std::int64_t> curve_every;
};
OptionTable options_of(TrainSettings& settings);

inline constexpr std::int64_t kDefaultEpisodes = 25'000;
inline constexpr std::int64_t kDefaultCheckpointEvery = 5'000;
inline constexpr std::int64_t kMostEpisodes = 1'000'000'000'000;  // their steps stay within 64 bits

struct TrainOptions {
  TrainSettings settings;
  std::optional<std::int64_t> episodes;
  std::optional<std::int64_t> checkpoint_every;  // nothing = as the run began, or kDefaultCheckpointEvery
  std::optional<std::int64_t> eval;              // greedy episodes at the end; nothing = as the run began, or none
  bool resume = false;                           // the settings are those of the run in the directory
  bool counters = false;                         // of cache and TLB misses
  bool drawn = false;                            // an episode at the end, also where nothing is kept
  std::vector<std::string> command;              // as which it was asked for
};
OptionTable options_of(TrainOptions& options);  // those of its settings included

// Of settings with a world and an algorithm: an Error when one is out of range or belongs to another world or algorithm than
// the one chosen.
Result<Done> check(const TrainSettings& settings);
// Fills in every default that depends on nothing but the names and numbers given.
TrainSettings resolve(TrainSettings settings, std::int64_t episodes);
bool is_toy(const TrainSettings& settings);

// The phases between two points of the curve, as one process measured them.
struct ProfileInterval {
  std::int64_t first = 0, last = 0;  // episodes done before and after
  double seconds = 0;                // that passed
  std::array<PhaseTotals, kPhaseCount> phases;
};

struct TrainingStudy {
  TrainSettings settings;
  EnvironmentSpec spec;
  std::vector<std::string> command;
  std::size_t threads = 1;
  std::string processor;  // its name
  TrainState state;
  std::int64_t episodes = 0;       // asked for
  std::int64_t first_episode = 0;  // where this process went on
  std::int64_t updates = 0;
  bool interrupted = false;
  Losses losses;
  std::vector<ProfileInterval> intervals;  // of all processes that worked on the run
  ProfileTotals totals;                    // their sum
  std::int64_t eval_episodes = 0;
  std::vector<double> eval_returns;  // each agent's mean
  std::string animation;             // an SVG; empty when the world cannot be drawn
  std::string directory;             // empty = nothing was written
  std::vector<std::string> files;    // in the directory
};

// A training that is ready to run: its settings are those of the run directory if that holds a run, and its checkpoint is
// loaded. Settings that are wrong or differ from the run's are Errors.
class Training {
 public:
  static Result<Training> open(const TrainOptions& options, RunContext& context);
  Training(Training&&) noexcept;
  ~Training();

  std::int64_t first_episode() const;  // where it goes on
  // Until the episodes are done or the context says stop, with everything saved either way.
  Result<TrainingStudy> run();

  struct Parts;  // of training.cpp

 private:
  explicit Training(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};
Result<TrainingStudy> train(const TrainOptions& options, RunContext& context);

// tilewright-train-1.
std::string to_json(const TrainingStudy& study);

}  // namespace tilewright
