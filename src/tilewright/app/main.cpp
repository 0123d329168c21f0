// The command line. All parsing is here, all work is in the verbs.
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/app/agents_command.hpp"
#include "tilewright/app/codesign_command.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/compare_command.hpp"
#include "tilewright/app/compile_command.hpp"
#include "tilewright/app/map_command.hpp"
#include "tilewright/app/simulate_command.hpp"
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

// What map, agents and compare have in common; `network` is how its option is spelt.
void add_mapping_options(CLI::App& verb, MappingArguments& mapping, const std::string& network) {
  verb.add_option(network, mapping.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)");
  verb.add_option("--hardware", mapping.hardware, "zoo:NAME, or a file: .yaml, .m (MAESTRO)");
  verb.add_option("--layer", mapping.layer, "name of one layer; without it, all layers");
  verb.add_option("--objective", mapping.objective,
                  "latency, energy, edp, throughput, area, power, weighted:A=2,B=1, lexicographic:A,B")
      ->capture_default_str();
  verb.add_option("--model", mapping.model, "sound, exact, maestro, maestro@e1d8efd")->capture_default_str();
  verb.add_option("--batch", mapping.batch, "images for a dynamic batch of an ONNX model")->check(CLI::Range(1, 1 << 30));

  const std::string space = "Space";
  verb.add_option("--space", mapping.space, "mapping, or archgym: the 17 parameters of MaestroGym")
      ->capture_default_str()
      ->group(space);
  verb.add_option("--tiles", mapping.tiles, "divisors, any, gamma")->capture_default_str()->group(space);
  verb.add_option("--levels", mapping.levels, "cluster levels: 1, 2, 3, or a range like 1-3")
      ->capture_default_str()
      ->group(space);
  verb.add_flag("--search-pes", mapping.search_pes, "the number of processing elements is searched too")->group(space);

  const std::string limits = "Limits";
  verb.add_option("--constraints", mapping.constraints, "limits of the machine: hard, soft, report")
      ->capture_default_str()
      ->group(limits);
  verb.add_option("--max-pes", mapping.max_pes, "processing elements")->group(limits);
  verb.add_option("--max-l1", mapping.max_l1, "bytes of L1 per processing element")->group(limits);
  verb.add_option("--max-l2", mapping.max_l2, "bytes of L2")->group(limits);
  verb.add_option("--max-latency", mapping.max_latency, "cycles of a layer")->group(limits);
  verb.add_option("--max-energy", mapping.max_energy, "nJ of a layer")->group(limits);
  verb.add_option("--max-area", mapping.max_area, "um² a layer's mapping needs")->group(limits);
  verb.add_option("--max-power", mapping.max_power, "mW a layer's mapping needs")->group(limits);
}

std::string searcher_help() {
  std::string text = "Searchers:\n";
  for (const SearcherInfo& searcher : all_searchers()) {
    text += fmt::format("  {:<12} {}\n", searcher.name, searcher.summary);
  }
  return text;
}

void add_map_options(CLI::App& verb, MapArguments& map) {
  add_mapping_options(verb, map.mapping, "network");
  const std::string search = "Search";
  verb.add_option("--search", map.search, "by name, see below")->capture_default_str()->group(search);
  verb.add_option("--samples", map.samples, "per distinct layer; valid, invalid and repeated ones all count")
      ->capture_default_str()
      ->group(search);
  verb.add_option("--seed", map.seed, "the same seed gives the same bytes for any number of threads")
      ->capture_default_str()
      ->group(search);
  verb.add_option("--set", map.settings, "a hyper-parameter: gamma.population=100, agents.batch=16 (see --settings)")
      ->group(search);
  verb.add_option("--explore", map.explore, "agents: random (default), sobol, or another searcher")->group(search);
  verb.add_option("--assign", map.assign, "agents: clusters (default), single, per-parameter, by-role, random:K, or a file")
      ->group(search);
  verb.add_flag("--per-layer", map.per_layer, "agents: a team for each layer instead of one for all")->group(search);
  verb.add_option("--from", map.from, "agents: begin with the team of another run (its directory)")->group(search);
  verb.add_flag("--settings", map.show_settings, "list the hyper-parameters of --search and end")->group(search);

  const std::string run = "Run and results";
  verb.add_option("-o,--output", map.output, "run directory; the same run in it is continued")->group(run);
  verb.add_option("--store", map.store, "file of evaluated points, shared between runs; default: one in the run directory")
      ->group(run);
  verb.add_option("--threads", map.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024))->group(run);
  verb.add_flag("--json", map.json, "everything as JSON")->group(run);
  verb.footer(
      searcher_help() +
      "\nExit codes: 0 done; 2 wrong input; 3 a layer has no feasible mapping; 130 stopped by Ctrl-C, best so far kept.\n"
      "Example: tilewright map zoo:resnet18 --hardware zoo:eyeriss --objective edp -o runs/resnet18");
}

void add_agents_options(CLI::App& verb, AgentsArguments& agents) {
  add_mapping_options(verb, agents.mapping, "network");

  const std::string exploration = "Exploration";
  verb.add_option("--samples", agents.samples, "of the whole network, shared equally by its distinct layers")
      ->capture_default_str()
      ->group(exploration);
  verb.add_option("--explore", agents.explore, "random, sobol, genetic, or any other searcher")
      ->capture_default_str()
      ->group(exploration);
  verb.add_option("--seed", agents.seed, "the same seed gives the same bits for any number of threads")
      ->capture_default_str()
      ->group(exploration);

  const std::string clusters = "Correlation and clusters";
  verb.add_option("--correlation", agents.correlation, "pearson, spearman, distance, mutual-information")
      ->capture_default_str()
      ->group(clusters);
  verb.add_option("--quantile", agents.quantile, "best share of each layer's samples; 1 = all, weighted by rank")
      ->capture_default_str()
      ->group(clusters);
  verb.add_flag("--contrast", agents.contrast,
                "take off the correlation that all samples have alike: what the objective adds")
      ->group(clusters);
  verb.add_option("--linkage", agents.linkage, "average, complete, ward")->capture_default_str()->group(clusters);
  verb.add_option("--threshold", agents.threshold, "cut the dendrogram at this distance (1 - correlation)")->group(clusters);
  verb.add_option("--agents", agents.agents, "or into this many; with neither, the number with the best silhouette")
      ->group(clusters);

  const std::string stability = "Stability";
  verb.add_option("--resamples", agents.resamples, "bootstrap resamples, and subsets of the samples; 0 = none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000))
      ->group(stability);
  verb.add_option("--seeds", agents.seeds, "explorations with other seeds; 0 = none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000))
      ->group(stability);
  verb.add_flag("--no-stability", agents.no_stability, "only the assignment")->group(stability);

  verb.add_option("--threads", agents.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024));
  verb.add_option("-o,--output", agents.output,
                  "directory for assignment.yaml, correlation.csv, stability.csv, agents.json, report.html");
  verb.add_flag("--json", agents.json, "everything as JSON");
}

void add_compare_options(CLI::App& verb, CompareArguments& compare) {
  add_mapping_options(verb, compare.mapping, "--network");

  const std::string who = "Who is compared";
  verb.add_option("--searches", compare.searches,
                  "names with commas, the first against every other; default all but exhaustive; agents+team is the team of "
                  "--from")
      ->group(who);
  verb.add_option("--ablate", compare.ablate, "variants of agents instead: assignment, learner, critic, explore, transfer")
      ->group(who);
  verb.add_option("--transfer-from", compare.transfer_from, "network whose clusters --ablate transfer takes over")
      ->group(who);
  verb.add_option("--from", compare.from,
                  "a trained team: its folder, or the directory of a run of map; joins as agents+team")
      ->group(who);
  verb.add_option("--set", compare.set, "hyper-parameter, e.g. gamma.population=100; may be repeated")
      ->group(who)
      ->take_all();

  const std::string how = "Budgets and seeds";
  verb.add_option("--samples", compare.samples, "per layer, all charged; default the largest of --budgets, or 2000")
      ->group(how);
  verb.add_option("--budgets", compare.budgets, "budgets to compare at, e.g. 500,2000: each has runs of its own")
      ->group(how);
  verb.add_option("--seeds", compare.seeds, "runs of each searcher")->capture_default_str()->group(how);
  verb.add_option("--seed", compare.seed, "the first seed; the same seed gives the same bits for any number of threads")
      ->capture_default_str()
      ->group(how);
  verb.add_option("--targets", compare.targets, "SEARCHER:SAMPLES gives each layer a target T1: random:100000")->group(how);

  const std::string run = "Run and results";
  verb.add_option("--threads", compare.threads, "runs at once; 0 = one per processor")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->group(run);
  verb.add_option("-o,--output", compare.output,
                  "directory for compare.json, compare.csv, layers.csv, curves.csv, best.csv, report.html")
      ->group(run);
  verb.add_flag("--json", compare.json, "everything as JSON")->group(run);

  verb.footer(
      "Exit codes: 0 done; 2 wrong input; 130 stopped by Ctrl-C, with the results so far.\n"
      "Example: tilewright compare --network zoo:resnet18 --hardware zoo:gamma-edge --budgets 500,2000 --seeds 5 -o out");
}

// The machine's memory and core, as compile and simulate time programs with them.
void add_timing_options(CLI::App& verb, std::string& core, vta::TimingOptions& timing) {
  const std::string group = "Core and memory";
  verb.add_option("--core", core, "sequential (RTL of 2019 to 2021, cycle for cycle) or pipelined (since 2021)")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--read-latency", timing.read_latency, "cycles from a read command to its first data")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--write-latency", timing.write_latency, "cycles from the last data of a write to its acknowledge")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--bus-bytes", timing.bus_bytes, "per cycle and direction")->capture_default_str()->group(group);
  verb.add_option("--burst-bytes", timing.burst_bytes, "a burst never crosses a multiple of it")
      ->capture_default_str()
      ->group(group);
}

void add_simulate_options(CLI::App& verb, SimulateArguments& simulate) {
  verb.add_option("program", simulate.program, "a .vtaprog file, as compile writes them");
  verb.add_option("--machine", simulate.machine, "zoo:vta, or a JSON file with VTA's LOG_* keys")->capture_default_str();
  add_timing_options(verb, simulate.core, simulate.timing);

  const std::string physical = "Power and heat";
  verb.add_option("--clock-mhz", simulate.physical.clock_mhz, "for time and power; cycles do not depend on it")
      ->capture_default_str()
      ->group(physical);
  verb.add_option("--ambient-celsius", simulate.physical.ambient_celsius, "around the package")
      ->capture_default_str()
      ->group(physical);
  verb.add_option("--kelvin-per-watt", simulate.physical.kelvin_per_watt, "thermal resistance from junction to ambient")
      ->capture_default_str()
      ->group(physical);

  const std::string results = "Results";
  verb.add_flag("--functional-only", simulate.functional_only, "execute, count no cycles")->group(results);
  verb.add_flag("--timing-only", simulate.timing_only, "count cycles, compute nothing")->group(results);
  verb.add_option("--dump", simulate.dump, "write the program's dump regions into this file")->group(results);
  verb.add_option("--timeline", simulate.timeline, "draw who worked when: a .svg or .html file")->group(results);
  verb.add_flag("--listing", simulate.listing, "show the instructions first")->group(results);
  verb.add_flag("--json", simulate.json, "everything as JSON")->group(results);
  verb.footer(
      "Exit codes: 0 done; 2 wrong input, or a program that is malformed or reaches outside a memory; 4 it hangs or FINISH "
      "is "
      "not last; 5 tokens are left over.\n"
      "Example: tilewright simulate out/01_conv1.vtaprog --machine out/machine.json --timeline conv1.svg");
}

void add_compile_options(CLI::App& verb, CompileArguments& compile) {
  verb.add_option("network", compile.network,
                  "zoo:NAME (seeded weights), a network file (same), or an ONNX model (its own)");
  verb.add_option("--machine", compile.machine, "zoo:vta, or a JSON file with VTA's LOG_* keys")->capture_default_str();
  verb.add_option("--schedules", compile.schedules, "default, a file of tiles and threads by layer, or a manifest.json")
      ->capture_default_str();
  verb.add_option("--layer", compile.layer, "name of one step; without it, all steps");
  verb.add_option("--batch", compile.batch, "images")->capture_default_str()->check(CLI::Range(1, 1 << 16));
  verb.add_option("--input-size", compile.input_size, "rows and columns of the input; default: the network's own")
      ->check(CLI::Range(1, 1 << 16));
  verb.add_option("--seed", compile.seed, "of weights and input; the same seed gives the same bytes")->capture_default_str();
  add_timing_options(verb, compile.core, compile.timing);

  const std::string results = "Results";
  verb.add_flag("--no-verify", compile.no_verify, "do not execute the programs")->group(results);
  verb.add_option("-o,--output", compile.output, "directory for programs, manifest.json, machine.json, listing.txt")
      ->group(results);
  verb.add_option("--threads", compile.threads, "0 = all")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->group(results);
  verb.add_flag("--json", compile.json, "everything as JSON")->group(results);
  verb.footer(
      "Exit codes: 0 done; 2 wrong input; 3 a program computes other numbers than the reference arithmetic.\n"
      "Example: tilewright compile zoo:resnet18 -o out");
}

void add_codesign_options(CLI::App& verb, CodesignArguments& codesign) {
  verb.add_option("network", codesign.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)");
  verb.add_option("--layer", codesign.layer, "name of one layer; without it, all layers");
  verb.add_option("--operators", codesign.operators, "only layers of these, with commas: conv, depthwise, fc, matmul");

  const std::string machine = "Machine";
  verb.add_option("--machine", codesign.machine, "search schedules only: zoo:vta, or a JSON file with VTA's LOG_* keys")
      ->group(machine);
  verb.add_flag("--search-buffers", codesign.search_buffers, "the sizes of the buffers are searched too")->group(machine);
  verb.add_option("--area-budget", codesign.area_budget, "most area, in areas of the default machine; default 1")
      ->group(machine);
  verb.add_option("--max-power", codesign.max_power, "W of any layer")->group(machine);
  verb.add_option("--max-temperature", codesign.max_temperature, "degrees Celsius while any layer runs")->group(machine);
  verb.add_option("--clock-mhz", codesign.physical.clock_mhz, "for power; cycles do not depend on it")
      ->capture_default_str()
      ->group(machine);
  verb.add_option("--ambient-celsius", codesign.physical.ambient_celsius, "around the package")
      ->capture_default_str()
      ->group(machine);
  verb.add_option("--kelvin-per-watt", codesign.physical.kelvin_per_watt, "thermal resistance from junction to ambient")
      ->capture_default_str()
      ->group(machine);
  add_timing_options(verb, codesign.core, codesign.timing);

  const std::string search = "Search";
  verb.add_option("--search", codesign.search, "dcoc, autotvm, chameleon, random, genetic, exhaustive, …")
      ->capture_default_str()
      ->group(search);
  verb.add_option("--measurements", codesign.measurements,
                  fmt::format("per distinct layer, invalid and repeated ones too; default {}, with exhaustive all",
                              kDefaultMeasurements))
      ->group(search);
  verb.add_option("--seed", codesign.seed, "the same seed gives the same bytes for any number of threads")
      ->capture_default_str()
      ->group(search);
  verb.add_option("--set", codesign.settings, "a hyper-parameter: dcoc.batch=32 (see --settings)")->group(search);
  verb.add_flag("--settings", codesign.show_settings, "list the hyper-parameters of --search and end")->group(search);

  const std::string run = "Run and results";
  verb.add_option("-o,--output", codesign.output, "run directory; the same run in it is continued")->group(run);
  verb.add_option("--store", codesign.store, "file of measured points, shared between runs; default: in the run directory")
      ->group(run);
  verb.add_flag("--optimum", codesign.optimum, "also prove the fewest cycles of any schedule of the space")->group(run);
  verb.add_flag("--no-verify", codesign.no_verify, "do not make and execute the programs")->group(run);
  verb.add_option("--threads", codesign.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024))->group(run);
  verb.add_flag("--json", codesign.json, "everything as JSON")->group(run);
  verb.footer(
      "Exit codes: 0 done; 2 wrong input; 3 no machine has a schedule for every layer, or a program computes other numbers "
      "than the reference; 130 stopped by Ctrl-C, best so far kept.\n"
      "Example: tilewright codesign zoo:resnet18 --area-budget 1.0 --measurements 512 -o runs/resnet18");
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
    std::vector<std::string> extras = verb->remaining();
    // An option that does not exist leaves its value behind, too.
    std::ranges::stable_partition(extras, [](const std::string& extra) { return extra.starts_with("-"); });
    if (!extras.empty()) {
      hint = did_you_mean(extras[0], names);
      sentence = fmt::format("'{}' is not an option of {}", extras[0], verb->get_name());
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
  CLI::App* compile_verb = app.add_subcommand("compile", "a whole network as programs of a VTA-class machine, verified");
  add_compile_options(*compile_verb, compile);

  SimulateArguments simulate;
  CLI::App* simulate_verb = app.add_subcommand("simulate", "execute and time a program of a VTA-class machine");
  add_simulate_options(*simulate_verb, simulate);

  VerifyArguments verify;
  CLI::App* verify_verb =
      app.add_subcommand("verify", "evaluate a result of map or codesign again and compare every number");
  verify_verb->add_option("result", verify.result, "a result.json, or the directory of a run");
  verify_verb->add_flag("--json", verify.json, "everything as JSON");

  ResumeArguments resume;
  resume.command.assign(argv, argv + argc);
  CLI::App* resume_verb = app.add_subcommand("resume", "continue the run in a directory");
  resume_verb->add_option("directory", resume.directory, "of a run of map, codesign or train");
  resume_verb->add_option("--threads", resume.threads, "0 = all")->capture_default_str()->check(CLI::Range(0, 1024));
  resume_verb->add_flag("--json", resume.json, "everything as JSON");

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
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return kExitWrongInput;
}

}  // namespace tilewright

namespace {

// The same in every thread. What was measured is in the store, so a smaller request can go on from it.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kSentence = "out of memory, expected a smaller network, fewer --threads or more memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kSentence.data(), kSentence.size());
  _exit(tilewright::kExitWrongInput);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_without_memory);
  const int code = tilewright::run(argc, argv);
  // A full disk or a closed pipe shows only when the last bytes leave.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return tilewright::report({tilewright::ErrorCode::Io, "standard output: could not be written"});
  }
  return code;
}
