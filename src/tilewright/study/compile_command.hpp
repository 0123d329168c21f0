// `tilewright compile`: a whole network as programs, executed and compared with the reference arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/vta/timing.hpp"

namespace tilewright {

struct CompileArguments {
  std::string network;
  std::string machine = "zoo:vta";
  std::string schedules = "default";  // or a file: schedules by layer, or the manifest of another compilation
  std::string layer;                  // of a single step; empty = all
  std::uint64_t seed = 1;             // of weights and input
  std::int64_t batch = 1;
  std::vector<std::string> dims;  // "sequence=128": open dimensions of an ONNX model
  std::int64_t input_size = 0;    // rows and columns of the input; 0 = the network's own
  std::string input_range;        // "LO,HI"; empty: assumed
  std::string core = "pipelined";
  vta::TimingOptions timing;  // but for its core
  bool no_verify = false;
  std::string output;  // a directory; empty = nothing is written
  int threads = 0;     // 0 = all processors
  bool json = false;
  std::vector<std::string> command;  // the command line
};

}  // namespace tilewright
