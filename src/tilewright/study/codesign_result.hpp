// What `codesign` works on, what it has found, and its forms: text, CSV, JSON, HTML, programs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/search/boosted_trees.hpp"
#include "tilewright/search/settings.hpp"
#include "tilewright/search/stored_memory.hpp"
#include "tilewright/space/codesign_space.hpp"
#include "tilewright/study/codesign_command.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {

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
Result<CodesignJob> read_codesign_job(const CodesignArguments& arguments);
// Fine when the directory holds no run, or this very run; otherwise an Error that names the first difference.
Result<Done> check_same_codesign(const std::filesystem::path& directory, const CodesignArguments& arguments,
                                 const CodesignJob& job);
// At most so many of every layer.
std::int64_t measurements_of(const CodesignArguments& arguments, const CodesignJob& job);

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

// The best of every layer on every machine that was measured: the answer is the machine on which the whole network takes
// the fewest cycles, among those on which every layer was measured. Of equal ones the smaller machine, then the earlier.
class MachineLedger {
 public:
  explicit MachineLedger(const std::vector<CodesignLayer>& layers);

  void consider(std::size_t layer, const Point& point, const Outcome& outcome);

  struct Answer {
    double cycles = 0;  // of the network, every layer as often as it is there
    double area = 0;
    std::vector<Best> layers;
  };
  const std::optional<Answer>& answer() const { return answer_; }
  // (measurements of all layers so far, cycles of the network) of every new best.
  const std::vector<std::pair<std::int64_t, double>>& curve() const { return curve_; }
  std::size_t machines() const { return entries_.size(); }     // with something feasible
  std::size_t complete_machines() const { return complete_; }  // with all layers

 private:
  struct Entry {
    std::vector<std::optional<Best>> layers;
    std::size_t found = 0;
  };
  std::vector<std::int64_t> counts_;
  std::size_t hardware_ = 0;  // entries of a point that name its machine
  std::map<Point, Entry> entries_;
  std::size_t complete_ = 0;
  std::int64_t measurements_ = 0;
  std::optional<Answer> answer_;
  std::vector<std::pair<std::int64_t, double>> curve_;
};

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

struct CodesignResult {
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
  std::size_t machines = 0, complete_machines = 0;     // likewise
  CodesignCheck check;
};

// Searches until the measurements are spent or `keep_going` (asked after every round) says no. `memory` may be null.
using CodesignProgress = std::function<bool(const SearchLoop& loop, const MachineLedger& machines)>;
Result<CodesignResult> search_codesign(const CodesignJob& job, const CodesignArguments& arguments, ThreadPool& threads,
                                       StoredMemory* memory, const CodesignProgress& keep_going);

// Makes the programs of the answer, executes each, compares every number with the reference arithmetic: the whole network
// where it can be built, otherwise layer by layer on random data. With a directory, programs, manifest and listing go there.
Result<CodesignCheck> check_codesign(const CodesignArguments& arguments, const CodesignResult& result, ThreadPool& threads,
                                     const std::filesystem::path& directory);

// Of the whole network, every layer as often as it is there.
struct CodesignTotals {
  double cycles = 0, energy = 0, gemm_steps = 0, macs = 0;
  std::optional<double> default_cycles;  // nothing when a layer does not fit the default machine
  std::optional<double> optimum_cycles;  // on the answer's machine
  std::int64_t measurements = 0, valid = 0, repeated = 0;
};
CodesignTotals totals_of(const CodesignResult& result);

std::string to_text(const CodesignResult& result);
std::string to_json(const CodesignResult& result);
std::string to_html(const CodesignResult& result);
// tilewright-schedules-1: what `compile --schedules` reads, for all layers of the network.
std::string schedules_json(const CodesignResult& result, const Network& network);
std::string layers_csv(const CodesignResult& result);
std::string convergence_csv(const CodesignResult& result);
std::string calibration_csv(const CodesignResult& result);

}  // namespace tilewright
