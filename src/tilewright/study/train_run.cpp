#include "tilewright/study/train_run.hpp"

#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/replay.hpp"

namespace tilewright {
namespace {

struct Plan {
  TrainSettings settings;
  std::int64_t episodes = 0;
  std::int64_t checkpoint_every = kDefaultCheckpointEvery;
  std::int64_t eval = 0;
  std::optional<RunRecord> recorded;  // what the run directory holds
};

Result<Plan> make_plan(const TrainArguments& arguments) {
  Plan plan;
  if (arguments.resume && arguments.output.empty()) {
    return invalid("--resume needs the directory of a run, expected -o DIR");
  }
  if (!arguments.output.empty()) {
    TW_TRY(plan.recorded, read_run_json(arguments.output));
  }
  if (arguments.resume && !plan.recorded) {
    return Error{ErrorCode::NotFound, fmt::format("{}: holds no run to resume, expected run.json in it", arguments.output)};
  }
  if (!arguments.settings.world && !arguments.resume) {
    return invalid("the world is missing, expected its name (tilewright train --list), or --resume -o DIR");
  }
  if (plan.recorded) {
    plan.checkpoint_every = plan.recorded->checkpoint_every;
    plan.eval = plan.recorded->eval;
  }
  plan.checkpoint_every = arguments.checkpoint_every.value_or(plan.checkpoint_every);
  plan.eval = arguments.eval.value_or(plan.eval);
  plan.episodes = arguments.episodes.value_or(arguments.resume ? plan.recorded->episodes : kDefaultEpisodes);
  if (plan.episodes < 1 || plan.episodes > kMostEpisodes) {
    return invalid(fmt::format("--episodes is {}, expected 1 to {}", plan.episodes, kMostEpisodes));
  }

  plan.settings = arguments.settings;
  if (plan.recorded) {
    // With --resume only what is given has to agree; otherwise defaults are part of the command too, but for the curve's
    // interval, which follows the number of episodes.
    TrainSettings given = arguments.settings;
    if (!given.curve_every) given.curve_every = plan.recorded->settings.curve_every;
    if (!arguments.resume) given = resolve(given, plan.episodes);
    const std::string where = (std::filesystem::path(arguments.output) / "run.json").string();
    if (const auto difference = first_difference(given, plan.recorded->settings, where)) return *difference;
    plan.settings = plan.recorded->settings;
  }
  plan.settings = resolve(plan.settings, plan.episodes);
  TW_TRY(const Done checked, check(plan.settings));
  return plan;
}

Result<Done> check_render(const std::string& file, const World& world) {
  if (file.empty()) return Done{};
  if (world.particle == nullptr) return invalid("--render draws particle worlds, expected one instead of a toy game");
  std::error_code status;
  if (std::filesystem::is_directory(std::filesystem::absolute(file).parent_path(), status)) return Done{};
  return Error{ErrorCode::NotFound, fmt::format("--render {}: no such folder", file)};
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
  const std::optional<std::int64_t> width = parse_integer(split(*settings.hidden, ',').front());
  const double needed = static_cast<double>(spec.agent_count()) *
                        static_cast<double>(spec.observation_size() + spec.action_size()) *
                        static_cast<double>(width.value_or(1)) * sizeof(float) * kCopies;
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

// Under the lock nobody else can begin a run here; what was read of run.json before must be what is there now.
Result<Done> open_directory(TrainRun& training, const Plan& plan) {
  TW_TRY(RunDirectory directory, RunDirectory::open(training.summary.directory));
  if (directory.record() != (plan.recorded ? plan.recorded->text : "")) {
    return Error{ErrorCode::Io,
                 fmt::format("{}: another process has begun or changed a run in it meanwhile, expected one at "
                             "a time",
                             directory.path().string())};
  }
  training.directory.emplace(std::move(directory));
  return Done{};
}

Result<Done> continue_run(TrainRun& training, const Plan& plan, const std::string& inputs) {
  TrainSummary& summary = training.summary;
  const std::filesystem::path directory = summary.directory;
  TW_TRY(const bool resumed, training.trainer->resume());
  summary.first_episode = training.trainer->state().episodes;
  if (plan.episodes <= summary.first_episode - *summary.settings.worlds) {
    return invalid(fmt::format("{}: has {} episodes already, expected --episodes of at least that", summary.directory,
                               summary.first_episode));
  }
  if (resumed) {
    const Result<std::string> text = read_file(directory / "profile.csv");
    if (text) summary.intervals = read_profile_csv(*text, summary.first_episode);
  }
  if (!training.directory) return Done{};
  RunRecord record{summary.settings, plan.episodes, plan.checkpoint_every, plan.eval, inputs, {}};
  const bool same = plan.recorded && plan.recorded->episodes == record.episodes && plan.recorded->eval == record.eval &&
                    plan.recorded->checkpoint_every == record.checkpoint_every;
  return training.directory->begin(same ? plan.recorded->text : run_json(summary, record));
}

}  // namespace

Result<std::unique_ptr<TrainRun>> open_run(const TrainArguments& arguments) {
  TW_TRY(const Plan plan, make_plan(arguments));
  auto training = std::make_unique<TrainRun>(static_cast<std::size_t>(arguments.threads), arguments.counters);
  TrainSummary& summary = training->summary;
  summary.settings = plan.settings;
  summary.episodes = plan.episodes;
  training->eval = plan.eval;
  summary.command = arguments.command;
  summary.threads = training->threads.thread_count();
  summary.processor = processor_name();
  summary.directory = arguments.output;

  TW_TRY(const Done small, check_worlds(summary.settings));
  TW_TRY(training->world, make_world(summary.settings));
  Environment& environment = *training->world.environment;
  summary.spec = environment.spec();
  TW_TRY(const Done drawable, check_render(arguments.render, training->world));
  resolve_layout(summary.settings, summary.spec);
  TW_TRY(const AlgorithmOptions algorithm, algorithm_options(summary.settings));
  TW_TRY(const std::string inputs, read_inputs(summary.settings));
  if (plan.recorded && plan.recorded->inputs != inputs) {
    return invalid(
        fmt::format("{}: is not the file that the run in {} began with", *summary.settings.prey, arguments.output));
  }
  TW_TRY(const Done trainable, check_networks(summary.spec, summary.settings));
  TW_TRY(training->learner,
         make_learner(*summary.settings.algorithm, summary.spec, algorithm,
                      static_cast<std::uint64_t>(*summary.settings.seed), training->threads, training->profile));
  TW_TRY(const Done fits, check_memory(*training->learner, plan, summary.spec));

  TrainerOptions options{.episodes = plan.episodes,
                         .curve_every = *summary.settings.curve_every,
                         .checkpoint_every = plan.checkpoint_every,
                         .checkpoint_dir = {}};
  if (!summary.directory.empty()) {
    TW_TRY(const Done opened, open_directory(*training, plan));
    options.checkpoint_dir = std::filesystem::path(summary.directory) / "checkpoint";
  }
  training->trainer.emplace(environment, *training->learner, training->profile, options);
  TW_TRY(const Done continued, continue_run(*training, plan, inputs));
  return training;
}

}  // namespace tilewright
