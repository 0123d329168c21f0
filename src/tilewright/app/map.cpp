#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"
#include "tilewright/report/mapping.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"

namespace tilewright {
namespace {

struct MapArguments {
  MapRequest request = {};
  std::string explore = {}, assign = {};  // agents.explore and agents.assign; empty = their defaults
  bool per_layer = false;                 // agents.joint off
  bool show_settings = false;             // list the hyper-parameters instead of searching
  std::string output = {};                // a directory; empty = nothing is written
  int threads = 0;                        // 0 = all processors
  bool json = false;
};

OptionTable options_of(MapArguments& arguments) {
  constexpr std::string_view kSearch = "Search", kRun = "Run and results";
  OptionTable table = options_of(arguments.request);
  const OptionTable ours = {
      {"explore", &arguments.explore, "agents: random (default), sobol, or another searcher", {.group = kSearch}},
      {"assign",
       &arguments.assign,
       "agents: clusters (default), single, per-parameter, by-role, random:K, or a file",
       {.group = kSearch}},
      {"per_layer", &arguments.per_layer, "agents: a team for each layer instead of one for all", {.group = kSearch}},
      {"show_settings",
       &arguments.show_settings,
       "list the hyper-parameters of --search and end",
       {.flag = "settings", .group = kSearch}},
      {"output", &arguments.output, "run directory; the same run in it is continued", {.group = kRun, .letter = "o"}},
      threads_field(arguments.threads, "0 = all", kRun),
      {"json", &arguments.json, "everything as JSON", {.group = kRun}}};
  table.insert(table.end(), ours.begin(), ours.end());
  return table;
}

// Flags that are another spelling of settings become settings, so that a run is described in one way.
MapRequest spelt_out(const MapArguments& arguments) {
  MapRequest request = arguments.request;
  std::vector<std::string>& settings = request.search.settings;
  if (!arguments.explore.empty()) settings.push_back("agents.explore=" + arguments.explore);
  if (!arguments.assign.empty()) settings.push_back("agents.assign=" + arguments.assign);
  if (arguments.per_layer) settings.push_back("agents.joint=false");
  return request;
}

// A job of either kind of machine, searched, written and told.
template <typename Job>
Result<int> map_and_tell(const Job& job, const MapRequest& request, const MapArguments& arguments, ThreadPool& threads) {
  ProgressLine line;
  RunContext context{.threads = threads, .progress = line.progress(), .stop = listen_for_stop()};
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output));
    TW_TRY([[maybe_unused]] const Done begun, opened.begin_or_continue(run_json(request, job)));
    context.directory = &directory.emplace(std::move(opened));
  }
  const auto start = std::chrono::steady_clock::now();
  TW_TRY(auto study, map(job, request.search, context));
  line.end();
  study.command = request.command;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (directory) {
    TW_TRY([[maybe_unused]] const Done written, write_files(study, directory->path()));
    TW_TRY([[maybe_unused]] const Done ended, directory->end());
  }
  print(arguments.json ? to_json(study) : to_text(study));
  const auto totals = totals_of(study);
  say(fmt::format("{} samples in {:.1f} s ({} per second){}{}\n", with_thousands(totals.samples), seconds,
                  with_thousands(static_cast<std::int64_t>(static_cast<double>(totals.samples) / std::max(1e-9, seconds))),
                  study.known_before > 0 ? fmt::format(", {} points known before", with_thousands(study.known_before)) : "",
                  arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output)));
  if (study.interrupted) return kExitInterrupted;
  return totals.failed > 0 ? kExitInfeasible : kExitDone;
}

Result<int> map_as_asked(const MapArguments& arguments) {
  const MapRequest request = spelt_out(arguments);
  if (arguments.show_settings) return show_settings(request.search.search, request.search.settings);
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  TW_TRY(const AnyJob any, read_any_job(request.inputs, request.mapping, threads));
  return std::visit([&](const auto& job) { return map_and_tell(job, request, arguments, threads); }, any);
}

int run_map(const MapArguments& arguments) {
  const Result<int> code = map_as_asked(arguments);
  return code ? *code : report(code.error());
}

std::string searcher_help() {
  std::string text = "Searchers:\n";
  for (const SearcherInfo& searcher : all_searchers()) {
    text += fmt::format("  {:<12} {}\n", searcher.name, searcher.summary);
  }
  return text + fmt::format("  {:<12} {}\n", kOptimal,
                            "annealing, then a proof of the optimum or of how far it may be (machines with memory levels)");
}

// Continues the run in a directory, whatever its verb.
struct ResumeArguments {
  std::string directory;
  int threads = 0;
  bool json = false;
  Command command;
};

int run_resume(const ResumeArguments& arguments) {
  if (arguments.directory.empty())
    return report(invalid("the directory of a run is missing, expected tilewright resume DIR"));
  const Result<std::string> verb = verb_of(arguments.directory);
  if (!verb) return report(verb.error());
  if (*verb == "train") {
    TrainArguments train;
    train.output = arguments.directory;
    train.options.resume = true;
    train.threads = arguments.threads;
    train.json = arguments.json;
    train.options.command = arguments.command;
    return run_train(train);
  }
  if (*verb == "codesign") {
    const Result<CodesignOptions> options = read_codesign_run(arguments.directory);
    if (!options) return report(options.error());
    return run_codesign(
        {.options = *options, .output = arguments.directory, .threads = arguments.threads, .json = arguments.json});
  }
  if (*verb == "campaign") {
    CampaignArguments campaign;
    campaign.options.words = {"resume"};
    campaign.options.output = arguments.directory;
    campaign.options.command = arguments.command;
    campaign.threads = arguments.threads;
    campaign.json = arguments.json;
    return run_campaign_verb(campaign);
  }
  if (*verb == "compare") {
    const Result<CompareRequest> request = read_compare_run(arguments.directory);
    if (!request) return report(request.error());
    return run_compare(
        {.request = *request, .threads = arguments.threads, .output = arguments.directory, .json = arguments.json});
  }
  if (*verb != "map") {
    return report(invalid(fmt::format(
        "{}: is a run of {}, which is done in one go, expected one of map, compare, campaign, codesign or train; "
        "the same command with -o {} does it again",
        arguments.directory, printable(*verb), arguments.directory)));
  }
  const Result<MapRequest> request = read_map_run(arguments.directory);
  if (!request) return report(request.error());
  return run_map({.request = *request, .output = arguments.directory, .threads = arguments.threads, .json = arguments.json});
}

}  // namespace

Verb map_verb(const Command& command) {
  const auto arguments = std::make_shared<MapArguments>();
  arguments->request.command = command;
  return {
      .name = "map",
      .summary = "the best mapping of every layer",
      .options = options_of(*arguments),
      .footer = searcher_help() +
                "\nExit codes: 0 done; 2 wrong input; 3 a layer has no feasible mapping; 130 stopped by Ctrl-C, best so far "
                "kept.\n" +
                examples_text({{"tilewright map zoo:alexnet --hardware zoo:eyeriss --samples 200 -o runs/alexnet",
                                "every layer; the run in runs/alexnet is continued when it is asked for again"},
                               {"tilewright map zoo:resnet18 --layer conv2_1 --hardware zoo:nvdla-small --objective latency "
                                "--search gamma",
                                "one layer, another searcher, the fewest cycles"}}),
      .run = [arguments] { return run_map(*arguments); }};
}

Verb resume_verb(const Command& command) {
  const auto arguments = std::make_shared<ResumeArguments>();
  arguments->command = command;
  return {.name = "resume",
          .summary = "continue the run in a directory",
          .options = {{"directory",
                       &arguments->directory,
                       "of a run of map, compare, campaign, codesign or train",
                       {.positional = true}},
                      threads_field(arguments->threads, "0 = all"),
                      {"json", &arguments->json, "everything as JSON"}},
          .footer = examples_text(
              {{"tilewright resume runs/alexnet", "goes on where it was stopped; a complete run is told again"},
               {"tilewright resume runs/alexnet --threads 1 --json", "the same bytes with any number of threads"}}),
          .run = [arguments] { return run_resume(*arguments); }};
}

}  // namespace tilewright
