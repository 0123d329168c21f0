// The command line. All parsing is here, all work is in the verbs.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/app/commands.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/mapping/dataflows.hpp"

namespace tilewright {
namespace {

void add_job_options(CLI::App& verb, JobArguments& job) {
  verb.add_option("--network", job.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)");
  verb.add_option("--layer", job.layer, "name of one layer; without it, all layers");
  verb.add_option("--hardware", job.hardware, "zoo:NAME, or a file: .yaml, .m (MAESTRO)");
  verb.add_option("--mapping", job.mapping, "mapping file: .yaml, .m (MAESTRO)");
  verb.add_option("--dataflow", job.dataflow, "classic dataflow by name instead of a mapping file (see below)");
  verb.add_option("--model", job.model, "sound, exact, maestro, maestro@e1d8efd")->capture_default_str();
  verb.add_option("--constraints", job.constraints, "limits of the machine: hard, soft, report")->capture_default_str();
}

void add_train_options(CLI::App& verb, TrainArguments& train) {
  TrainSettings& s = train.settings;
  verb.add_option("world", s.world, "simple_spread, simple_tag, … or toy:NAME (see --list)");
  verb.add_flag("--list", train.list, "worlds, algorithms, samplers and layouts, one line each");
  verb.add_option("--algorithm", s.algorithm, "maddpg (default), masac, ippo, mappo");
  verb.add_option("--agents", s.agents, "agents that learn; default: the world's own number");
  verb.add_option("--episodes", train.episodes, "default 25000; more than a directory holds continues it");
  verb.add_option("--seed", s.seed, "default 1; the same seed gives the same bits for any number of threads");

  const std::string run = "Run and results";
  verb.add_option("-o,--output", train.output, "run directory; a run of the same settings in it is continued")->group(run);
  verb.add_flag("--resume", train.resume, "take the settings from the run in -o DIR")->group(run);
  verb.add_option("--threads", train.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024))->group(run);
  verb.add_option("--curve-every", s.curve_every, "episodes per point of the curve; default 1000, less in short runs")
      ->group(run);
  verb.add_option("--checkpoint-every", train.checkpoint_every, "episodes; 0 = only at the end")
      ->capture_default_str()
      ->group(run);
  verb.add_option("--eval", train.eval, "greedy episodes at the end")->group(run);
  verb.add_option("--render", train.render, "draw a greedy episode into this file: an SVG that moves")->group(run);
  verb.add_option("--replay", train.replay, "instead of training, step a recorded trajectory and compare every number")
      ->group(run);
  verb.add_flag("--counters", train.counters, "count cache and TLB misses per phase, where the system allows it")
      ->group(run);
  verb.add_flag("--json", train.json, "everything as JSON")->group(run);

  const std::string world = "World";
  verb.add_option("--worlds", s.worlds, "copies side by side; default 1")->group(world);
  verb.add_option("--episode-length", s.episode_length, "steps; default 25")->group(world);
  verb.add_option("--dialect", s.dialect, "openai (default) or pettingzoo")->group(world);
  verb.add_option("--contacts", s.contacts, "fast (default) leaves out forces below 5e-19; exact has all")->group(world);
  verb.add_option("--prey", s.prey, "simple_tag: random (default), frozen, heuristic, learning, or a policy file")
      ->group(world);
  verb.add_option("--prey-count", s.prey_count, "simple_tag; default: by the number of predators")->group(world);
  verb.add_option("--obstacles", s.obstacles, "simple_tag; default: by the number of predators")->group(world);

  const OffPolicyOptions off;
  const PpoOptions ppo;
  const std::string all = "Learning";
  verb.add_option("--hidden", s.hidden, "sizes of the hidden layers; default 64,64")->group(all);
  verb.add_option("--learning-rate", s.learning_rate,
                  fmt::format("default {}; ippo, mappo {}", off.learning_rate, ppo.learning_rate))
      ->group(all);
  verb.add_option("--gamma", s.gamma, fmt::format("discount; default {}", off.gamma))->group(all);
  verb.add_option("--clip-norm", s.clip_norm, fmt::format("most norm of a gradient; 0 = no limit; default {}", off.clip))
      ->group(all);
  verb.add_option("--entropy", s.entropy,
                  fmt::format("its weight: masac {}, ippo, mappo {}", off.entropy, ppo.entropy_bonus))
      ->group(all);

  const std::string off_policy = "maddpg, masac";
  verb.add_option("--sampler", s.sampler, "uniform (default), neighbor:N, run:N, prioritized, reuse:N")->group(off_policy);
  verb.add_option("--layout", s.layout, "of the replay memory: state (default where it can), joint, per-agent")
      ->group(off_policy);
  verb.add_option("--semantics", s.semantics, "shared (default): one mini-batch for all agents; openai: one each, in turn")
      ->group(off_policy);
  verb.add_option("--batch", s.batch, fmt::format("transitions of a mini-batch; default {}", off.batch))->group(off_policy);
  verb.add_option("--capacity", s.capacity, fmt::format("transitions of the replay memory; default {}", off.capacity))
      ->group(off_policy);
  verb.add_option("--warm-up", s.warm_up, fmt::format("transitions before the first update; default {}", off.warm_up))
      ->group(off_policy);
  verb.add_option("--update-every", s.update_every, fmt::format("steps between updates; default {}", off.update_every))
      ->group(off_policy);
  verb.add_option("--tau", s.tau, fmt::format("how far targets move; default {}", off.tau))->group(off_policy);
  verb.add_option("--logit-penalty", s.logit_penalty, fmt::format("maddpg; default {}", off.logit_penalty))
      ->group(off_policy);
  verb.add_option("--entropy-form", s.entropy_form, "masac: per-sample (default), batch-mean")->group(off_policy);

  const std::string on_policy = "ippo, mappo";
  verb.add_option("--rollout", s.rollout, fmt::format("steps between updates; default {}", ppo.rollout))->group(on_policy);
  verb.add_option("--epochs", s.epochs, fmt::format("passes over a rollout; default {}", ppo.epochs))->group(on_policy);
  verb.add_option("--minibatches", s.minibatches, fmt::format("per pass; default {}", ppo.minibatches))->group(on_policy);
  verb.add_option("--gae-lambda", s.gae_lambda, fmt::format("1 = Monte Carlo, 0 = one step; default {}", ppo.gae_lambda))
      ->group(on_policy);
  verb.add_option("--activation", s.activation,
                  fmt::format("relu or tanh; default {}", ppo.activation == Activation::Relu ? "relu" : "tanh"))
      ->group(on_policy);
  verb.add_option("--clip-ratio", s.clip_ratio, fmt::format("default {}", ppo.clip))->group(on_policy);

  verb.footer(
      "Exit codes: 0 done; 2 wrong input; 3 a replayed trajectory differs; 130 stopped by Ctrl-C, and with -o saved.\n"
      "Example: tilewright train simple_spread --agents 3 --episodes 25000 -o runs/spread");
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

Error to_error(const CLI::App& app, const CLI::ParseError& failure, int argc, char** argv) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(verbs.begin(), verbs.end(), argv[1]) == verbs.end()) {
    std::string hint = did_you_mean(argv[1], verbs);
    if (hint.empty()) hint = fmt::format(", expected one of {}", join(verbs, ", "));
    return invalid(fmt::format("tilewright: '{}' is not a verb{}", argv[1], hint));
  }
  std::string sentence = failure.what();
  std::string hint;
  for (const CLI::App* verb : app.get_subcommands()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : verb->get_options()) {
      if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    }
    for (const std::string& extra : verb->remaining()) {
      if (extra.starts_with("-")) hint = did_you_mean(extra, names);
      sentence = fmt::format("'{}' is not an option of {}", extra, verb->get_name());
    }
  }
  return invalid(fmt::format("tilewright: {}{}", sentence, hint));
}

int run(int argc, char** argv) {
  CLI::App app{"Tilewright decides how a deep neural network runs on an accelerator.", "tilewright"};
  app.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION);
  app.require_subcommand(1);
  app.footer("tilewright VERB --help documents each verb.");

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
  evaluate_verb->footer(dataflow_help());

  ExplainArguments explain;
  std::string explain_batch;
  CLI::App* explain_verb =
      app.add_subcommand("explain", "why a mapping does not fit, and the smallest change that makes it fit");
  add_job_options(*explain_verb, explain.job);
  explain_verb->add_option("--batch", explain_batch, "images for a dynamic batch of an ONNX model");
  explain_verb->add_flag("--json", explain.json, "everything as JSON");
  explain_verb->footer(dataflow_help());

  TrainArguments train;
  train.command.assign(argv, argv + argc);
  CLI::App* train_verb = app.add_subcommand("train", "teach teams of agents in particle worlds and toy games");
  add_train_options(*train_verb, train);

  ZooArguments zoo;
  std::string zoo_batch;
  CLI::App* zoo_verb = app.add_subcommand("zoo", "list the built-in networks and machines, or show one");
  zoo_verb->add_option("source", zoo.source, "a name of the zoo, or any network or machine file");
  zoo_verb->add_option("--batch", zoo_batch, "images for a dynamic batch of an ONNX model");
  zoo_verb->add_flag("--json", zoo.json, "everything as JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app.exit(failure);
    if (argc == 1) {
      std::fputs(app.help().c_str(), stderr);
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
  if (train_verb->parsed()) return run_train(train);
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
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return kExitWrongInput;
}

}  // namespace tilewright

int main(int argc, char** argv) {
  const int code = tilewright::run(argc, argv);
  // A full disk or a closed pipe shows only when the last bytes leave.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return tilewright::report({tilewright::ErrorCode::Io, "standard output: could not be written"});
  }
  return code;
}
