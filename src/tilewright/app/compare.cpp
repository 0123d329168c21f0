#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/report/comparison.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

OptionTable options_of(CompareArguments& arguments) {
  constexpr std::string_view kRun = "Run and results";
  OptionTable table = options_of(arguments.request);
  const OptionTable ours = {threads_field(arguments.threads, "runs at once; 0 = one per processor", kRun),
                            {"output",
                             &arguments.output,
                             "run directory for compare.json, compare.csv, report.html …; finished runs in it are kept",
                             {.group = kRun, .letter = "o"}},
                            {"json", &arguments.json, "everything as JSON", {.group = kRun}}};
  table.insert(table.end(), ours.begin(), ours.end());
  return table;
}

Result<int> compare_and_tell(const CompareArguments& arguments) {
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  const CompareRequest& request = arguments.request;
  TW_TRY(const AnyJob job, read_any_job(request.inputs, mapping_of(request), threads, plain_comparison()));
  TW_TRY(ComparisonPlan plan, plan_comparison(common(job), request.options, threads));
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {  // before the work, so that hours are not lost to a wrong directory
    constexpr std::string_view kMayHold[] = {"best.csv"};  // of other comparisons
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output, kMayHold));
    TW_TRY(plan.earlier, read_best_file(opened.path() / "best.csv"));
    TW_TRY(const Done begun, opened.begin_or_replace(run_json(request)));
    directory.emplace(std::move(opened));
  }
  ProgressLine line;
  RunContext context{.threads = threads,
                     .directory = directory ? &*directory : nullptr,
                     .progress = line.progress(),
                     .stop = listen_for_stop()};
  TW_TRY(ComparisonStudy study, compare(plan, context));
  line.end();
  study.command = request.command;
  const bool nothing = study.partial && study.finished_runs == 0;
  if (directory) {
    if (!nothing) {
      TW_TRY(const Done written, write_files(study, directory->path()));
    }
    TW_TRY(const Done ended, directory->end());
  }
  if (nothing) {
    say(fmt::format("stopped before the first of {} runs was finished, so there is nothing to compare\n", study.runs));
    return kExitInterrupted;
  }
  print(arguments.json ? to_json(study) : to_text(study));
  if (!arguments.output.empty() && !arguments.json) {
    print(fmt::format("{}: report.html, compare.json, compare.csv, layers.csv, curves.csv, best.csv\n", arguments.output));
  }
  return study.partial ? kExitInterrupted : kExitDone;
}

}  // namespace

int run_compare(const CompareArguments& arguments) {
  const Result<int> code = compare_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb compare_verb(const Command& command) {
  const auto arguments = std::make_shared<CompareArguments>();
  arguments->request.command = command;
  return {
      .name = "compare",
      .summary = "searchers side by side: audited, with intervals",
      .options = options_of(*arguments),
      .footer =
          "Exit codes: 0 done; 2 wrong input; 130 stopped by Ctrl-C, with the results so far; with -o the\n"
          "same command, or tilewright resume DIR, goes on with the runs that are missing.\n" +
          examples_text(
              {{"tilewright compare --network zoo:alexnet --layer conv3 --hardware zoo:gamma-edge --searches gamma,random "
                "--samples 200",
                "two searchers on one layer"},
               {"tilewright compare --network zoo:alexnet --layer conv3 --hardware zoo:gamma-edge --searches agents,random "
                "--budgets 100,200 --seeds 3 -o runs/compared",
                "at two budgets with three seeds each, and a report"}}),
      .run = [arguments] { return run_compare(*arguments); }};
}

}  // namespace tilewright
