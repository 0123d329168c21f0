// A whole network as programs of a VTA-class machine, executed and compared with the reference arithmetic.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/study/calibration.hpp"
#include "tilewright/study/run_context.hpp"
#include "tilewright/vta/network_manifest.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {

struct CompileOptions {
  std::string network;
  std::string machine = "zoo:vta";
  std::string schedules = "default";  // or a file: schedules by layer, or the manifest of another compilation
  std::string layer;                  // of a single step; empty = all
  std::int64_t batch = 1;
  std::vector<std::string> dims;          // "sequence=128": open dimensions of an ONNX model
  std::int64_t input_size = 0;            // rows and columns of the input; 0 = the network's own
  std::optional<InputRange> input_range;  // nothing: assumed
  std::string calibration;                // arrays that scales are chosen by; empty = noise
  std::string labels;                     // arrays that the integers are scored on
  RangeOptions ranges;                    // how data chooses
  std::string write_outputs;              // a .npy file for the results of the integers
  std::uint64_t seed = 1;                 // of weights and input
  vta::TimingOptions timing;
  bool no_verify = false;
  std::vector<std::string> command;  // as which it was asked for
};
OptionTable options_of(CompileOptions& options);

// What is to be compiled: a network, and the schedule of every step that the machine takes.
struct CompilationJob {
  QuantisedNetwork network;
  Calibrated calibration;  // without its network
  vta::NetworkPlan plan;
  std::optional<std::size_t> only;  // the step that was asked for
};
Result<CompilationJob> compilation_job(QuantisedNetwork network, const vta::Machine& machine,
                                       const vta::ScheduleChoice& schedules = {}, const std::string& layer = "");
// The same of the files that the options name.
Result<CompilationJob> read_compilation_job(const CompileOptions& options, RunContext& context);

struct CompilationStudy {
  std::string machine_name;  // as the user called it
  QuantisedNetwork network;
  vta::NetworkPlan plan;
  vta::NetworkRun run;
  vta::TimingOptions timing;
  std::uint64_t seed = 1;
  Calibrated calibration;            // without its network
  std::optional<Accuracy> accuracy;  // where there are images
  std::optional<std::size_t> only;   // the step that was asked for
  bool verified = true;              // programs were executed
};

// Makes every program, executes it unless `no_verify`, and compares. Throws Stopped when the context says stop, and then
// leaves no program behind; otherwise a run directory has the programs, machine.json, listing.txt and, last,
// manifest.json.
// `before_manifest` may add files of its own.
using WriteFiles = std::function<Result<Done>(const CompilationStudy& study, const std::filesystem::path& folder)>;
Result<CompilationStudy> compile(CompilationJob job, const CompileOptions& options, RunContext& context,
                                 const WriteFiles& before_manifest = {});

// "verified: 25,088,000 elements of 22 steps equal", or the first difference, or that nobody looked.
std::string verification_line(const CompilationStudy& study);
// The steps that compute something, the least faithful to the real numbers first.
std::vector<std::size_t> worst_steps(const CompilationStudy& study);
// tilewright-manifest-1; `verification` is null where nothing was executed.
std::string to_json(const CompilationStudy& study);

// The schedules of a file: tilewright-schedules-1, {"format": …, "layers": {"conv1": {"tile_h": 14, …}, …}} or the
// manifest of another compilation. Every layer must be one of the network's.
Result<vta::ScheduleChoice> read_schedules(const std::string& file, const QuantisedNetwork& network);

}  // namespace tilewright
