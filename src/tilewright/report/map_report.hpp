// The mapping of a network as one HTML page: the answer first, then layers, convergence, agents, mappings, provenance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/report/matrix_plot.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

struct ReportedLayer {
  std::string name;
  std::int64_t count = 1;  // how often the network has it
  double macs = 0;         // of one of them, as are all numbers here

  // The best mapping found; nothing when no sample was valid.
  struct Found {
    double latency = 0;      // cycles
    double energy = 0;       // nJ
    double edp = 0;          // nJ·cycles
    double utilisation = 0;  // of the processing elements, 0 … 1
    double objective = 0;    // what was minimised
    std::string mapping;     // as its file has it
    std::string loop_nest;
  };
  std::optional<Found> found;

  std::string dataflow;                   // the best classic one
  std::optional<double> dataflow_factor;  // its objective by ours: above 1 is our gain
  std::optional<double> optimum_factor;   // our objective by the true optimum, where that is known; 1 = optimal

  std::int64_t samples = 0, valid = 0, repeated = 0;
  std::vector<std::pair<std::string, std::int64_t>> rejected;  // by reason
  std::vector<std::pair<std::int64_t, double>> curve;          // (sample, objective) of every new best
};

struct MapReport {
  std::string network, machine;
  std::string objective, unit;  // "edp", "nJ·cycles"
  std::string searcher;
  std::int64_t samples_per_layer = 0;
  std::uint64_t seed = 0;
  std::string version;
  std::string command;
  std::vector<std::pair<std::string, std::string>> settings;

  std::vector<ReportedLayer> layers;  // in the order of the table
  std::optional<Coverage> coverage;

  // Of the whole network, every layer as often as it is there.
  double latency = 0, energy = 0, edp = 0, macs = 0;
  std::string edp_meaning = "energy × latency of the whole network";
  std::optional<double> dataflow_factor;  // objective with the best classic dataflow of each layer, by ours
  std::string dataflow_meaning = "best classic dataflow of each layer";
  double seconds = 0;
  std::int64_t remembered = 0;  // samples whose outcome was in the store already

  std::optional<ClusterMap> agents;  // what the agents were made of
  std::string agents_origin;         // how: "clusters (pearson, average linkage, silhouette)"
  std::vector<std::string> notes;    // sentences to be seen first
};

std::string to_html(const MapReport& report);

}  // namespace tilewright
