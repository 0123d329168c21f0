#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/batch.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/report/chart.hpp"
#include "tilewright/report/evaluation_text.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright {
namespace {

int run_cases(const EvaluateArguments& arguments) {
  const Result<Model> model = named<Model>(arguments.job.model);
  if (!model) return report(model.error());
  const Result<Constraints> constraints = named<Constraints>(arguments.job.constraints);
  if (!constraints) return report(constraints.error());
  std::ifstream file;
  if (arguments.cases != "-") {
    file.open(arguments.cases, std::ios::binary);
    if (!file) return report({ErrorCode::NotFound, fmt::format("{}: no such file, expected JSON lines", arguments.cases)});
  }
  std::ios::sync_with_stdio(false);
  const bool live = isatty(STDERR_FILENO) != 0;
  const auto progress = [&](const BatchCounts& so_far) {
    if (live) say(fmt::format("\r{} cases, {} errors", with_thousands(so_far.lines), with_thousands(so_far.errors)));
  };
  const BatchCounts counts = evaluate_batch(arguments.cases == "-" ? std::cin : file, std::cout, {*model, *constraints},
                                            static_cast<std::size_t>(arguments.threads), progress);
  if (live) say("\n");
  if (!std::cout) return report({ErrorCode::Io, "standard output: could not be written"});
  if (std::cin.bad() || file.bad()) return report({ErrorCode::Io, fmt::format("{}: could not be read", arguments.cases)});
  if (counts.errors == 0) return kExitDone;
  say(fmt::format("{} of {} cases gave no cost; each says why\n", with_thousands(counts.errors),
                  with_thousands(counts.lines)));
  return kExitInfeasible;
}

std::vector<LayerResult> evaluate_layers(const Job& job) {
  std::vector<LayerResult> results;
  results.reserve(job.layers.size());  // `previous` points into it
  const Cost* previous = nullptr;
  for (const LayerJob& layer : job.layers) {
    LayerResult result{&layer, std::nullopt, "", std::nullopt};
    if (!layer.mapping) {
      result.failure = layer.mapping.error().message;
    } else {
      Evaluator evaluator(layer.nest, job.accelerator, {job.model, job.constraints, EvaluateOptions::Columns::All});
      const Evaluation evaluation = evaluator.evaluate(*layer.mapping, previous);
      if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
        result.infeasible = *infeasible;
        result.failure = to_sentence(*infeasible);
      } else {
        result.cost = std::get<Cost>(evaluation);
      }
    }
    results.push_back(std::move(result));
    previous = results.back().cost ? &*results.back().cost : nullptr;
  }
  return results;
}

}  // namespace

int run_evaluate(const EvaluateArguments& arguments) {
  if (!arguments.cases.empty()) {
    const bool mixed = !arguments.job.network.empty() || !arguments.job.hardware.empty() || !arguments.job.layer.empty() ||
                       !arguments.job.mapping.empty() || !arguments.job.dataflow.empty() || arguments.csv ||
                       arguments.json || !arguments.svg.empty();
    if (mixed) return report(invalid("--batch FILE goes with --model, --constraints and --threads only"));
    return run_cases(arguments);
  }
  if (arguments.job.network.empty())
    return report(invalid("--network is missing, expected zoo:NAME or a file (or --batch cases.jsonl)"));
  if (arguments.job.hardware.empty()) return report(invalid("--hardware is missing, expected zoo:NAME or a file"));
  if (arguments.csv && arguments.json) return report(invalid("--csv and --json are both given, expected one of them"));
  const Result<Job> job = read_job(arguments.job);
  if (!job) return report(job.error());
  if (!arguments.svg.empty() && is_maestro(job->model))
    return report(invalid("--svg needs energy by component, expected --model sound or exact"));

  const std::vector<LayerResult> results = evaluate_layers(*job);
  bool all_feasible = true;
  for (const LayerResult& result : results) all_feasible = all_feasible && result.cost.has_value();
  if (!arguments.svg.empty()) {
    const Result<Done> written = write_file(arguments.svg, results_as_svg(*job, results));
    if (!written) return report(written.error());
  }
  if (arguments.csv) {
    print(results_as_csv(*job, results));
  } else if (arguments.json) {
    print(results_as_json(*job, results));
  } else if (results.size() == 1) {
    print(result_as_text(*job, results.front()));
  } else {
    print(results_as_table(*job, results));
  }
  if (!all_feasible && !arguments.json) {
    for (const LayerResult& result : results) {
      if (!result.cost && (arguments.csv || results.size() > 1))
        say(fmt::format("{}: {}\n", result.layer->name, result.failure));
    }
  }
  return all_feasible ? kExitDone : kExitInfeasible;
}

OptionTable job_options(JobArguments& job) {
  return {{"network", &job.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)"},
          {"layer", &job.layer, "name of one layer; without it, all layers"},
          {"hardware", &job.hardware, "zoo:NAME, or a file: .yaml, .m (MAESTRO)"},
          {"mapping", &job.mapping, "mapping file: .yaml, .m (MAESTRO)"},
          {"dataflow", &job.dataflow, "classic dataflow by name instead of a mapping file (see below)"},
          dim_field(job.dims),
          {"model", &job.model, "sound, exact, maestro, maestro@e1d8efd"},
          {"constraints", &job.constraints, "limits of the machine: hard, soft, report"}};
}

std::string dataflow_help() {
  std::string text = "Dataflows:\n";
  for (const Dataflow& dataflow : dataflows()) text += fmt::format("  {:<12} {}\n", dataflow.name, dataflow.summary);
  return text;
}

Verb evaluate_verb() {
  const auto arguments = std::make_shared<EvaluateArguments>();
  const auto batch = std::make_shared<std::string>();
  const auto records = std::make_shared<std::string>();
  const auto machines = std::make_shared<std::string>();
  OptionTable options = job_options(arguments->job);
  options.insert(options.end(),
                 {{"batch", batch.get(),
                   "a number: images for a dynamic batch of an ONNX model; a file: JSON-lines cases, '-' for stdin"},
                  threads_field(arguments->threads, "threads for cases; 0 = all"),
                  {"csv", &arguments->csv, "MAESTRO's 52 columns"},
                  {"json", &arguments->json, "everything as JSON"},
                  {"svg", &arguments->svg, "also draw energy and utilisation of the layers into this file"},
                  {"timeloop_records", records.get(), "instead of all others: recorded mappings of Timeloop, JSON lines"},
                  {"machines", machines.get(), "the machines of --timeloop-records, as JSON"}});
  return {
      .name = "evaluate",
      .summary = "cost of given mappings",
      .options = std::move(options),
      .footer = dataflow_help() +
                examples_text(
                    {{"tilewright evaluate --network zoo:resnet18 --hardware zoo:eyeriss --dataflow nvdla",
                      "every layer with a classic dataflow"},
                     {"tilewright evaluate --network zoo:resnet18 --layer conv2_1 --hardware zoo:eyeriss --dataflow eyeriss",
                      "one layer in full, with its loops"}}),
      .run = [arguments, batch, records, machines] {
        if (!records->empty() || !machines->empty()) return run_records(*records, *machines);
        const auto images = parse_integer(*batch);
        if (!images) {
          arguments->cases = *batch;
        } else if (*images < 1) {
          return report(invalid(fmt::format("--batch is {}, expected at least 1", *images)));
        } else {
          arguments->job.batch = *images;
        }
        return run_evaluate(*arguments);
      }};
}

}  // namespace tilewright
