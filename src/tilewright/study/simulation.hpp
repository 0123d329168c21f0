// A program of a VTA-class machine, executed and timed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/study/run_context.hpp"
#include "tilewright/vta/cost.hpp"
#include "tilewright/vta/functional.hpp"
#include "tilewright/vta/program.hpp"

namespace tilewright {

struct SimulateOptions {
  std::string program;
  std::string machine = "zoo:vta";
  vta::TimingOptions timing;
  vta::PhysicalOptions physical;
  bool functional_only = false, timing_only = false;  // not both
};
OptionTable options_of(SimulateOptions& options);

struct SimulationJob {
  vta::Machine machine;
  std::optional<vta::Program> program;  // nothing when the file is no program
  std::optional<vta::Fault> fault;      // and then why
};
Result<SimulationJob> read_simulation_job(const SimulateOptions& options);

struct StreamResult {
  std::vector<vta::Instruction> instructions;
  vta::Timing timing;
  std::vector<vta::Span> spans;
};

struct SimulationStudy {
  std::string program, machine_name;  // as the user called them
  vta::Machine machine;
  vta::TimingOptions timing;
  vta::PhysicalOptions physical;
  std::optional<vta::Fault> fault;          // the program cannot run, and there is nothing else
  std::optional<vta::Execution> execution;  // unless only time was asked for
  std::vector<StreamResult> streams;        // unless only results were asked for
  std::optional<vta::Fault> timing_remark;  // the program runs, but not on this hardware; then no cycles are known
  bool has_cycles() const { return !streams.empty() && !timing_remark; }
};

// Throws Stopped when the context says stop.
Result<SimulationStudy> simulate(const SimulationJob& job, const SimulateOptions& options, RunContext& context);

// Sums over the streams, which run one after the other.
vta::Timing total_of(const std::vector<StreamResult>& streams);

}  // namespace tilewright
