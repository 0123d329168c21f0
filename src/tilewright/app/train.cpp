#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/particle/trajectory.hpp"
#include "tilewright/report/training.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

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

Result<Done> check_render(const std::string& file) {
  std::error_code status;
  if (file.empty() || std::filesystem::is_directory(std::filesystem::absolute(file).parent_path(), status)) return Done{};
  return Error{ErrorCode::NotFound, fmt::format("--render {}: no such folder", file)};
}

Result<int> train_and_tell(const TrainArguments& arguments) {
  TW_TRY(const Done fine, check_render(arguments.render));
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  RunContext context{.threads = threads};
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output));
    context.directory = &directory.emplace(std::move(opened));
  }
  TrainOptions options = arguments.options;
  options.drawn = !arguments.render.empty();
  TW_TRY(Training training, Training::open(options, context));
  if (training.first_episode() > 0) {
    say(fmt::format("{}: goes on after {} episodes\n", arguments.output, with_thousands(training.first_episode())));
  }
  ProgressLine line;
  context.progress = line.progress();
  context.stop = listen_for_stop();
  TW_TRY(const TrainingStudy study, training.run());
  line.end();
  if (!arguments.render.empty()) {
    TW_TRY(const Done drawn, write_file(arguments.render, study.animation));
  }
  if (directory) {
    TW_TRY(const Done written, write_files(study, directory->path()));
    TW_TRY(const Done ended, directory->end());
  }
  print(arguments.json ? to_json(study) : to_text(study));
  if (!arguments.json && directory) print(fmt::format("\n{}/report.html\n", arguments.output));
  if (!study.interrupted) return kExitDone;
  say(fmt::format("stopped after {} of {} episodes; {}\n", with_thousands(study.state.episodes),
                  with_thousands(study.episodes),
                  directory ? "continue with: tilewright train --resume -o " + arguments.output
                            : std::string("nothing was saved: with -o DIR a run can be continued")));
  return kExitInterrupted;
}

}  // namespace

int run_train(const TrainArguments& arguments) {
  if (arguments.list) {
    print(arguments.json ? to_json(train_choices()) : to_text(train_choices()));
    return kExitDone;
  }
  if (!arguments.replay.empty()) return run_replay(arguments);
  const Result<int> code = train_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb train_verb(const Command& command) {
  const auto arguments = std::make_shared<TrainArguments>();
  arguments->options.command = command;
  OptionTable table = options_of(arguments->options);
  const OptionTraits run{.group = "Run and results", .recorded = false};
  table.insert(
      table.end(),
      {{"list", &arguments->list, "worlds, algorithms, samplers and layouts, one line each", {.recorded = false}},
       {"output",
        &arguments->output,
        "run directory; a run of the same settings in it is continued",
        {.group = run.group, .letter = "o", .recorded = false}},
       {"render", &arguments->render, "draw a greedy episode into this file: an SVG that moves", run},
       {"replay", &arguments->replay, "instead of training, step a recorded trajectory and compare every number", run},
       threads_field(arguments->threads, "0 = all", run.group),
       {"json", &arguments->json, "everything as JSON", run}});
  return {
      .name = "train",
      .summary = "teach teams of agents in particle worlds and toy games",
      .options = std::move(table),
      .footer =
          "Exit codes: 0 done; 2 wrong input; 3 a replayed trajectory differs; 130 stopped by Ctrl-C, and with -o saved.\n" +
          examples_text(
              {{"tilewright train simple_spread --agents 3 --episodes 200 -o runs/spread",
                "a short training; 25000 episodes are usual"},
               {"tilewright train toy:climbing --algorithm mappo --episodes 500", "a game whose best play is known"}}),
      .run = [arguments] { return run_train(*arguments); }};
}

}  // namespace tilewright
