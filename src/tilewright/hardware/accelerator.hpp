// An accelerator: processing elements in an array, a private L1 each, a shared L2, a network between them, memory outside.
// One element of a tensor is one byte.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/base/units.hpp"

namespace tilewright {

// "No limit", as MAESTRO writes it.
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int32_t>::max();

struct Noc {
  std::int64_t bandwidth = kUnlimited;  // elements per cycle
  std::int64_t hops = 1;
  std::int64_t hop_latency = 1;  // cycles
  std::int64_t latency() const { return hops * hop_latency; }
  bool operator==(const Noc&) const = default;
};

// Energy of one event. Defaults are MAESTRO's: 0.23 pJ per MAC, L1 1.68 times and L2 18.61 times that.
struct EnergyTable {
  Picojoules mac{0.23};
  Picojoules l1_access{1.68 * 0.23};
  Picojoules l2_access{18.61 * 0.23};
  bool operator==(const EnergyTable&) const = default;
};

// What a part of the machine covers. A figure that is not given is not known, and then no area is: there is none that holds
// for every process.
struct AreaTable {
  std::optional<SquareMicrometres> pe;           // per SIMD lane
  std::optional<SquareMicrometres> buffer_byte;  // of L2, and of L1 unless that has its own
  std::optional<SquareMicrometres> l1_byte;
  bool known() const { return pe && buffer_byte; }
  bool operator==(const AreaTable&) const = default;
};

struct Accelerator {
  std::string name;
  std::string source;  // where the numbers come from, for people
  std::int64_t pes = 1;
  std::vector<std::int64_t> clusters;  // units per cluster as built, outermost first; empty = one flat array
  Bytes l1{kUnlimited};                // per processing element
  Bytes l2{kUnlimited};
  Noc noc;
  std::int64_t offchip_bandwidth = kUnlimited;  // elements per cycle
  std::int64_t simd_lanes = 1;                  // MACs per processing element and cycle
  double clock_ghz = 1.0;
  Milliwatts leakage{0};  // of the whole machine, whatever it does
  EnergyTable energy;
  AreaTable area;

  bool operator==(const Accelerator&) const = default;
};

// True when a file is meant to be a machine, right or wrong: by its name in the zoo, its ending, or the fields it has.
bool is_meant_as_accelerator(const std::string& source);

// Reads "zoo:eyeriss" or a file by its ending: .yaml/.yml ours, .m or .txt MAESTRO's `key: value` lines. An accelerator that
// does not say its name is called after its file.
Result<Accelerator> read_accelerator(const std::string& source);
Result<Accelerator> accelerator_from_yaml(const std::string& text, const std::string& where);
Result<Accelerator> accelerator_from_maestro(const std::string& text, const std::string& where);
std::string to_yaml(const Accelerator& accelerator);

// The first impossible number, if there is one. Numbers of an accelerator without a fault are at most kUnlimited, and so is
// the latency of its NoC; its clusters divide its processing elements.
struct AcceleratorFault {
  std::string field;     // "noc.bandwidth", as in our YAML
  std::string sentence;  // "is 0, expected at least 1"
};
std::optional<AcceleratorFault> fault_of(const Accelerator& accelerator);

// The accelerator itself, or its fault as an Error.
Result<Accelerator> check(Accelerator accelerator, const std::string& where);

}  // namespace tilewright
