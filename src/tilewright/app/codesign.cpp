#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/codesign.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

Result<int> codesign_and_tell(const CodesignArguments& arguments) {
  TW_TRY(const CodesignJob job, read_codesign_job(arguments.options));
  const auto start = std::chrono::steady_clock::now();
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  RunContext context{.threads = threads, .stop = listen_for_stop()};  // from here on there is something to keep
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output));
    context.directory = &directory.emplace(std::move(opened));
  }
  ProgressLine line;
  context.progress = line.progress();
  TW_TRY(const CodesignStudy study, codesign(job, arguments.options, context));
  line.end();
  if (directory) {
    TW_TRY([[maybe_unused]] const Done written, write_files(study, job.network, directory->path()));
    TW_TRY([[maybe_unused]] const Done ended, directory->end());
  }
  print(arguments.json ? to_json(study) : to_text(study));
  say(fmt::format("{} measurements in {:.1f} s{}, all in {:.1f} s{}\n", with_thousands(totals_of(study).measurements),
                  study.search_seconds,
                  study.known > 0 ? fmt::format(" ({} points known before)", with_thousands(study.known)) : "",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                  arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output)));
  if (study.interrupted) return kExitInterrupted;
  if (!study.machine) return kExitInfeasible;
  return study.check.executed && !study.check.equal ? kExitDiffers : kExitDone;
}

}  // namespace

int run_codesign(const CodesignArguments& arguments) {
  const CodesignOptions& options = arguments.options;
  const Result<int> code =
      arguments.show_settings ? show_settings(options.search, options.settings) : codesign_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb codesign_verb(const Command& command) {
  const auto arguments = std::make_shared<CodesignArguments>();
  arguments->options.command = command;
  OptionTable table = options_of(arguments->options);
  const OptionTraits run{.group = "Run and results", .recorded = false};
  table.insert(table.end(), {{"show_settings",
                              &arguments->show_settings,
                              "list the hyper-parameters of --search and end",
                              {.flag = "settings", .group = "Search", .recorded = false}},
                             {"output",
                              &arguments->output,
                              "run directory; the same run in it is continued",
                              {.group = run.group, .letter = "o", .recorded = false}},
                             threads_field(arguments->threads, "0 = all", run.group),
                             {"json", &arguments->json, "everything as JSON", run}});
  return {.name = "codesign",
          .summary = "one machine for a network and a schedule for every layer, together",
          .options = std::move(table),
          .footer =
              "Exit codes: 0 done; 2 wrong input; 3 no machine has a schedule for every layer, or a program computes other\n"
              "numbers than the reference; 130 stopped by Ctrl-C, best so far kept.\n" +
              examples_text({{"tilewright codesign zoo:alexnet --layer conv5 --measurements 64 -o runs/conv5",
                              "machine and schedule of a layer, within the default machine's area"},
                             {"tilewright codesign zoo:alexnet --layer conv5 --machine zoo:vta --measurements 64 --optimum",
                              "schedules for a machine that is given, and how far from the best they are"}}),
          .run = [arguments] { return run_codesign(*arguments); }};
}

}  // namespace tilewright
