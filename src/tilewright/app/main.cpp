// The command line: parsing here and in command_line_*.cpp, all work in the verbs.
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/study/agents_command.hpp"
#include "tilewright/study/codesign_command.hpp"
#include "tilewright/study/compare_command.hpp"
#include "tilewright/study/compile_command.hpp"
#include "tilewright/study/map_command.hpp"
#include "tilewright/study/simulate_command.hpp"

namespace tilewright {
namespace {

void add_job_options(CLI::App& verb, JobArguments& job) {
  verb.add_option("--network", job.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)");
  verb.add_option("--layer", job.layer, "name of one layer; without it, all layers");
  verb.add_option("--hardware", job.hardware, "zoo:NAME, or a file: .yaml, .m (MAESTRO)");
  verb.add_option("--mapping", job.mapping, "mapping file: .yaml, .m (MAESTRO)");
  verb.add_option("--dataflow", job.dataflow, "classic dataflow by name instead of a mapping file (see below)");
  add_dim_option(verb, job.dims);
  verb.add_option("--model", job.model, "sound, exact, maestro, maestro@e1d8efd")->capture_default_str();
  verb.add_option("--constraints", job.constraints, "limits of the machine: hard, soft, report")->capture_default_str();
}

std::string dataflow_help() {
  std::string text = "Dataflows:\n";
  for (const Dataflow& dataflow : dataflows()) text += fmt::format("  {:<12} {}\n", dataflow.name, dataflow.summary);
  return text;
}

// --batch is a number (images of a dynamic ONNX model) or a file of cases.
std::optional<Error> take_batch(const std::string& batch, std::int64_t& images, std::string* cases) {
  if (batch.empty()) return std::nullopt;
  if (const auto number = parse_integer(batch)) {
    if (*number < 1) return invalid(fmt::format("--batch is {}, expected at least 1", *number));
    images = *number;
  } else if (cases != nullptr) {
    *cases = batch;
  } else {
    return invalid(fmt::format("--batch is '{}', expected a whole number", batch));
  }
  return std::nullopt;
}

int run(int argc, char** argv) {
  CLI::App app{"Tilewright decides how a deep neural network runs on an accelerator.", "tilewright"};
  app.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION);
  app.require_subcommand(1);
  app.footer(examples_text(
      {{"tilewright help map", "documents a verb; so does tilewright map --help"},
       {"tilewright map zoo:alexnet --hardware zoo:eyeriss --samples 200 -o runs/alexnet", "a network on a machine"},
       {"tilewright zoo", "the networks and machines that come along"}}));

  EvaluateArguments evaluate;
  std::string evaluate_batch;
  CLI::App* evaluate_verb = app.add_subcommand("evaluate", "cost of given mappings");
  add_job_options(*evaluate_verb, evaluate.job);
  evaluate_verb->add_option(
      "--batch", evaluate_batch,
      "a number: images for a dynamic batch of an ONNX model; a file: JSON-lines cases, '-' for stdin");
  evaluate_verb->add_option("--threads", evaluate.threads, "threads for cases; 0 = all")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  evaluate_verb->add_flag("--csv", evaluate.csv, "MAESTRO's 52 columns");
  evaluate_verb->add_flag("--json", evaluate.json, "everything as JSON");
  evaluate_verb->add_option("--svg", evaluate.svg, "also draw energy and utilisation of the layers into this file");
  evaluate_verb->footer(
      dataflow_help() +
      examples_text({{"tilewright evaluate --network zoo:resnet18 --hardware zoo:eyeriss --dataflow nvdla",
                      "every layer with a classic dataflow"},
                     {"tilewright evaluate --network zoo:resnet18 --layer conv2_1 --hardware zoo:eyeriss --dataflow eyeriss",
                      "one layer in full, with its loops"}}));

  ExplainArguments explain;
  std::string explain_batch;
  CLI::App* explain_verb =
      app.add_subcommand("explain", "why a mapping does not fit, and the smallest change that makes it fit");
  add_job_options(*explain_verb, explain.job);
  explain_verb->add_option("--batch", explain_batch, "images for a dynamic batch of an ONNX model");
  explain_verb->add_flag("--json", explain.json, "everything as JSON");
  add_limit_options(*explain_verb, explain.limits);
  explain_verb->footer(
      dataflow_help() +
      examples_text({{"tilewright explain --network zoo:resnet18 --layer conv2_1 --hardware zoo:eyeriss --dataflow eyeriss",
                      "what it needs of what there is"},
                     {"tilewright explain --network zoo:alexnet --layer conv3 --hardware zoo:eyeriss",
                      "without a mapping: the classic dataflow that is nearest to fitting"}}));

  TrainArguments train;
  train.command.assign(argv, argv + argc);
  CLI::App* train_verb = app.add_subcommand("train", "teach teams of agents in particle worlds and toy games");
  add_train_options(*train_verb, train);

  MapArguments map;
  map.command.assign(argv, argv + argc);
  CLI::App* map_verb = app.add_subcommand("map", "the best mapping of every layer");
  add_map_options(*map_verb, map);

  AgentsArguments agents;
  agents.command.assign(argv, argv + argc);
  CLI::App* agents_verb = app.add_subcommand("agents", "which parameters depend on each other, and the agents that makes");
  add_agents_options(*agents_verb, agents);

  CompareArguments compare;
  compare.command.assign(argv, argv + argc);
  CLI::App* compare_verb = app.add_subcommand("compare", "searchers side by side: audited, with intervals");
  add_compare_options(*compare_verb, compare);

  CodesignArguments codesign;
  codesign.command.assign(argv, argv + argc);
  CLI::App* codesign_verb =
      app.add_subcommand("codesign", "one machine for a network and a schedule for every layer, together");
  add_codesign_options(*codesign_verb, codesign);

  CompileArguments compile;
  compile.command.assign(argv, argv + argc);
  CLI::App* compile_verb = app.add_subcommand("compile", "a whole network as programs of a VTA-class machine, verified");
  add_compile_options(*compile_verb, compile);

  SimulateArguments simulate;
  CLI::App* simulate_verb = app.add_subcommand("simulate", "execute and time a program of a VTA-class machine");
  add_simulate_options(*simulate_verb, simulate);

  VerifyArguments verify;
  CLI::App* verify_verb =
      app.add_subcommand("verify", "compute a result again, compare every number, and check every file of a run");
  verify_verb->add_option("result", verify.result, "a result.json, or the directory of a run");
  verify_verb->add_flag("--json", verify.json, "everything as JSON");
  verify_verb->footer(examples_text({{"tilewright verify runs/alexnet", "the run in a directory"},
                                     {"tilewright verify runs/alexnet/result.json", "a result file alone"}}));

  ResumeArguments resume;
  resume.command.assign(argv, argv + argc);
  CLI::App* resume_verb = app.add_subcommand("resume", "continue the run in a directory");
  resume_verb->add_option("directory", resume.directory, "of a run of map, codesign or train");
  resume_verb->add_option("--threads", resume.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024));
  resume_verb->add_flag("--json", resume.json, "everything as JSON");
  resume_verb->footer(
      examples_text({{"tilewright resume runs/alexnet", "goes on where it was stopped; a complete run is told again"},
                     {"tilewright resume runs/alexnet --threads 1 --json", "the same bytes with any number of threads"}}));

  PointsArguments points;
  CLI::App* points_verb = app.add_subcommand("points", "every evaluated point of a run, with named columns, as CSV");
  points_verb->add_option("directory", points.directory, "of a run of map or codesign");
  points_verb->add_option("--layer", points.layer, "name of one layer; without it, all layers");
  points_verb->add_flag("--json", points.json, "a JSON object per line instead");
  points_verb->footer(
      "Columns: layer, number (in the order the points became known), the parameters of the space (empty where a layer has\n"
      "no such parameter, or a point of a shared store is of another space), status (ok, or the reason), objective, the\n"
      "numbers with their units, and the design in words. Of mappings the parameters are named\n"
      "DIM@LEVEL, level 0 outermost: K output channels, C input channels, Y X rows and columns, R S those of the kernel,\n"
      "N images, G groups.\n" +
      examples_text({{"tilewright points runs/alexnet", "all of them"},
                     {"tilewright points runs/alexnet --layer conv3 --json", "one layer, a JSON object per line"}}));

  ZooArguments zoo;
  std::string zoo_batch;
  CLI::App* zoo_verb = app.add_subcommand("zoo", "list the built-in networks and machines, or show one");
  zoo_verb->add_option("source", zoo.source, "a name of the zoo, or any network or machine file");
  zoo_verb->add_option("--batch", zoo_batch, "images for a dynamic batch of an ONNX model");
  add_dim_option(*zoo_verb, zoo.dims);
  zoo_verb->add_flag("--yaml", zoo.yaml, "a network as a YAML file of ours, which every verb reads");
  zoo_verb->add_flag("--json", zoo.json, "everything as JSON");
  zoo_verb->footer(examples_text({{"tilewright zoo", "everything there is"},
                                  {"tilewright zoo resnet18", "the layers of a network"},
                                  {"tilewright zoo zoo:eyeriss", "a machine as its file has it"}}));

  std::string help_about;
  CLI::App* help_verb = app.add_subcommand("help", "what a verb does, its options and examples");
  help_verb->add_option("verb", help_about, "one of the verbs; without it, all of them");
  help_verb->footer(examples_text({{"tilewright help", "the verbs"}, {"tilewright help map", "the same as map --help"}}));

  for (CLI::App* verb : app.get_subcommands({})) check_numbers(*verb);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app.exit(failure);
    if (argc == 1) {
      say(app.help());
      return kExitWrongInput;
    }
    return report(to_error(app, failure, argc, argv));
  }
  if (evaluate_verb->parsed()) {
    if (const auto error = take_batch(evaluate_batch, evaluate.job.batch, &evaluate.cases)) return report(*error);
    return run_evaluate(evaluate);
  }
  if (explain_verb->parsed()) {
    if (const auto error = take_batch(explain_batch, explain.job.batch, nullptr)) return report(*error);
    return run_explain(explain);
  }
  if (help_verb->parsed()) return run_help(app, std::string(help_about));
  if (points_verb->parsed()) return run_points(points);
  if (train_verb->parsed()) return run_train(train);
  if (map_verb->parsed()) return run_map(map);
  if (agents_verb->parsed()) return run_agents(agents);
  if (compare_verb->parsed()) return run_compare(compare);
  if (codesign_verb->parsed()) return run_codesign(codesign);
  if (compile_verb->parsed()) return run_compile(compile);
  if (simulate_verb->parsed()) return run_simulate(simulate);
  if (verify_verb->parsed()) return run_verify(verify);
  if (resume_verb->parsed()) return run_resume(resume);
  if (const auto error = take_batch(zoo_batch, zoo.batch, nullptr)) return report(*error);
  return run_zoo(zoo);
}

}  // namespace

int report(const Error& error) {
  const bool text = is_text(error.message);
  std::string sentence;  // names out of a hostile file must not reach the terminal as they are
  for (const char c : error.message) {
    const auto byte = static_cast<unsigned char>(c);
    sentence += byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !text) ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  say(sentence + "\n");
  return kExitWrongInput;
}

}  // namespace tilewright

namespace {

// Without memory, and in any thread. What was measured is in the store, so a smaller request can go on from it.
[[noreturn]] void end_at_once(std::string_view sentence, int code) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, sentence.data(), sentence.size());
  _exit(code);
}

[[noreturn]] void end_without_memory() {
  end_at_once("out of memory, expected a smaller network, fewer --threads or more memory\n", tilewright::kExitWrongInput);
}

[[noreturn]] void end_without_handler() {
  end_at_once("tilewright: failed in an unexpected way\n", tilewright::kExitFailed);
}

int guarded_run(int argc, char** argv) {
  try {
    return tilewright::run(argc, argv);
  } catch (const tilewright::Stopped&) {
    tilewright::say("stopped before there was anything to keep\n");
    return tilewright::kExitInterrupted;
  } catch (const std::exception& failure) {
    tilewright::report(tilewright::invalid(fmt::format("tilewright: failed in an unexpected way: {}", failure.what())));
    return tilewright::kExitFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_without_memory);
  std::set_terminate(end_without_handler);
  tilewright::hold_standard_streams();
  const int code = guarded_run(argc, argv);
  // A full disk or a closed pipe shows only when the last bytes leave.
  const bool flushed = std::fflush(stdout) == 0;
  if (tilewright::has_reader_left() || (!flushed && errno == EPIPE)) return code;
  if (!flushed || std::ferror(stdout) != 0) {
    return tilewright::report({tilewright::ErrorCode::Io, "standard output: could not be written"});
  }
  return code;
}
