#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/compilation.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

struct CompileArguments {
  CompileOptions options;
  std::string output;  // a directory; empty = nothing is written
  int threads = 0;     // 0 = all processors
  bool json = false;
};

// Exit code 3 when a program computes anything but the reference arithmetic's numbers.
Result<int> compile_and_tell(const CompileArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  ProgressLine line;
  RunContext context{.threads = threads, .progress = line.progress(), .stop = listen_for_stop()};
  TW_TRY(CompilationJob job, read_compilation_job(arguments.options, context));
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output));
    context.directory = &directory.emplace(std::move(opened));
  }
  TW_TRY(const CompilationStudy study, compile(std::move(job), arguments.options, context, write_files));
  line.end();
  if (directory) {
    TW_TRY([[maybe_unused]] const Done ended, directory->end());
  }
  print(arguments.json ? to_json(study) : to_text(study));
  say(fmt::format("{} cycles, compiled{} in {:.1f} s{}\n", with_thousands(study.run.cycles()),
                  study.verified && study.run.is_equal() ? " and verified" : "",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                  arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output)));
  return study.run.is_equal() ? kExitDone : kExitDiffers;
}

}  // namespace

Verb compile_verb(const Command& command) {
  const auto arguments = std::make_shared<CompileArguments>();
  arguments->options.command = command;
  OptionTable table = options_of(arguments->options);
  const std::string_view results = "Results";
  table.insert(table.end(),
               {{"output",
                 &arguments->output,
                 "directory for programs, manifest.json, machine.json, listing.txt, accuracy.csv, accuracy.html",
                 {.group = results, .letter = "o", .recorded = false}},
                threads_field(arguments->threads, "0 = all", results),
                {"json", &arguments->json, "everything as JSON", {.group = results, .recorded = false}}});
  return {
      .name = "compile",
      .summary = "a whole network as programs of a VTA-class machine, verified",
      .options = std::move(table),
      .footer =
          "Exit codes: 0 done; 2 wrong input; 3 a program computes other numbers than the reference arithmetic;\n"
          "130 stopped by Ctrl-C, no program kept.\n" +
          examples_text({{"tilewright compile zoo:alexnet --input-size 64 -o runs/alexnet64", "a whole network, verified"},
                         {"tilewright compile zoo:alexnet --layer conv3 -o runs/compiled", "one layer"}}),
      .run = [arguments] {
        const Result<int> code = compile_and_tell(*arguments);
        return code ? *code : report(code.error());
      }};
}

}  // namespace tilewright
