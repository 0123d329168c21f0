// `tilewright codesign`: one machine for a network, and a schedule for each of its layers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/vta/cost.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright {

inline constexpr std::int64_t kDefaultMeasurements = 512;

struct CodesignArguments {
  std::string network;
  std::vector<std::string> dims;      // "sequence=128": open dimensions of an ONNX model
  std::string layer;                  // one layer only; empty = all
  std::string operators;              // "conv,fc": only layers of these; empty = all
  std::string machine;                // the machine that is given; empty = it is searched
  bool fixed_buffers = false;         // only the core is searched
  std::optional<double> area_budget;  // of the default machine's area; 1 unless the machine is given
  std::optional<double> max_power, max_temperature;
  std::string core = "pipelined";
  vta::TimingOptions timing;  // but for its core
  vta::PhysicalOptions physical;
  std::string search = "dcoc";
  std::optional<std::int64_t> measurements;  // per distinct layer; nothing = 512, with exhaustive all
  std::uint64_t seed = 1;
  std::vector<std::string> settings;  // "dcoc.batch=32"
  bool show_settings = false;         // list the hyper-parameters instead of searching
  bool optimum = false;               // also prove the fewest cycles there are, for judging the answer
  bool no_verify = false;
  std::string output;  // a directory; empty = nothing is written
  std::string store;   // of measured points; empty = the run's own
  int threads = 0;     // 0 = all processors
  bool json = false;
  std::vector<std::string> command;  // the command line
};

// The arguments of the run in a directory.
Result<CodesignArguments> read_codesign_run(const std::filesystem::path& directory);

}  // namespace tilewright
