#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/map_progress.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/settings_text.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/map_command.hpp"
#include "tilewright/study/map_run.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct MapRun {
  std::optional<RunDirectory> directory;
  std::optional<StoredMemory> memory;
};

Result<MapRun> open_run(const MapArguments& arguments, const MappingJob& job) {
  MapRun run;
  if (!arguments.output.empty()) {
    TW_TRY(RunDirectory directory, RunDirectory::open(arguments.output));
    TW_TRY([[maybe_unused]] const Done begun, directory.begin_or_continue(run_json(arguments, job)));
    run.directory.emplace(std::move(directory));
  }
  if (arguments.store.empty() && arguments.output.empty()) return run;
  TW_TRY(Store store,
         Store::open(!arguments.store.empty() ? fs::path(arguments.store) : run.directory->path() / kStoreFile));
  TW_TRY(StoredMemory memory, StoredMemory::open(std::move(store), job.spaces()));
  run.memory.emplace(std::move(memory));
  return run;
}

Result<int> map(const MapArguments& arguments) {
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  TW_TRY(const MappingJob job, read_mapping_job(arguments.mapping, threads));
  listen_for_stop();  // from here on there is something to keep
  TW_TRY(MapRun run, open_run(arguments, job));
  const std::int64_t known = run.memory ? run.memory->known() : 0;
  MapProgress progress(job, arguments.samples);
  const auto start = std::chrono::steady_clock::now();
  Result<MapSearch> search =
      search_mappings(job, arguments, threads, run.memory ? &*run.memory : nullptr, [&](const SearchLoop& loop) {
        progress.show(loop);
        return !stop_asked();
      });
  progress.end();
  if (!search) return search.error();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (run.directory) {
    TW_TRY([[maybe_unused]] const Done written, write_results(*search, run.directory->path()));
    run.memory.reset();  // the store is a whole file once it is closed
    TW_TRY([[maybe_unused]] const Done ended, run.directory->end());
  }

  const MapResult& result = search->result;
  print(arguments.json ? to_json(result) : to_text(result));
  const MapTotals totals = totals_of(result);
  say(fmt::format("{} samples in {:.1f} s ({} per second){}{}\n", with_thousands(totals.samples), seconds,
                  with_thousands(static_cast<std::int64_t>(static_cast<double>(totals.samples) / std::max(1e-9, seconds))),
                  known > 0 ? fmt::format(", {} points known before", with_thousands(known)) : "",
                  arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output)));
  if (result.interrupted) return kExitInterrupted;
  return totals.failed > 0 ? kExitInfeasible : kExitDone;
}

// Flags that are another spelling of settings become settings, so that a run is described in one way.
MapArguments spelt_out(MapArguments arguments) {
  if (!arguments.explore.empty()) arguments.settings.push_back("agents.explore=" + arguments.explore);
  if (!arguments.assign.empty()) arguments.settings.push_back("agents.assign=" + arguments.assign);
  if (arguments.per_layer) arguments.settings.push_back("agents.joint=false");
  return arguments;
}

}  // namespace

int run_map(const MapArguments& given) {
  const MapArguments arguments = spelt_out(given);
  const Result<int> code = arguments.show_settings ? show_settings(arguments.search, arguments.settings) : map(arguments);
  return code ? *code : report(code.error());
}

int run_resume(const ResumeArguments& arguments) {
  if (arguments.directory.empty())
    return report(invalid("the directory of a run is missing, expected tilewright resume DIR"));
  const Result<std::string> verb = verb_of(arguments.directory);
  if (!verb) return report(verb.error());
  if (*verb == "train") {
    TrainArguments train;
    train.output = arguments.directory;
    train.resume = true;
    train.threads = arguments.threads;
    train.json = arguments.json;
    train.command = arguments.command;
    return run_train(train);
  }
  if (*verb == "codesign") {
    const Result<CodesignOptions> options = read_codesign_run(arguments.directory);
    if (!options) return report(options.error());
    return run_codesign(
        {.options = *options, .output = arguments.directory, .threads = arguments.threads, .json = arguments.json});
  }
  if (*verb != "map") {
    return report(
        invalid(fmt::format("{}: is a run of {}, which is done in one go, expected one of map, codesign or train; "
                            "the same command with -o {} does it again",
                            arguments.directory, printable(*verb), arguments.directory)));
  }
  Result<MapArguments> map_arguments = read_map_run(arguments.directory);
  if (!map_arguments) return report(map_arguments.error());
  MapArguments continued = std::move(map_arguments).value();
  continued.threads = arguments.threads;
  continued.json = arguments.json;
  return run_map(continued);
}

Verb map_verb(const Command& command) {
  const auto arguments = std::make_shared<MapArguments>();
  arguments->command = command;
  return {.name = "map",
          .summary = "the best mapping of every layer",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_map(*arguments); },
          .add = [arguments](CLI::App& verb) { add_map_options(verb, *arguments); }};
}

Verb resume_verb(const Command& command) {
  const auto arguments = std::make_shared<ResumeArguments>();
  arguments->command = command;
  return {.name = "resume",
          .summary = "continue the run in a directory",
          .options = {{"directory", &arguments->directory, "of a run of map, codesign or train", {.positional = true}},
                      threads_field(arguments->threads, "0 = all"),
                      {"json", &arguments->json, "everything as JSON"}},
          .footer = examples_text(
              {{"tilewright resume runs/alexnet", "goes on where it was stopped; a complete run is told again"},
               {"tilewright resume runs/alexnet --threads 1 --json", "the same bytes with any number of threads"}}),
          .run = [arguments] { return run_resume(*arguments); }};
}

}  // namespace tilewright
