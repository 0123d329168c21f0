// `tilewright simulate`: a program on a machine, executed and timed.
#pragma once

#include <string>

#include "tilewright/vta/cost.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright {

struct SimulateArguments {
  std::string program;
  std::string machine = "zoo:vta";
  std::string core = "pipelined";
  vta::TimingOptions timing;  // but for its core
  vta::PhysicalOptions physical;
  bool functional_only = false, timing_only = false;
  std::string dump;      // a container with the program's dump regions after it ran; empty = none
  std::string timeline;  // .svg or .html; empty = none
  bool listing = false;
  bool json = false;
};

// The options with the core by name, checked.
Result<vta::TimingOptions> timing_options(const std::string& core, vta::TimingOptions options);

}  // namespace tilewright
