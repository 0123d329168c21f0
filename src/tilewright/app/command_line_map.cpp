#include "tilewright/app/command_line.hpp"

#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/study/agents_command.hpp"
#include "tilewright/study/compare_command.hpp"
#include "tilewright/study/map_command.hpp"

namespace tilewright {
namespace {

// What map, agents and compare have in common; `network` is how its option is spelt.
void add_mapping_options(CLI::App& verb, MappingArguments& mapping, const std::string& network) {
  verb.add_option(network, mapping.network, "zoo:NAME, or a file: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA)");
  verb.add_option("--hardware", mapping.hardware, "zoo:NAME, or a file: .yaml, .m (MAESTRO)");
  verb.add_option("--layer", mapping.layer, "name of one layer; without it, all layers");
  verb.add_option("--objective", mapping.objective,
                  "latency, energy, edp, throughput, area, power, weighted:A=2,B=1, lexicographic:A,B, pareto:A,B")
      ->capture_default_str();
  verb.add_option("--model", mapping.model, "sound, exact, maestro, maestro@e1d8efd")->capture_default_str();
  verb.add_option("--batch", mapping.batch, "images for a dynamic batch of an ONNX model")->check(CLI::Range(1, 1 << 30));

  add_dim_option(verb, mapping.dims);

  const std::string space = "Space";
  verb.add_option("--space", mapping.space, "mapping, or archgym: the 17 parameters of MaestroGym")
      ->capture_default_str()
      ->group(space);
  verb.add_option("--tiles", mapping.tiles, "divisors, any, gamma")->capture_default_str()->group(space);
  verb.add_option("--levels", mapping.levels, "cluster levels: auto (by array and layer), 1, 2, 3, or a range like 1-3")
      ->capture_default_str()
      ->group(space);
  verb.add_flag("--search-pes", mapping.search_pes, "the number of processing elements is searched too")->group(space);

  verb.add_option("--constraints", mapping.constraints, "limits of the machine: hard, soft, report")
      ->capture_default_str()
      ->group("Limits");
  add_limit_options(verb, mapping);
}

std::string searcher_help() {
  std::string text = "Searchers:\n";
  for (const SearcherInfo& searcher : all_searchers()) {
    text += fmt::format("  {:<12} {}\n", searcher.name, searcher.summary);
  }
  return text;
}

}  // namespace

void add_dim_option(CLI::App& verb, std::vector<std::string>& dims) {
  verb.add_option("--dim", dims, "NAME=N, the size of an open dimension of an ONNX model; may be repeated")
      ->allow_extra_args(false);
}

void add_limit_options(CLI::App& verb, LimitArguments& limits) {
  const std::string group = "Limits";
  verb.add_option("--max-pes", limits.max_pes, "processing elements")->group(group);
  verb.add_option("--max-l1", limits.max_l1, "bytes of L1 per processing element")->group(group);
  verb.add_option("--max-l2", limits.max_l2, "bytes of L2")->group(group);
  verb.add_option("--max-latency", limits.max_latency, "cycles of a layer")->group(group);
  verb.add_option("--max-energy", limits.max_energy, "nJ of a layer")->group(group);
  verb.add_option("--max-area", limits.max_area, "um² a layer's mapping needs")->group(group);
  verb.add_option("--max-power", limits.max_power, "mW a layer's mapping needs")->group(group);
}

void add_map_options(CLI::App& verb, MapArguments& map) {
  add_mapping_options(verb, map.mapping, "network");
  const std::string search = "Search";
  verb.add_flag("--no-classics", map.mapping.no_classics, "for studies: the search is not told the classic dataflows")
      ->group(search);
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
      "\nExit codes: 0 done; 2 wrong input; 3 a layer has no feasible mapping; 130 stopped by Ctrl-C, best so far kept.\n" +
      examples_text(
          {{"tilewright map zoo:alexnet --hardware zoo:eyeriss --samples 200 -o runs/alexnet",
            "every layer; the run in runs/alexnet is continued when it is asked for again"},
           {"tilewright map zoo:resnet18 --layer conv2_1 --hardware zoo:nvdla-small --objective latency --search gamma",
            "one layer, another searcher, the fewest cycles"}}));
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
  verb.footer(examples_text(
      {{"tilewright agents zoo:alexnet --hardware zoo:eyeriss --samples 2000 --no-stability",
        "which parameters should be decided together"},
       {"tilewright agents zoo:alexnet --layer conv3 --hardware zoo:eyeriss --samples 500 --resamples 5 --seeds 1",
        "and how sure that is"}}));
}

void add_compare_options(CLI::App& verb, CompareArguments& compare) {
  // Searchers are compared on what they find by themselves.
  compare.mapping.levels = "2";
  compare.mapping.no_classics = true;
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

  verb.add_flag_callback(
          "--classics", [&compare] { compare.mapping.no_classics = false; },
          "tell the searchers the classic dataflows, as map does (with --levels auto, all of them)")
      ->group(who);

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
      "Exit codes: 0 done; 2 wrong input; 130 stopped by Ctrl-C, with the results so far.\n" +
      examples_text(
          {{"tilewright compare --network zoo:alexnet --layer conv3 --hardware zoo:gamma-edge --searches gamma,random "
            "--samples 200",
            "two searchers on one layer"},
           {"tilewright compare --network zoo:alexnet --layer conv3 --hardware zoo:gamma-edge --searches agents,random "
            "--budgets 100,200 --seeds 3 -o runs/compared",
            "at two budgets with three seeds each, and a report"}}));
}

}  // namespace tilewright
