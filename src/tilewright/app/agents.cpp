#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/report/assignment.hpp"
#include "tilewright/study/any_job.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

struct AgentsArguments {
  MappingInputs inputs;
  MappingOptions mapping;
  AssignmentOptions options;
  int threads = 0;     // 0 = all processors
  std::string output;  // a directory; empty = nothing is written
  bool json = false;
  Command command;
};

OptionTable options_of(AgentsArguments& arguments) {
  OptionTable table = options_of(arguments.inputs, arguments.mapping, NetworkIs::Place);
  for (OptionField& field : options_of(arguments.options)) table.push_back(std::move(field));
  table.push_back(threads_field(arguments.threads));
  table.push_back({"output",
                   &arguments.output,
                   "directory for assignment.yaml, correlation.csv, stability.csv, agents.json, report.html",
                   {.letter = "o"}});
  table.push_back({"json", &arguments.json, "everything as JSON"});
  return table;
}

Result<int> agents_and_tell(const AgentsArguments& arguments) {
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  RunContext context{.threads = threads, .stop = listen_for_stop()};
  TW_TRY(const AnyJob job, read_any_job(arguments.inputs, arguments.mapping, threads));
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {  // before the work, so that it is not lost to a wrong directory
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output));
    directory.emplace(std::move(opened));
  }
  TW_TRY(AssignmentStudy study, assign(common(job), arguments.options, context));
  study.command = arguments.command;
  if (directory) {
    TW_TRY([[maybe_unused]] const Done begun,
           directory->begin_or_replace(plain_run_json("agents", TILEWRIGHT_VERSION, arguments.command)));
    TW_TRY([[maybe_unused]] const Done written, write_files(study, directory->path()));
    TW_TRY([[maybe_unused]] const Done ended, directory->end());
  }
  print(arguments.json ? to_json(study) : to_text(study));
  if (directory && !arguments.json) {
    print(fmt::format("{}: assignment.yaml (for map --assign), correlation.csv, {}agents.json, report.html\n",
                      arguments.output, study.stability.empty() ? "" : "stability.csv, "));
  }
  return kExitDone;
}

}  // namespace

Verb agents_verb(const Command& command) {
  const auto arguments = std::make_shared<AgentsArguments>();
  arguments->command = command;
  return {.name = "agents",
          .summary = "which parameters depend on each other, and the agents that makes",
          .options = options_of(*arguments),
          .footer = examples_text(
              {{"tilewright agents zoo:alexnet --hardware zoo:eyeriss --samples 2000 --no-stability",
                "which parameters should be decided together"},
               {"tilewright agents zoo:alexnet --layer conv3 --hardware zoo:eyeriss --samples 500 --resamples 5 --seeds 1",
                "and how sure that is"}}),
          .run = [arguments] {
            const Result<int> code = agents_and_tell(*arguments);
            return code ? *code : report(code.error());
          }};
}

}  // namespace tilewright
