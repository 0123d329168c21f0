// A machine: multiply-accumulate units, and a chain of storage levels from them outwards.
//
//   MACs ── level 0 ── level 1 ── … ── level S-1, normally DRAM
//
// A level has `instances` copies in a mesh. Each feeds instances(i-1) / instances(i) copies of the level inside it, mesh_x
// and mesh_y of them side by side. Numbers of words are per copy.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/base/units.hpp"
#include "tilewright/hierarchy/problem.hpp"

namespace tilewright::hierarchy {

inline constexpr std::size_t kMostLevels = 12;
inline constexpr std::int64_t kMostMacs = std::int64_t{1} << 20;  // spreading is looked at element by element

enum class Technology : std::uint8_t { Registers, Sram, Dram };

// Energy of one vector access, that is of block_size words at once.
struct AccessEnergy {
  Picojoules read, fill, update;
  bool operator==(const AccessEnergy&) const = default;
};

struct StorageLevel {
  std::string name;
  Technology technology = Technology::Sram;
  std::int64_t instances = 1;
  std::int64_t mesh_x = 1;
  std::optional<std::int64_t> capacity;  // words of word_bits; nothing = unlimited
  std::int64_t word_bits = 16;
  std::int64_t block_size = 1;                                              // words per physical access
  std::int64_t cluster_size = 1;                                            // copies that share one physical memory
  double multiple_buffering = 1;                                            // copies of the tile the capacity has to hold
  double min_utilization = 0;                                               // share of the capacity a mapping has to use
  std::optional<double> read_bandwidth, write_bandwidth, shared_bandwidth;  // words per cycle
  bool overlaps = true;  // moving tiles in and out goes on behind the computation (model hierarchy)
  bool multicast = true;
  bool links = true;  // copies of the level inside pass data to their neighbours (model timeloop)
  AccessEnergy energy;
  Picojoules energy_per_hop, router_energy;  // of the network to the level inside
  Picojoules leakage;                        // per copy and cycle
  std::optional<SquareMicrometres> area;     // of one copy
  std::vector<TensorKind> keeps, bypasses;   // what every mapping has to do here
  bool operator==(const StorageLevel&) const = default;

  std::int64_t mesh_y() const { return instances / mesh_x; }
  // Words that a mapping may use: floor(capacity / multiple_buffering).
  std::optional<std::int64_t> usable() const;
};

struct MacArray {
  std::string name = "mac";
  std::int64_t instances = 1;
  std::int64_t mesh_x = 1;
  std::int64_t word_bits = 16;
  Picojoules energy{1};
  std::optional<SquareMicrometres> area;  // of one MAC
  bool operator==(const MacArray&) const = default;

  std::int64_t mesh_y() const { return instances / mesh_x; }
};

// Bits of a tensor's elements; 0 = the words of the level it lies in.
struct ElementBits {
  std::int64_t weights = 0, inputs = 0, outputs = 0, partial_sums = 0;
  bool operator==(const ElementBits&) const = default;
};
// "weights=4,inputs=8,outputs=16,partial_sums=32", any of them; what is not named stays.
Result<ElementBits> element_bits(std::string_view text, ElementBits bits);

struct Machine {
  std::string name;
  std::string source;  // where the numbers come from, for people
  MacArray mac;
  std::vector<StorageLevel> levels;  // the innermost first
  ElementBits bits;                  // model hierarchy
  double clock_ghz = 1.0;
  bool operator==(const Machine&) const = default;

  std::int64_t fan_x(std::size_t level) const;  // columns of what lies inside, per copy of the level
  std::int64_t fan_y(std::size_t level) const;
  std::optional<std::size_t> level_named(std::string_view level) const;
};

// The machine itself, or a sentence that names its first impossible number.
Result<Machine> check(Machine machine, const std::string& where);
// "instances is 0, expected at least 1": what is impossible about a level alone.
std::optional<std::string> fault_of(const StorageLevel& level);
std::optional<std::string> fault_of(const MacArray& mac);

// The built-in public table (docs/hierarchy.md): energy of a vector access and of a multiply-accumulate.
AccessEnergy table_energy(const StorageLevel& level);
Picojoules table_energy(const MacArray& mac);

}  // namespace tilewright::hierarchy

template <>
struct tilewright::Names<tilewright::hierarchy::Technology> {
  static constexpr std::string_view kWhat = "technology";
  static constexpr NameTable<hierarchy::Technology, 3> kTable = {{{hierarchy::Technology::Registers, "registers"},
                                                                  {hierarchy::Technology::Sram, "sram"},
                                                                  {hierarchy::Technology::Dram, "dram"}}};
};
