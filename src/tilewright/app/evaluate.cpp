#include <fstream>
#include <iostream>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/report/evaluation.hpp"
#include "tilewright/report/hierarchy_evaluation.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/level_cases.hpp"

namespace tilewright {
namespace {

struct EvaluateArguments {
  EvaluationOptions options;
  std::string batch;  // a number of images; or a file, as `cases`
  std::string cases;  // JSON lines instead of a job; "-" = standard input
  int threads = 0;    // for cases; 0 = all processors
  bool csv = false;
  bool json = false;
  std::string svg;                // a file for the picture; empty = none
  std::string records, machines;  // instead of all others: what Timeloop recorded, and on which machines
};

int run_cases(const EvaluateArguments& arguments) {
  const EvaluationOptions& options = arguments.options;
  const bool mixed = !options.network.empty() || !options.hardware.empty() || !options.layer.empty() ||
                     !options.mapping.empty() || !options.dataflow.empty() || !options.levels.bits.empty() ||
                     !options.levels.restrict_to.empty() || !options.levels.energies.empty() || arguments.csv ||
                     arguments.json || !arguments.svg.empty();
  if (mixed) return report(invalid("--cases FILE goes with --model, --constraints and --threads only"));
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
  const BatchCounts counts =
      evaluate_cases(arguments.cases == "-" ? std::cin : file, std::cout, {options.model, options.constraints},
                     options.levels, static_cast<std::size_t>(arguments.threads), progress);
  if (live) say("\n");
  if (!std::cout) return report({ErrorCode::Io, "standard output: could not be written"});
  if (std::cin.bad() || file.bad()) return report({ErrorCode::Io, fmt::format("{}: could not be read", arguments.cases)});
  if (counts.errors == 0) return kExitDone;
  say(fmt::format("{} of {} cases gave no cost; each says why\n", with_thousands(counts.errors),
                  with_thousands(counts.lines)));
  return kExitInfeasible;
}

// A job of either kind of machine.
template <typename Job>
Result<int> evaluate_and_tell(const Job& job, const EvaluateArguments& arguments) {
  const auto study = evaluate(job);
  if (!arguments.svg.empty()) {
    TW_TRY([[maybe_unused]] const Done written, write_file(arguments.svg, to_svg(study)));
  }
  print(arguments.csv ? to_csv(study) : arguments.json ? to_json(study) : to_text(study));
  for (const auto& layer : study.layers) {
    if (!layer.failure.empty() && !arguments.json && (arguments.csv || study.layers.size() > 1)) {
      say(fmt::format("{}: {}\n", layer.layer.name, layer.failure));
    }
  }
  return is_feasible(study) ? kExitDone : kExitInfeasible;
}

Result<int> evaluate_as_asked(const EvaluateArguments& arguments) {
  const EvaluationOptions& options = arguments.options;
  if (options.network.empty()) {
    return invalid("--network is missing, expected zoo:NAME or a file (or --cases cases.jsonl)");
  }
  if (arguments.csv && arguments.json) return invalid("--csv and --json are both given, expected one of them");
  TW_TRY(const AnyEvaluationJob job, read_any_evaluation_job(options));
  if (!arguments.svg.empty() && is_maestro(options.model)) {
    return invalid("--svg needs energy by component, expected --model sound or exact");
  }
  return std::visit([&](const auto& one) { return evaluate_and_tell(one, arguments); }, job);
}

// What Timeloop would print of every recorded mapping ("-" = standard input) on the machines of a file.
int run_records(const std::string& records, const std::string& machines_file) {
  if (records.empty()) return report(invalid("--machines goes with --timeloop-records FILE.jsonl"));
  if (machines_file.empty()) return report(invalid("--machines is missing, expected a file of machines such as archs.json"));
  const Result<std::string> text = read_file(machines_file);
  if (!text) return report(text.error());
  const Result<hierarchy::Machines> machines = hierarchy::machines_from_json(*text, machines_file);
  if (!machines) return report(machines.error());
  std::ifstream file;
  if (records != "-") {
    file.open(records, std::ios::binary);
    if (!file) return report({ErrorCode::NotFound, fmt::format("{}: no such file, expected JSON lines", records)});
  }
  std::ios::sync_with_stdio(false);
  const hierarchy::RecordCounts counts =
      hierarchy::judge_records(records == "-" ? std::cin : file, std::cout, *machines, records == "-" ? "stdin" : records);
  std::cout.flush();
  if (!std::cout) return report({ErrorCode::Io, "standard output: could not be written"});
  if (std::cin.bad() || file.bad()) return report({ErrorCode::Io, fmt::format("{}: could not be read", records)});
  if (counts.malformed == 0) return kExitDone;
  if (counts.malformed > 1)
    say(fmt::format("{} of {} records are malformed; the first:\n", with_thousands(counts.malformed),
                    with_thousands(counts.records)));
  return report(invalid(counts.first_error));
}

int run_evaluate(EvaluateArguments& arguments) {
  if (!arguments.records.empty() || !arguments.machines.empty()) return run_records(arguments.records, arguments.machines);
  const auto images = parse_integer(arguments.batch);
  if (images && *images < 1) return report(invalid(fmt::format("--batch is {}, expected at least 1", *images)));
  if (images) {
    arguments.options.batch = *images;
  } else if (!arguments.batch.empty() && !arguments.cases.empty()) {
    return report(invalid("--cases and --batch FILE are both given, expected one of them"));
  } else if (!arguments.batch.empty()) {
    arguments.cases = arguments.batch;
  }
  if (!arguments.cases.empty()) return run_cases(arguments);
  const Result<int> code = evaluate_as_asked(arguments);
  return code ? *code : report(code.error());
}

}  // namespace

std::string dataflow_help() {
  std::string text = "Dataflows:\n";
  for (const Dataflow& dataflow : dataflows()) text += fmt::format("  {:<18} {}\n", dataflow.name, dataflow.summary);
  text += "Of machines with memory levels:\n";
  for (const ClassicInfo& classic : hierarchy_classics()) {
    text += fmt::format("  {:<18} {}\n", classic.name, classic.summary);
  }
  return text;
}

Verb evaluate_verb() {
  const auto arguments = std::make_shared<EvaluateArguments>();
  OptionTable options = options_of(arguments->options);
  options.insert(
      options.end(),
      {{"cases", &arguments->cases, "a file of JSON-lines cases instead, '-' for stdin"},
       {"batch", &arguments->batch, "a number: images for a dynamic batch of an ONNX model; a file: the same as --cases"},
       threads_field(arguments->threads, "threads for cases; 0 = all"),
       {"csv", &arguments->csv, "MAESTRO's 52 columns; of memory levels a line per level and tensor"},
       {"json", &arguments->json, "everything as JSON"},
       {"svg", &arguments->svg, "also draw energy and utilisation of the layers into this file"},
       {"timeloop_records", &arguments->records, "instead of all others: recorded mappings of Timeloop, JSON lines"},
       {"machines", &arguments->machines, "the machines of --timeloop-records, as JSON"}});
  return {
      .name = "evaluate",
      .summary = "cost of given mappings",
      .options = std::move(options),
      .footer = dataflow_help() +
                examples_text(
                    {{"tilewright evaluate --network zoo:resnet18 --hardware zoo:eyeriss --dataflow nvdla",
                      "every layer with a classic dataflow"},
                     {"tilewright evaluate --network zoo:resnet18 --layer conv2_1 --hardware zoo:eyeriss --dataflow eyeriss",
                      "one layer in full, with its loops"},
                     {"tilewright evaluate --network zoo:alexnet --hardware zoo:eyeriss-dram --dataflow output-stationary",
                      "energy by level and tensor on a machine with DRAM"}}),
      .run = [arguments] { return run_evaluate(*arguments); }};
}

}  // namespace tilewright
