// `tilewright map`, `verify` and `resume`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/mapping_job.hpp"

namespace tilewright {

struct MapArguments {
  MappingArguments mapping;
  std::string search = "agents";
  std::int64_t samples = 2'000;  // per distinct layer
  std::uint64_t seed = 1;
  std::vector<std::string> settings;  // "gamma.population=100"
  std::string explore, assign;        // agents.explore and agents.assign; empty = their defaults
  bool per_layer = false;             // agents.joint off
  bool show_settings = false;         // list the hyper-parameters instead of searching
  std::string from;                   // a trained team: its folder, or the directory of a run
  std::string output;                 // a directory; empty = nothing is written
  std::string store;                  // of evaluated points; empty = the run's own
  int threads = 0;                    // 0 = all processors
  bool json = false;
  std::vector<std::string> command;  // the command line
};

// Evaluates every mapping (or schedule) of a result file (or run directory) again and compares every number.
struct VerifyArguments {
  std::string result;
  bool json = false;
};

// Continues the run in a directory, whatever its verb.
struct ResumeArguments {
  std::string directory;
  int threads = 0;
  bool json = false;
  std::vector<std::string> command;
};

}  // namespace tilewright
