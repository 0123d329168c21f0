// What a mapping costs, or why it cannot run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tilewright/base/names.hpp"
#include "tilewright/base/units.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

enum class Model : std::uint8_t {
  Sound,           // the default: MAESTRO's analysis with own energy, audited counts, hard limits
  Exact,           // sound, with every tile as large as it really is: agrees with a walk of the loops
  Maestro,         // MAESTRO 4eb08d1, number for number
  MaestroE1d8efd,  // the older MAESTRO that GAMMA and ArchGym pin, number for number
};
constexpr bool is_maestro(Model model) { return model == Model::Maestro || model == Model::MaestroE1d8efd; }
template <>
struct Names<Model> {
  static constexpr std::string_view kWhat = "model";
  static constexpr NameTable<Model, 4> kTable = {{{Model::Sound, "sound"},
                                                  {Model::Exact, "exact"},
                                                  {Model::Maestro, "maestro"},
                                                  {Model::MaestroE1d8efd, "maestro@e1d8efd"}}};
};
constexpr std::string_view name_of(Model model) { return name(model); }

// What a broken buffer or bandwidth limit means to the sound model.
enum class Constraints : std::uint8_t {
  Hard,    // infeasible
  Soft,    // feasible, with Cost::violation > 0 for a search to weigh
  Report,  // feasible, limits are only shown
};
template <>
struct Names<Constraints> {
  static constexpr std::string_view kWhat = "constraints";
  static constexpr NameTable<Constraints, 3> kTable = {
      {{Constraints::Hard, "hard"}, {Constraints::Soft, "soft"}, {Constraints::Report, "report"}}};
};

struct Infeasible {
  enum class Reason : std::uint8_t {
    // The mapping says nothing that can run.
    NoSpatialMap,         // level has none
    TooManySpatialMaps,   // need: how many, limit: 2
    UnpairedSpatialMaps,  // exact: two spatial maps that are not a window and its taps leave combinations out
    RepeatedDim,          // exact: level maps a dimension twice
    TilesDoNotMeet,       // exact: tiles overlap or leave gaps; need: the offset that fits, limit: the one given
    UnknownDim,           // level maps a dimension that is not there
    MissingDim,           // a tensor of the layer needs it
    ImpossibleLayer,      // no multiplication, or more than 2^56; need: how many
    OutputWithoutFilter,  // Y' or X' is mapped in a level without R or S
    PartialFilter,        // MAESTRO: a temporal map on R or S must be the whole filter; need: tile, limit: filter
    TooManyDirectives,    // of one level, inherited ones included
    PeOverflow,           // need: product of the clusters, limit: PEs
    // The machine says nothing that can run.
    NoBandwidth,  // NoC or off-chip bandwidth is 0
    // The model breaks down, as the real program does.
    NothingNew,       // a temporal map moves on but brings no new data
    CounterOverflow,  // a stance occurs more often than 31 bits count
    NoComputation,    // a step of level 0 computes nothing, its bandwidth is undefined
    TooManyStances,   // need: combinations of loop states, limit: what we walk
    // The audit of the sound model.
    MacsMiscounted,      // need: true MACs, limit: counted
    MacsLost,            // need: true MACs, limit: those that reach the processing elements
    FasterThanPossible,  // need: the least cycles possible, limit: cycles claimed
    // Limits of the machine.
    L1Overflow,
    L2Overflow,
    NocBandwidth,
    OffchipBandwidth,
  };
  Reason reason = Reason::NoSpatialMap;
  std::uint8_t level = 0;
  Dim dim = Dim::K;
  std::int64_t need = 0;
  std::int64_t limit = 0;
};

std::string_view name_of(Infeasible::Reason reason);  // "l1-overflow"
std::string to_sentence(const Infeasible& infeasible);

enum class Operand : std::uint8_t { Input, Weight, Output };
inline constexpr std::size_t kOperandCount = 3;
template <typename T>
using PerOperand = std::array<T, kOperandCount>;  // indexed by Operand

// Accesses of one operand, in elements, as seen between L2 and the top array.
struct Traffic {
  std::int64_t l1_read = 0;
  std::int64_t l1_write = 0;
  std::int64_t l2_read = 0;
  std::int64_t l2_write = 0;
};

struct EnergyParts {
  Picojoules mac, l1, l2;
};

struct AreaParts {
  SquareMicrometres pe, l1, l2, noc;  // noc: MAESTRO only
};

struct PowerParts {
  Milliwatts pe, l1, l2, noc, leakage;  // noc: MAESTRO only
};

struct Delay {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t mean = 0;
};

// What only a report asks for; zero unless the evaluation was asked for all columns.
struct CostDetail {
  Delay ingress, egress, compute;  // cycles of one step of level 0
  double mean_bandwidth = 0;       // elements per cycle
  double utilised_pes = 0;
  double arithmetic_intensity = 0;  // MACs per element; MAESTRO: of the last stance only
};

struct Cost {
  Cycles runtime;
  Macs macs;       // as counted at level 0
  Macs leaf_macs;  // as counted at the processing elements
  // Turns in which a processing element has nothing to multiply: where taps and positions are cut apart, some of their pairs
  // make no output, and the sound model takes last tiles for whole ones. They take time and nothing else. MAESTRO counts
  // them among its leaf_macs.
  Macs idle_macs;
  Nanojoules energy;
  EnergyParts energy_parts;               // sound model only; MAESTRO's single number has no true parts
  std::optional<SquareMicrometres> area;  // nothing = unknown: the machine gives no figures
  AreaParts area_parts;                   // of a known area
  Milliwatts power;
  PowerParts power_parts;
  PerOperand<Traffic> traffic;
  PerOperand<std::int64_t> l1_need{};  // bytes per processing element, double buffered
  PerOperand<std::int64_t> l2_need{};
  Bytes l1;  // sums of the two above
  Bytes l2;
  std::int64_t peak_bandwidth = 0;     // elements per cycle between L2 and the array, of the busiest step
  std::int64_t offchip_bandwidth = 0;  // elements per cycle from outside, likewise
  double violation = 0;                // sum over broken limits of need/limit - 1
  bool flat = false;                   // one analysis only: a single level, or nothing to compute
  CostDetail detail;

  // nJ times cycles.
  double energy_delay() const { return energy.value * static_cast<double>(runtime.value); }
};

using Evaluation = std::variant<Cost, Infeasible>;

}  // namespace tilewright
