// Everything an evaluation counts, level by level and tensor by tensor. Counts of a level are per copy under model timeloop
// and of all copies together under model hierarchy; energies are of all copies.
#pragma once

#include <vector>

#include "tilewright/hierarchy/cost.hpp"
#include "tilewright/hierarchy/loops.hpp"

namespace tilewright::hierarchy {

// Accesses of a level by the copies inside it that differ in nothing but who gets them.
struct Record {
  std::int64_t multicast = 1;  // copies that get each word
  std::int64_t scatter = 1;    // groups of such copies
  double accesses = 0;         // words
  double hops = 0;             // words times hops
};

struct TensorCounts {
  bool kept = false;
  std::int64_t tile = 0;       // words
  std::int64_t partition = 0;  // different words that pass through
  std::int64_t reads = 0;
  std::int64_t fills = 0;
  std::int64_t updates = 0;
  Picojoules energy;
};

// The network between a level and what lies inside.
struct NetworkCounts {
  std::vector<Record> records;  // by rising multicast, then scatter
  double links = 0;             // words that neighbours pass on

  double words() const {
    double sum = 0;
    for (const Record& record : records) sum += record.accesses;
    return sum;
  }
  double delivered() const {  // words times copies that get them
    double sum = 0;
    for (const Record& record : records) sum += record.accesses * static_cast<double>(record.multicast);
    return sum;
  }
};

struct LevelAnalysis {
  std::int64_t cycles = 0;
  std::int64_t held = 0;       // words of a copy that tiles take, where it has a capacity
  double slowdown = 1;         // share of the full speed that the bandwidth of this level allows
  std::int64_t instances = 1;  // copies in use
  std::int64_t clusters = 1;
  std::int64_t fanout = 1;  // copies in use inside each of them
  Picojoules energy, network_energy;
  PerTensor<TensorCounts> tensors;
  PerTensor<NetworkCounts> networks;
};

struct Analysis {
  std::int64_t computes = 0;
  std::int64_t compute_cycles = 0;
  std::int64_t macs = 1;  // in use
  Picojoules mac_energy;
  std::vector<LevelAnalysis> levels;  // the innermost first
  Cost cost;
};

}  // namespace tilewright::hierarchy
