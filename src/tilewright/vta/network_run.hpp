// Runs a planned network: every program on the functional simulator, one after the other, each reading what the ones before
// it computed, and compares every number with the plain integer arithmetic, which was computed apart.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/vta/functional.hpp"
#include "tilewright/vta/network_compile.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright::vta {

struct Difference {
  std::size_t element = 0;  // in the order batch, channel, row, column
  std::int8_t is = 0, expected = 0;
};

struct StepRun {
  bool on_machine = false;
  std::int64_t elements = 0, differences = 0;
  std::optional<Difference> first;
  bool guards_intact = true;
  std::optional<Fault> fault;  // then every element counts as different
  Timing timing;               // of a program
  Profile profile;
  std::int64_t instructions = 0, uops = 0;
  std::uint64_t program_bytes = 0;
  std::uint64_t program_hash = 0;  // of the file, FNV-1a
};

struct NetworkRun {
  std::vector<StepRun> steps;  // as many as the network has
  QuantisedTensors tensors;    // what was computed, by step

  std::int64_t cycles() const;    // of all programs; the host's work takes none here
  std::int64_t compared() const;  // steps of the machine whose results were compared with the reference
  std::int64_t elements() const;  // of those
  std::int64_t differences() const;
  bool is_equal() const;  // and no fault, and all guards intact
};

struct RunOptions {
  TimingOptions timing;
  ExecutionOptions execution;
  const QuantisedTensors* expected = nullptr;  // the reference's results, when they are known already
  // Gets every program when it has run: whoever wants it as a file does not need all of them at once.
  std::function<void(std::size_t step, const Program& program, const StepRun& run)> on_program;
};

NetworkRun run_network(const QuantisedNetwork& network, const NetworkPlan& plan, std::span<const std::int8_t> input,
                       const RunOptions& options, ThreadPool& pool);

// "4,652,001 elements of 25 steps compared with the reference arithmetic: all equal", or the first difference by name.
std::string verification(const QuantisedNetwork& network, const NetworkRun& run);

// The instructions of a program, stream after stream.
std::vector<std::vector<Instruction>> streams_of(const Program& program, const Machine& machine);

}  // namespace tilewright::vta
