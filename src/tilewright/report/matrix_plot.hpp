// Matrices of numbers from 0 to 1 as heat maps, and a clustering of their rows beside them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

// Rows × columns with the number in each cell: adjusted Rand indices of clusterings, say. Values below 0 are as pale as 0,
// what is not finite is left empty.
struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<double> values;  // row by row
  std::string meaning;         // what a value is, for readers who cannot see it: "adjusted Rand index"
  std::size_t colour = 0;
};
std::string to_svg(const HeatMap& map);

// A correlation matrix in the order of a dendrogram of its parameters, which is drawn beside it. Every cluster has a colour
// and a frame around its part of the diagonal.
struct ClusterMap {
  struct Merge {
    std::size_t a = 0, b = 0;  // below the number of names: a name; from there on: the result of an earlier merge
    double height = 0;
  };
  std::vector<std::string> names;
  std::vector<double> values;         // names × names
  std::vector<Merge> merges;          // names - 1, or none
  std::vector<std::size_t> order;     // of drawing: every name once
  std::vector<std::size_t> clusters;  // of each name
  std::optional<double> cut{};        // the height that made the clusters
  std::string meaning = "correlation";
};
std::string to_svg(const ClusterMap& map);

// The colour of a cluster, of at most kColourCount.
std::size_t cluster_colour(std::size_t cluster);

}  // namespace tilewright
