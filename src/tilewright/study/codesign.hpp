// One machine for a network, and a schedule for each of its layers.
//
//   CodesignOptions options;
//   options.network = "zoo:alexnet";
//   TW_TRY(const CodesignJob job, read_codesign_job(options));
//   TW_TRY(const CodesignStudy study, codesign(job, options, context));
//
// Everything measured is kept in the context's run directory, where there is one: the same study in it goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/base/options.hpp"
#include "tilewright/search/boosted_trees.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/search/settings.hpp"
#include "tilewright/space/codesign_space.hpp"
#include "tilewright/study/run_context.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {

inline constexpr std::int64_t kDefaultMeasurements = 512;

struct CodesignOptions {
  std::string network;
  std::vector<std::string> dims;      // "sequence=128": open dimensions of an ONNX model
  std::string layer;                  // one layer only; empty = all
  std::vector<Operator> operators;    // only layers of these; empty = all
  std::string machine;                // the machine that is given; empty = it is searched
  bool fixed_buffers = false;         // only the core is searched
  std::optional<double> area_budget;  // of the default machine's area; 1 unless the machine is given
  std::optional<double> max_power, max_temperature;
  vta::TimingOptions timing;
  vta::PhysicalOptions physical;
  std::string search = "dcoc";               // as in SearchOptions
  std::optional<std::int64_t> measurements;  // per distinct layer; nothing = 512, with exhaustive all
  std::uint64_t seed = 1;
  std::vector<std::string> settings;  // "dcoc.batch=32"
  bool optimum = false;               // also prove the fewest cycles there are, for judging the answer
  bool no_verify = false;
  std::string store;                 // of measured points; empty = the run's own
  std::vector<std::string> command;  // as which it was asked for
};
OptionTable options_of(CodesignOptions& options);

// One distinct layer that the machine runs.
struct CodesignLayer {
  std::string name;
  std::int64_t count = 1;  // how often the network has it
  std::unique_ptr<CodesignSpace> space;

  const Layer& layer() const { return space->layer(); }
};

// One that it cannot.
struct HostLayer {
  std::string name;
  std::int64_t count = 1;
  std::string reason;
};

struct CodesignJob {
  Network network;
  std::string network_name;      // printable
  CodesignSpaceOptions options;  // of every space
  std::vector<CodesignLayer> layers;
  std::vector<HostLayer> host;
  std::int64_t left_out = 0;             // layers of operators that were not asked for
  std::size_t machines_within_area = 0;  // of the space

  std::vector<const DesignSpace*> spaces() const;
};
// Which layers of a network, one by name or all of some operators, and the machines they may run on.
struct CodesignScope {
  std::string layer;                // empty = all
  std::vector<Operator> operators;  // empty = all
};
Result<CodesignJob> codesign_job(Network network, const CodesignSpaceOptions& space, const CodesignScope& scope = {});
// The same of the network, the machine and the limits that the options name.
Result<CodesignJob> read_codesign_job(const CodesignOptions& options);

// The options of the run in a directory.
Result<CodesignOptions> read_codesign_run(const std::filesystem::path& directory);
// Fine when the directory holds this very run; otherwise an Error that names the first difference.
Result<Done> check_same_codesign(const std::filesystem::path& directory, const CodesignOptions& options,
                                 const CodesignJob& job);
// At most so many of every layer.
std::int64_t measurements_of(const CodesignOptions& options, const CodesignJob& job);

// A layer's program on a machine.
struct TimedLayer {
  vta::Timing timing;
  vta::Energy energy;
};
TimedLayer time_layer(const Layer& layer, const vta::Machine& machine, const vta::Schedule& schedule,
                      const CodesignSpaceOptions& options);

// Of the default machine at its default schedule; nothing where the layer does not fit.
std::optional<std::int64_t> default_cycles(const Layer& layer, const CodesignSpaceOptions& options);
// How many machines of the space have at most this area; an Error when none has.
Result<std::size_t> machines_within(const CodesignSpace& space, double budget);

struct CodesignedLayer {
  std::string name;
  std::int64_t count = 1;
  Layer layer;            // as the machine computes it
  double log10_size = 0;  // of its space

  struct Found {
    vta::Schedule schedule;
    Metrics metrics;
    vta::Timing timing;
  };
  std::optional<Found> found;
  std::optional<std::int64_t> default_cycles;  // of the default machine at its default schedule
  std::optional<double> optimum_cycles;        // proven, on the answer's machine; where that was asked for
  std::optional<double> joint_optimum_cycles;  // proven, on any machine of the space
  Ledger ledger;                               // of its own best, whatever the machine
  std::vector<std::pair<std::string, std::int64_t>> rejected;
  std::vector<Calibration> calibrations;  // of the surrogate, by round; none for searchers without one
};

// What executing the programs has shown.
struct CodesignCheck {
  bool executed = false, equal = false;
  bool whole = false;  // the whole network from end to end, not layer by layer
  std::string sentence;
  std::size_t programs = 0;
  std::int64_t cycles = 0;  // of all programs, those of pools and sums included; 0 unless whole
};

struct CodesignStudy {
  std::string network;
  CodesignSpaceOptions options;
  std::string machine_name;  // as the user gave it; empty = it was searched
  std::string search;
  std::int64_t measurements = 0;  // per layer
  bool all_measured = false;      // by exhaustive: every point of the space
  std::uint64_t seed = 1;
  std::vector<SettingValue> settings;
  std::vector<std::string> command;
  bool interrupted = false;
  std::optional<vta::Machine> machine;  // nothing when none has a schedule for every layer
  std::vector<CodesignedLayer> layers;
  std::vector<HostLayer> host;
  std::vector<std::pair<std::int64_t, double>> curve;  // as in MachineLedger
  std::int64_t left_out = 0;                           // as in CodesignJob
  std::size_t machines_within_area = 0;                // likewise
  std::size_t machines = 0, complete_machines = 0;     // as in MachineLedger
  CodesignCheck check;
  // How this process came to it, and no part of what was found:
  std::int64_t known = 0;  // points that were measured before
  double search_seconds = 0;
};

// Searches until the measurements are spent or the context says stop, then makes the programs of the answer, executes each
// and compares every number with the reference arithmetic: the whole network where it can be built, otherwise layer by layer
// on random data. With a run directory, the points, programs, manifest and listing are there afterwards.
Result<CodesignStudy> codesign(const CodesignJob& job, const CodesignOptions& options, RunContext& context);

// Of the whole network, every layer as often as it is there.
struct CodesignTotals {
  double cycles = 0, energy = 0, gemm_steps = 0, macs = 0;
  std::optional<double> default_cycles;  // nothing when a layer does not fit the default machine
  std::optional<double> optimum_cycles;  // on the answer's machine
  std::int64_t measurements = 0, valid = 0, repeated = 0;
};
CodesignTotals totals_of(const CodesignStudy& study);

double ideal_share(const CodesignedLayer::Found& found);  // GEMM steps per cycle
double mac_share(const CodesignedLayer::Found& found, const vta::Machine& machine);

struct CodesignPower {
  double watts = 0, celsius = 0;
};
CodesignPower power_of(const CodesignStudy& study, const CodesignTotals& totals);

// Means over layers, by round; layers that had fewer rounds are left out of the later ones.
std::vector<Calibration> mean_calibrations(const CodesignStudy& study);

// tilewright-codesign-1, and what a search has met and found out of it again, without anything that follows from that.
std::string to_json(const CodesignStudy& study);
Result<CodesignStudy> codesign_study_from(const nlohmann::ordered_json& json);
// tilewright-schedules-1: what `compile --schedules` reads, for all layers of the network.
std::string schedules_json(const CodesignStudy& study, const Network& network);

}  // namespace tilewright
