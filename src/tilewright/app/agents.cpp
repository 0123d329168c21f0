#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/agents_command.hpp"
#include "tilewright/study/agents_result.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

Result<AgentsQuestion> read_question(const AgentsArguments& arguments, const MappingJob& job) {
  AgentsQuestion question;
  question.spaces = job.spaces();
  question.objective = job.objective;
  const auto layers = static_cast<std::int64_t>(question.spaces.size());
  if (arguments.samples < 2 * layers) {
    return invalid(fmt::format("--samples is {}, expected at least 2 for each of {} layers: {}", arguments.samples, layers,
                               2 * layers));
  }
  if (arguments.samples > kMostSamples) {
    return invalid(fmt::format("--samples is {}, expected at most {}", arguments.samples, kMostSamples));
  }
  question.exploration = {arguments.explore, arguments.samples / layers, arguments.seed};
  TW_TRY(question.correlation.dependence, named<Dependence>(arguments.correlation));
  if (!(arguments.quantile > 0 && arguments.quantile <= 1)) {
    return invalid(fmt::format("--quantile is {}, expected more than 0 and at most 1", arguments.quantile));
  }
  question.correlation.quantile = arguments.quantile;
  question.correlation.contrast = arguments.contrast;
  TW_TRY(question.clustering.linkage, named<Linkage>(arguments.linkage));
  if (arguments.threshold && arguments.agents) {
    return invalid("--threshold and --agents are both given, expected one of them");
  }
  if (arguments.threshold && !(*arguments.threshold >= 0)) {
    return invalid(fmt::format("--threshold is {}, expected a distance from 0 on", *arguments.threshold));
  }
  question.clustering.threshold = arguments.threshold;
  if (arguments.agents) {
    const auto most = static_cast<std::int64_t>(all_parameters(question.spaces).size());
    if (*arguments.agents < 1 || *arguments.agents > most) {
      return invalid(fmt::format("--agents is {}, expected 1 to {}, the number of parameters", *arguments.agents, most));
    }
    question.clustering.agents = static_cast<std::size_t>(*arguments.agents);
  }
  return question;
}

Result<AgentsResult> find_agents(const AgentsArguments& arguments, const MappingJob& job) {
  AgentsResult result;
  result.network = job.network_name;
  result.hardware = printable(job.accelerator.name);
  result.model = arguments.mapping.model;
  result.tiles = arguments.mapping.tiles;
  result.levels = arguments.mapping.levels;
  result.command = arguments.command;
  result.coverage = job.coverage;
  TW_TRY(result.question, read_question(arguments, job));
  const AgentsQuestion& question = result.question;
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  TW_TRY(const ExplorationData data, explore(question.spaces, question.objective, question.exploration, threads));
  const ExplorationTable table = to_table(data, question.spaces);
  result.parameters = table.parameters;
  result.samples = static_cast<std::int64_t>(table.rows);
  for (const double goodness : table.goodness) result.feasible += goodness > 0 ? 1 : 0;
  if (result.feasible == 0) {
    return invalid(
        fmt::format("{}: none of {} samples is feasible, so there is nothing to correlate; expected more --samples "
                    "or a machine with larger buffers",
                    title_of(result), with_thousands(result.samples)));
  }
  result.found = cluster_agents(table, question.correlation, question.clustering);
  if (arguments.no_stability) return result;
  StabilityOptions options;
  options.resamples = static_cast<std::size_t>(std::max<std::int64_t>(arguments.resamples, 0));
  options.seeds = static_cast<std::size_t>(std::max<std::int64_t>(arguments.seeds, 0));
  TW_TRY(result.stability, stability(question, data, options, threads, result.stability_samples));
  return result;
}

Result<Done> write_results(const AgentsResult& result, const std::filesystem::path& directory) {
  TW_TRY([[maybe_unused]] const Done a, write_file(directory / "assignment.yaml", to_yaml(result.found.assignment)));
  TW_TRY([[maybe_unused]] const Done b, write_file(directory / "correlation.csv", correlation_csv(result)));
  std::error_code ignored;
  std::filesystem::remove(directory / "stability.csv", ignored);  // of an earlier run that asked for it
  if (!result.stability.empty()) {
    TW_TRY([[maybe_unused]] const Done c, write_file(directory / "stability.csv", stability_csv(result)));
  }
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "agents.json", to_json(result)));
  return write_file(directory / "report.html", to_html(result));
}

Result<int> agents_and_tell(const AgentsArguments& arguments) {
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  TW_TRY(const MappingJob job, read_mapping_job(arguments.mapping, threads));
  std::optional<RunDirectory> directory;
  if (!arguments.output.empty()) {  // before the work, so that it is not lost to a wrong directory
    TW_TRY(RunDirectory opened, RunDirectory::open(arguments.output));
    directory.emplace(std::move(opened));
  }
  TW_TRY(const AgentsResult result, find_agents(arguments, job));
  if (directory) {
    TW_TRY([[maybe_unused]] const Done begun,
           directory->begin_or_replace(plain_run_json("agents", TILEWRIGHT_VERSION, arguments.command)));
    TW_TRY([[maybe_unused]] const Done written, write_results(result, directory->path()));
    TW_TRY([[maybe_unused]] const Done ended, directory->end());
  }
  print(arguments.json ? to_json(result) : to_text(result));
  if (directory && !arguments.json) {
    print(fmt::format("{}: assignment.yaml (for map --assign), correlation.csv, {}agents.json, report.html\n",
                      arguments.output, result.stability.empty() ? "" : "stability.csv, "));
  }
  return kExitDone;
}

}  // namespace

int run_agents(const AgentsArguments& arguments) {
  const Result<int> code = agents_and_tell(arguments);
  return code ? *code : report(code.error());
}

Verb agents_verb(const Command& command) {
  const auto arguments = std::make_shared<AgentsArguments>();
  arguments->command = command;
  return {.name = "agents",
          .summary = "which parameters depend on each other, and the agents that makes",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_agents(*arguments); },
          .add = [arguments](CLI::App& verb) { add_agents_options(verb, *arguments); }};
}

}  // namespace tilewright
