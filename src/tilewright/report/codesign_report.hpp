// A co-designed machine and its schedules as one HTML page: the answer first, then layers, convergence, the machine beside
// the default one, how well the surrogate predicted, and who worked when in the slowest layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/report/timeline.hpp"

namespace tilewright {

struct CodesignReportLayer {
  std::string name;
  std::int64_t count = 1;  // how often the network has it
  double macs = 0;         // of one of them, as are all numbers here

  struct Found {
    double cycles = 0;
    double ideal_share = 0;  // GEMM steps per cycle
    double mac_share = 0;    // MACs by what the core could do in these cycles
    double energy = 0;       // nJ
    std::string tiles, threads;
  };
  std::optional<Found> found;
  std::optional<double> default_cycles;  // of the default machine at its default schedule
  std::int64_t measurements = 0, valid = 0;
  std::vector<std::pair<std::int64_t, double>> curve;  // (measurement, cycles) of every new best, whatever the machine
};

// A part of the machine beside the same part of the default machine.
struct CodesignReportPart {
  std::string name, size, default_size;
  double area = 0, default_area = 0;  // in areas of the whole default machine
};

struct CodesignReportRound {
  double rank_correlation = 0, top_recall = 0;  // means over layers
};

struct CodesignReport {
  std::string network, searcher, version, command;
  std::string machine;  // in words; empty when there is no answer
  std::string verification;
  bool equal = false;  // every number was equal to the reference
  std::int64_t measurements_per_layer = 0;
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> notes;  // sentences to be seen first

  double cycles = 0, energy = 0, macs = 0, ideal_share = 0;  // of the whole network
  double area = 0, area_budget = 0, watts = 0, celsius = 0, clock_mhz = 0;
  std::optional<double> default_cycles;
  std::vector<CodesignReportLayer> layers;
  std::vector<std::pair<std::int64_t, double>> curve;  // (measurement of all layers, cycles of the network)
  std::vector<CodesignReportPart> parts;
  std::vector<CodesignReportRound> rounds;
  std::string slowest;  // the layer of the timeline
  std::optional<Timeline> timeline;
  std::string overlap;  // a sentence about it
};

std::string to_html(const CodesignReport& report);

}  // namespace tilewright
