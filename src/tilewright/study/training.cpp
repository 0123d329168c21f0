#include "tilewright/study/training.hpp"

#include <algorithm>
#include <chrono>

#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/replay.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/train_summary.hpp"
#include "tilewright/study/training_parts.hpp"

namespace tilewright {

struct Training::Parts {
  Parts(RunContext& given, const TrainOptions& asked)
      : context(given), options(asked), profile(given.threads.thread_count(), asked.counters) {}

  RunContext& context;
  TrainOptions options;
  Profile profile;
  World world;
  std::unique_ptr<Learner> learner;
  std::int64_t eval = 0;  // greedy episodes at the end
  std::optional<Trainer> trainer;
  TrainingStudy study;  // with the intervals that earlier processes measured

  std::filesystem::path directory() const { return study.directory; }
};

namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  TrainSettings settings;
  std::int64_t episodes = 0;
  std::int64_t checkpoint_every = kDefaultCheckpointEvery;
  std::int64_t eval = 0;
  std::optional<TrainRecord> recorded;  // what the run directory holds
};

Result<Plan> make_plan(const TrainOptions& options, const RunDirectory* directory) {
  Plan plan;
  if (options.resume && directory == nullptr) return invalid("--resume needs the directory of a run, expected -o DIR");
  const std::string where = directory != nullptr ? (directory->path() / kRunFile).string() : "";
  if (directory != nullptr && !directory->record().empty()) {
    TW_TRY(plan.recorded, train_record_from(directory->record(), where));
  }
  if (options.resume && !plan.recorded) {
    return Error{ErrorCode::NotFound,
                 fmt::format("{}: holds no run to resume, expected run.json in it", directory->path().string())};
  }
  if (!options.settings.world && !options.resume) {
    return invalid("the world is missing, expected its name (tilewright train --list), or --resume -o DIR");
  }
  if (plan.recorded) {
    plan.checkpoint_every = plan.recorded->checkpoint_every;
    plan.eval = plan.recorded->eval;
  }
  plan.checkpoint_every = options.checkpoint_every.value_or(plan.checkpoint_every);
  plan.eval = options.eval.value_or(plan.eval);
  plan.episodes = options.episodes.value_or(options.resume ? plan.recorded->episodes : kDefaultEpisodes);
  plan.settings = options.settings;
  if (plan.recorded) {
    // With --resume only what is given has to agree; otherwise defaults are part of the command too, but for the curve's
    // interval, which follows the number of episodes.
    TrainSettings given = options.settings;
    if (!given.curve_every) given.curve_every = plan.recorded->settings.curve_every;
    if (!options.resume) given = resolve(given, plan.episodes);
    if (const auto difference = first_difference(given, plan.recorded->settings, where)) return *difference;
    plan.settings = plan.recorded->settings;
  }
  plan.settings = resolve(plan.settings, plan.episodes);
  TW_TRY(const Done checked, check(plan.settings));
  return plan;
}

double machine_bytes() { return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)); }

// Every agent sees every other one, so that a few digits can ask for more than any machine has.
Result<Done> check_worlds(const TrainSettings& settings) {
  constexpr double kPerPair = 6 * sizeof(float);  // places, ways and words
  const auto agents = static_cast<double>(settings.agents.value_or(1));
  const double needed = static_cast<double>(*settings.worlds) * agents * agents * kPerPair;
  if (needed <= machine_bytes()) return Done{};
  return invalid(fmt::format("{} worlds of {} agents that see each other take {}B, but the machine has {}B: expected fewer",
                             *settings.worlds, settings.agents.value_or(1), with_prefix(needed),
                             with_prefix(machine_bytes())));
}

// A critic of every agent reads what all of them see and do.
Result<Done> check_networks(const EnvironmentSpec& spec, const TrainSettings& settings) {
  constexpr double kCopies = 8;  // two critics, each with a target, a gradient and two moments
  const double needed = static_cast<double>(spec.agent_count()) *
                        static_cast<double>(spec.observation_size() + spec.action_size()) *
                        static_cast<double>(settings.hidden->front()) * sizeof(float) * kCopies;
  if (needed <= machine_bytes()) return Done{};
  return invalid(
      fmt::format("networks of {} agents take about {}B, but the machine has {}B: expected fewer --agents or "
                  "smaller --hidden layers",
                  spec.agent_count(), with_prefix(needed), with_prefix(machine_bytes())));
}

// A replay memory larger than the machine's would end the run hours later, without a word.
Result<Done> check_memory(Learner& learner, const Plan& plan, const EnvironmentSpec& spec) {
  if (learner.replay() == nullptr) return Done{};
  const double steps = static_cast<double>(plan.episodes) * static_cast<double>(spec.episode_length);
  const double held = std::min(static_cast<double>(learner.replay()->capacity()), steps);
  const double needed = held * static_cast<double>(learner.replay()->bytes_per_transition());
  const double there = machine_bytes();
  if (needed <= there) return Done{};
  const bool smaller_rows = spec.table && learner.replay()->layout() != ReplayLayout::State;
  return invalid(fmt::format("the replay memory would take {}B, but the machine has {}B: expected a smaller --capacity{}",
                             with_prefix(needed), with_prefix(there), smaller_rows ? ", or --layout state" : ""));
}

// Splits what the profile measures into the intervals of the curve.
class IntervalRecorder {
 public:
  IntervalRecorder(const Profile& profile, std::int64_t episodes, std::vector<ProfileInterval>& intervals)
      : profile_(profile), intervals_(intervals), episodes_(episodes), time_(Clock::now()) {}

  void close(std::int64_t episodes) {
    if (episodes == episodes_) return;
    const Clock::time_point now = Clock::now();
    ProfileTotals totals = profile_.totals();
    intervals_.push_back(
        {episodes_, episodes, std::chrono::duration<double>(now - time_).count(), difference(totals, before_)});
    before_ = std::move(totals);
    episodes_ = episodes;
    time_ = now;
  }

 private:
  const Profile& profile_;
  std::vector<ProfileInterval>& intervals_;
  std::int64_t episodes_;
  Clock::time_point time_;
  ProfileTotals before_;
};

constexpr std::array<std::string_view, kPhaseCount> kShortNames = {"env",    "act",    "sample",  "target q",
                                                                   "q loss", "p loss", "targets", "other"};

// The shares of what the phases took since `before`, those that matter.
std::string shares(const ProfileTotals& now, const ProfileTotals& before) {
  std::array<double, kPhaseCount> seconds{};
  double sum = 0;
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    seconds[phase] = now.phases[phase].wall_seconds - before.phases[phase].wall_seconds;
    sum += seconds[phase];
  }
  std::string text;
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    const double share = sum > 0 ? 100 * seconds[phase] / sum : 0;
    if (share >= 0.5) text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : " ", kShortNames[phase], share);
  }
  return text;
}

// How a training stands; its phases are those since the latest time it was told.
class Teller {
 public:
  Teller(const Profile& profile, const TrainingStudy& study) : profile_(profile), study_(study), before_(profile.totals()) {}

  ProgressState operator()(const TrainState& state) {
    const RecentReturns recent = recent_returns(state, *study_.settings.curve_every);
    ProfileTotals totals = profile_.totals();
    const std::string phases = shares(totals, before_);
    before_ = std::move(totals);
    return {.title = {},
            .done = state.episodes,
            .all = study_.episodes,
            .unit = "episodes",
            .words = fmt::format("return {:.4g}{}{}", recent.total, phases.empty() ? "" : " | ", phases),
            .lines = {}};
  }

 private:
  const Profile& profile_;
  const TrainingStudy& study_;
  ProfileTotals before_;
};

Result<Done> write_curves(const TrainingStudy& study, const std::vector<CurvePoint>& curve) {
  const std::filesystem::path directory = study.directory;
  TW_TRY(const Done written, write_file(directory / "curve.csv", curve_csv(study.spec, curve)));
  return write_file(directory / "profile.csv", profile_csv(study.intervals));
}

Result<Done> continue_run(Training::Parts& parts, const Plan& plan, const std::string& inputs) {
  TrainingStudy& study = parts.study;
  TW_TRY(const bool resumed, parts.trainer->resume());
  study.first_episode = parts.trainer->state().episodes;
  if (plan.episodes <= study.first_episode - *study.settings.worlds) {
    return invalid(fmt::format("{}: has {} episodes already, expected --episodes of at least that", study.directory,
                               study.first_episode));
  }
  if (resumed) {
    const Result<std::string> text = read_file(parts.directory() / "profile.csv");
    if (text) study.intervals = read_profile_csv(*text, study.first_episode);
  }
  RunDirectory* directory = parts.context.directory;
  if (directory == nullptr) return Done{};
  const TrainRecord record{study.settings, plan.episodes, plan.checkpoint_every, plan.eval, inputs};
  const bool same = plan.recorded && plan.recorded->episodes == record.episodes && plan.recorded->eval == record.eval &&
                    plan.recorded->checkpoint_every == record.checkpoint_every;
  return directory->begin(same ? directory->record() : train_record_json(study, record));
}

Result<Done> run_trainer(Training::Parts& parts) {
  TrainingStudy& study = parts.study;
  Teller teller(parts.profile, study);
  IntervalRecorder recorder(parts.profile, study.first_episode, study.intervals);
  std::size_t points = parts.trainer->state().curve.size();
  const auto pause = std::chrono::seconds(2);
  Clock::time_point next_write = Clock::now() + pause;
  std::optional<Error> failure;
  const Result<Done> ran = parts.trainer->run([&](const TrainState& state) {
    parts.context.progress.tell([&] { return teller(state); });
    if (state.curve.size() != points) {
      points = state.curve.size();
      recorder.close(state.episodes);
      if (!study.directory.empty() && Clock::now() >= next_write) {  // for those who watch; the end writes everything
        const Result<Done> written = write_curves(study, state.curve);
        if (!written) failure = written.error();
        next_write = Clock::now() + pause;
      }
    }
    return !parts.context.stop.asked() && !failure;
  });
  if (failure) return *failure;
  recorder.close(parts.trainer->state().episodes);
  return ran;
}

// What a trained run is asked for besides: greedy episodes and a picture.
void conclude(Training::Parts& parts) {
  TrainingStudy& study = parts.study;
  study.state = parts.trainer->state();
  study.updates = parts.learner->update_count();
  study.losses = parts.learner->losses();
  study.interrupted = study.state.episodes < study.episodes;
  study.totals = sum_of(study.intervals);
  const ProfileTotals totals = parts.profile.totals();
  study.totals.has_counters = totals.has_counters;
  if (parts.options.counters) study.totals.why_no_counters = totals.why_no_counters;
  if (parts.eval > 0 && !study.interrupted) {
    constexpr std::uint64_t kFirstEvaluation = std::uint64_t{1} << 40;  // far from the episodes of training
    study.eval_episodes = parts.eval;
    study.eval_returns = evaluate_greedily(*parts.world.environment, *parts.learner, parts.eval, kFirstEvaluation);
  }
  if (parts.world.particle != nullptr && (parts.options.drawn || !study.directory.empty())) {
    const std::string title =
        fmt::format("{} after {} episodes", *study.settings.world, with_thousands(study.state.episodes));
    study.animation = render_episode(*parts.world.particle, *parts.learner, title);
  }
}

// World and learner, as the plan wants them.
Result<std::string> make_parts(Training::Parts& parts, const Plan& plan) {
  TrainingStudy& study = parts.study;
  ThreadPool& threads = parts.context.threads;
  TW_TRY(const Done small, check_worlds(study.settings));
  TW_TRY(parts.world, make_world(study.settings));
  study.spec = parts.world.environment->spec();
  if (parts.options.drawn && parts.world.particle == nullptr) {
    return invalid("--render draws particle worlds, expected one instead of a toy game");
  }
  resolve_layout(study.settings, study.spec);
  TW_TRY(const AlgorithmOptions algorithm, algorithm_options(study.settings));
  TW_TRY(const std::string inputs, read_inputs(study.settings));
  if (plan.recorded && plan.recorded->inputs != inputs) {
    return invalid(
        fmt::format("{}: is not the file that the run in {} began with", study.settings.prey->file, study.directory));
  }
  TW_TRY(const Done trainable, check_networks(study.spec, study.settings));
  TW_TRY(parts.learner, make_learner(*study.settings.algorithm, study.spec, algorithm,
                                     static_cast<std::uint64_t>(*study.settings.seed), threads, parts.profile));
  TW_TRY(const Done fits, check_memory(*parts.learner, plan, study.spec));
  return inputs;
}

}  // namespace

Training::Training(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Training::Training(Training&&) noexcept = default;
Training::~Training() = default;

std::int64_t Training::first_episode() const { return parts_->study.first_episode; }

Result<Training> Training::open(const TrainOptions& options, RunContext& context) {
  TrainOptions checked = options;
  TW_TRY(const Done within, check_ranges(options_of(checked)));
  TW_TRY(const Plan plan, make_plan(options, context.directory));
  auto parts = std::make_unique<Parts>(context, options);
  TrainingStudy& study = parts->study;
  study.settings = plan.settings;
  study.episodes = plan.episodes;
  study.command = options.command;
  study.threads = context.threads.thread_count();
  study.processor = processor_name();
  if (context.directory != nullptr) study.directory = context.directory->path().string();
  parts->eval = plan.eval;
  TW_TRY(const std::string inputs, make_parts(*parts, plan));
  TrainerOptions trainer{.episodes = plan.episodes,
                         .curve_every = *study.settings.curve_every,
                         .checkpoint_every = plan.checkpoint_every,
                         .checkpoint_dir = {}};
  if (context.directory != nullptr) trainer.checkpoint_dir = context.directory->path() / "checkpoint";
  parts->trainer.emplace(*parts->world.environment, *parts->learner, parts->profile, trainer);
  TW_TRY(const Done continued, continue_run(*parts, plan, inputs));
  return Training(std::move(parts));
}

Result<TrainingStudy> Training::run() {
  TrainingStudy& study = parts_->study;
  TW_TRY(const Done trained, run_trainer(*parts_));
  conclude(*parts_);
  if (study.directory.empty()) return study;
  study.files = {"run.json", "curve.csv", "profile.csv", "policy.safetensors", "summary.json", "report.html"};
  TW_TRY(const Done curves, write_curves(study, curve_so_far(study.state, study.updates)));
  TW_TRY(const Done policy,
         write_safetensors(parts_->directory() / "policy.safetensors", policy_of(*parts_->learner, study.settings)));
  return study;
}

Result<TrainingStudy> train(const TrainOptions& options, RunContext& context) {
  TW_TRY(Training training, Training::open(options, context));
  return training.run();
}

}  // namespace tilewright
