#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/train_progress.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/compare_command.hpp"
#include "tilewright/study/compare_result.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

using namespace std::chrono_literals;

// One line that is rewritten on a terminal, a line every few seconds elsewhere.
class CompareProgress {
 public:
  CompareProgress()
      : terminal_(isatty(STDERR_FILENO) != 0), start_(Clock::now()), next_(start_ + (terminal_ ? 200ms : 2s)) {}

  void show(const CompareStatus& status) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? 200ms : 5s);
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(status.samples) / seconds;
    std::string text =
        fmt::format("{} of {} runs, {} of {} samples, {}/s, {} left", with_thousands(status.runs),
                    with_thousands(status.all_runs), with_prefix(static_cast<double>(status.samples)),
                    with_prefix(static_cast<double>(status.all_samples)), with_prefix(std::round(rate)),
                    clock_text(static_cast<double>(status.all_samples - status.samples) / std::max(rate, 1e-9)));
    if (terminal_) {
      winsize size{};
      const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
      text = "\r" + text.substr(0, known ? size.ws_col - 1U : 79U) + "\x1b[K";
    } else {
      text += "\n";
    }
    say(text);
    shown_ = true;
  }

  void end() const {
    if (terminal_ && shown_) say("\r\x1b[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

Result<Done> write_results(const CompareResult& result, std::vector<KnownBest> best,
                           const std::filesystem::path& directory) {
  for (const ComparedLayer& layer : result.layers) {
    if (layer.best) keep_better(best, *layer.best);
  }
  TW_TRY(const Done a, write_file(directory / "best.csv", best_csv(best)));
  TW_TRY(const Done b, write_file(directory / "compare.csv", compare_csv(result)));
  TW_TRY(const Done c, write_file(directory / "layers.csv", layers_csv(result)));
  TW_TRY(const Done d, write_file(directory / "curves.csv", curves_csv(result)));
  TW_TRY(const Done e, write_file(directory / "compare.json", to_json(result)));
  return write_file(directory / "report.html", to_html(result));
}

bool has_finished_run(const CompareRuns& runs) {
  for (const CompareRun& run : runs.runs) {
    if (run.done) return true;
  }
  return false;
}

Result<int> compare_and_tell(const CompareArguments& arguments) {
  TW_TRY(const ComparePlan plan, plan_comparison(arguments));
  std::vector<KnownBest> earlier;
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {  // before the work, so that hours are not lost to a wrong directory
    constexpr std::string_view kMayHold[] = {"best.csv"};  // of other comparisons
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output, kMayHold));
    TW_TRY(earlier, read_best_file(opened.path() / "best.csv"));
    TW_TRY(const Done begun, opened.begin_or_replace(plain_run_json("compare", TILEWRIGHT_VERSION, arguments.command)));
    directory.emplace(std::move(opened));
  }
  listen_for_stop();
  CompareProgress progress;
  TW_TRY(const CompareRuns runs, run_comparison(plan, static_cast<std::size_t>(arguments.threads),
                                                [&](const CompareStatus& status) { progress.show(status); }));
  progress.end();
  if (runs.interrupted && !has_finished_run(runs)) {
    if (directory) {
      TW_TRY(const Done ended, directory->end());
    }
    say(fmt::format("stopped before the first of {} runs was finished, so there is nothing to compare\n", runs.runs.size()));
    return kExitInterrupted;
  }
  const CompareResult result = summarise(plan, runs, earlier, arguments);
  if (directory) {
    TW_TRY(const Done written, write_results(result, earlier, directory->path()));
    TW_TRY(const Done ended, directory->end());
  }
  print(arguments.json ? to_json(result) : to_text(result));
  if (!arguments.output.empty() && !arguments.json) {
    print(fmt::format("{}: report.html, compare.json, compare.csv, layers.csv, curves.csv, best.csv\n", arguments.output));
  }
  return runs.interrupted ? kExitInterrupted : kExitDone;
}

}  // namespace

int run_compare(const CompareArguments& arguments) {
  const Result<int> code = compare_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb compare_verb(const Command& command) {
  const auto arguments = std::make_shared<CompareArguments>();
  arguments->command = command;
  return {.name = "compare",
          .summary = "searchers side by side: audited, with intervals",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_compare(*arguments); },
          .add = [arguments](CLI::App& verb) { add_compare_options(verb, *arguments); }};
}

}  // namespace tilewright
