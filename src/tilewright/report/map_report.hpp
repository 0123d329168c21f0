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
  std::string shape{};     // "64x56x56 -> 64x56x56, 3x3"
  std::int64_t count = 1;  // how often the network has it
  double macs = 0;         // of one of them, as are all numbers here

  // The best mapping found; nothing when no sample was valid.
  struct Found {
    double latency = 0;                  // cycles
    double energy = 0;                   // nJ
    double edp = 0;                      // nJ·cycles
    double utilisation = 0;              // of the processing elements, 0 … 1
    double objective = 0;                // what was minimised
    std::vector<double> energy_parts{};  // nJ, as MapReport::energy_part_names; empty when the model has none
    std::string bound{};                 // "compute", "NoC" or "off-chip": the lowest roof
    double roof = 0;                     // share of it, 0 … 1
    std::string mapping;                 // as its file has it
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

// One front: points that a reader chooses from.
struct ReportedFront {
  std::string name;          // of the layer; empty = the whole network
  std::vector<double> x, y;  // in the units of the report's axes, ascending in x
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
  std::vector<std::pair<std::string, std::string>> machine_card;  // what it has, in units people read
  std::vector<std::string> energy_part_names;
  std::string time_text, energy_text;  // of the whole network: "55.9 ms", "3.41 mJ"
  std::string rate_text;               // "17.9 inferences/s"
  std::string dim_legend;              // what the letters of the mappings stand for
  std::string front_x, front_y;        // the axes: "latency, cycles"
  std::vector<ReportedFront> fronts;   // the network's first; none when no front was searched
  std::string front_note;              // what a reader has to know of them

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
