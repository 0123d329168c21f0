#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/train_progress.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/particle/trajectory.hpp"
#include "tilewright/report/train_report.hpp"
#include "tilewright/study/stop_signal.hpp"
#include "tilewright/study/train_outputs.hpp"
#include "tilewright/study/train_run.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

int run_replay(const TrainArguments& arguments) {
  const Result<ReplayVerdict> verdict = replay_trajectory(arguments.replay);
  if (!verdict) return report(verdict.error());
  const bool equal = verdict->first_difference.empty();
  if (arguments.json) {
    const Json json{{"scenario", verdict->scenario},
                    {"dialect", verdict->dialect},
                    {"steps", verdict->steps},
                    {"numbers", verdict->numbers},
                    {"equal", equal},
                    {"first_difference", verdict->first_difference}};
    print(fmt::format("{}\n", json.dump(2)));
  } else {
    print(fmt::format("{} ({}): {} steps, {} numbers, {}\n", verdict->scenario, verdict->dialect, verdict->steps,
                      with_thousands(static_cast<std::int64_t>(verdict->numbers)),
                      equal ? "all equal to the last bit" : "the first that differs: " + verdict->first_difference));
  }
  return equal ? kExitDone : kExitDiffers;
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

Result<Done> write_curves(const TrainSummary& summary, const std::vector<CurvePoint>& curve) {
  const std::filesystem::path directory = summary.directory;
  TW_TRY(const Done written, write_file(directory / "curve.csv", curve_csv(summary.spec, curve)));
  return write_file(directory / "profile.csv", profile_csv(summary.intervals));
}

Result<Done> train(TrainRun& training) {
  TrainSummary& summary = training.summary;
  TrainProgress progress(training.profile, summary.first_episode, summary.episodes, *summary.settings.curve_every);
  IntervalRecorder recorder(training.profile, summary.first_episode, summary.intervals);
  std::size_t points = training.trainer->state().curve.size();
  const auto pause = std::chrono::seconds(2);
  Clock::time_point next_write = Clock::now() + pause;
  std::optional<Error> failure;
  const Result<Done> ran = training.trainer->run([&](const TrainState& state) {
    progress.show(state);
    if (state.curve.size() != points) {
      points = state.curve.size();
      recorder.close(state.episodes);
      if (!summary.directory.empty() && Clock::now() >= next_write) {  // for those who watch; the end writes everything
        const Result<Done> written = write_curves(summary, state.curve);
        if (!written) failure = written.error();
        next_write = Clock::now() + pause;
      }
    }
    return !stop_asked() && !failure;
  });
  progress.end();
  if (failure) return *failure;
  recorder.close(training.trainer->state().episodes);
  return ran;
}

// What a trained run is asked for besides: greedy episodes and a picture.
void conclude(TrainRun& training, const TrainArguments& arguments) {
  TrainSummary& summary = training.summary;
  summary.state = training.trainer->state();
  summary.updates = training.learner->update_count();
  summary.losses = training.learner->losses();
  summary.interrupted = summary.state.episodes < summary.episodes;
  summary.totals = sum_of(summary.intervals);
  const ProfileTotals totals = training.profile.totals();
  summary.totals.has_counters = totals.has_counters;
  if (arguments.counters) summary.totals.why_no_counters = totals.why_no_counters;
  if (training.eval > 0 && !summary.interrupted) {
    constexpr std::uint64_t kFirstEvaluation = std::uint64_t{1} << 40;  // far from the episodes of training
    summary.eval_episodes = training.eval;
    summary.eval_returns =
        evaluate_greedily(*training.world.environment, *training.learner, training.eval, kFirstEvaluation);
  }
  if (training.world.particle != nullptr && (!arguments.render.empty() || !summary.directory.empty())) {
    const std::string title =
        fmt::format("{} after {} episodes", *summary.settings.world, with_thousands(summary.state.episodes));
    summary.animation = render_episode(*training.world.particle, *training.learner, title);
  }
}

Result<Done> write_outputs(TrainRun& training, const TrainArguments& arguments) {
  TrainSummary& summary = training.summary;
  if (!arguments.render.empty()) {
    TW_TRY(const Done drawn, write_file(arguments.render, summary.animation));
  }
  if (summary.directory.empty()) return Done{};
  const std::filesystem::path directory = summary.directory;
  summary.files = {"run.json", "curve.csv", "profile.csv", "policy.safetensors", "summary.json", "report.html"};
  TW_TRY(const Done curves, write_curves(summary, curve_so_far(summary.state, summary.updates)));
  TW_TRY(const Done policy,
         write_safetensors(directory / "policy.safetensors", policy_of(*training.learner, summary.settings)));
  TW_TRY(const Done json, write_file(directory / "summary.json", summary_as_json(summary)));
  TW_TRY(const Done report, write_file(directory / "report.html", report_as_html(summary)));
  return training.directory->end();
}

Result<int> train_and_tell(const TrainArguments& arguments) {
  TW_TRY(const std::unique_ptr<TrainRun> training, open_run(arguments));
  const TrainSummary& summary = training->summary;
  if (summary.first_episode > 0) {
    say(fmt::format("{}: goes on after {} episodes\n", summary.directory, with_thousands(summary.first_episode)));
  }
  listen_for_stop();
  TW_TRY(const Done trained, train(*training));
  conclude(*training, arguments);
  TW_TRY(const Done written, write_outputs(*training, arguments));

  print(arguments.json ? summary_as_json(summary) : summary_as_text(summary));
  if (!arguments.json && !summary.directory.empty()) print(fmt::format("\n{}/report.html\n", summary.directory));
  if (!summary.interrupted) return kExitDone;
  say(fmt::format("stopped after {} of {} episodes; {}\n", with_thousands(summary.state.episodes),
                  with_thousands(summary.episodes),
                  summary.directory.empty() ? "nothing was saved: with -o DIR a run can be continued"
                                            : "continue with: tilewright train --resume -o " + summary.directory));
  return kExitInterrupted;
}

}  // namespace

int run_train(const TrainArguments& arguments) {
  if (arguments.list) {
    print(arguments.json ? list_as_json().dump(2) + "\n" : list_as_text());
    return kExitDone;
  }
  if (!arguments.replay.empty()) return run_replay(arguments);
  for (const auto& [option, episodes] :
       {std::pair("--checkpoint-every", arguments.checkpoint_every), {"--eval", arguments.eval}}) {
    if (episodes && (*episodes < 0 || *episodes > kMostEpisodes)) {
      return report(invalid(fmt::format("{} is {}, expected 0 to {}", option, *episodes, kMostEpisodes)));
    }
  }
  const Result<int> code = train_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb train_verb(const Command& command) {
  const auto arguments = std::make_shared<TrainArguments>();
  arguments->command = command;
  return {.name = "train",
          .summary = "teach teams of agents in particle worlds and toy games",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_train(*arguments); },
          .add = [arguments](CLI::App& verb) { add_train_options(verb, *arguments); }};
}

}  // namespace tilewright
