// `tilewright compare`: searchers side by side on the same spaces, with the same budgets and seeds, audited first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/mapping_job.hpp"

namespace tilewright {

struct CompareArguments {
  // --network, --hardware, --objective, --model, --tiles, --levels, …: as map has them
  MappingArguments mapping;

  // Who is compared
  // --searches              names with commas; the first one is compared with every other. Default: all but exhaustive.
  //                         agents+team is the trained team of --from, and joins as the first when it is not listed
  std::string searches;
  // --ablate                instead of searchers, variants of agents: assignment, learner, critic, explore, transfer
  std::string ablate;
  // --transfer-from         the network whose clusters --ablate transfer takes over
  std::string transfer_from;
  // --from                  a trained team: its folder, or the directory of a run of map
  std::string from;
  // --set                   hyper-parameters: gamma.population=100; may be given several times
  std::vector<std::string> set;

  // Budgets and seeds
  // --samples               per layer; default: the largest of --budgets, or 2000
  std::optional<std::int64_t> samples;
  // --budgets               budgets to compare at, with commas; each has runs of its own, so that searchers can plan for it.
  //                         Default: --samples
  std::string budgets;
  // --seeds                 runs of each searcher
  std::int64_t seeds = 20;
  // --seed                  the first of the seeds; the same seed gives the same bits for any number of threads
  std::uint64_t seed = 1;
  // --targets               SEARCHER:SAMPLES, a search per layer whose best is the target T1: random:100000,
  // exhaustive:1000000
  std::string targets;

  // --threads               runs at once; 0 = one per processor
  int threads = 0;
  // -o,--output             directory for compare.json, compare.csv, layers.csv, curves.csv, best.csv, report.html; a
  // best.csv
  //                         in it counts for what is best known
  std::string output;
  // --json                  (flag) everything as JSON
  bool json = false;
  std::vector<std::string> command;  // the command line
};

}  // namespace tilewright
