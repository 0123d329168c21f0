// Agglomerative clustering of parameters: from a correlation matrix to a dendrogram, and from there to agents.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/agents/assignment.hpp"
#include "tilewright/agents/correlation.hpp"
#include "tilewright/base/names.hpp"

namespace tilewright {

enum class Linkage { Average, Complete, Ward };
const std::vector<Linkage>& all_linkages();
template <>
struct Names<Linkage> {
  static constexpr std::string_view kWhat = "linkage";
  static constexpr NameTable<Linkage, 3> kTable = {
      {{Linkage::Average, "average"}, {Linkage::Complete, "complete"}, {Linkage::Ward, "ward"}}};
};
constexpr std::string_view name_of(Linkage linkage) { return name(linkage); }

// Step s joins clusters `a` < `b` (below n: a parameter; n + t: the result of step t) at `height`, their distance. Ward's is
// sqrt(2 |a| |b| / (|a| + |b|)) times the distance of their centres, so that two parameters alone are at their own distance.
struct Merge {
  std::size_t a = 0, b = 0;
  double height = 0;
  std::size_t size = 0;  // parameters in the result
};
struct Dendrogram {
  std::size_t leaves = 0;
  std::vector<Merge> merges;       // leaves - 1, by height
  std::vector<std::size_t> order;  // leaves as they are drawn, without crossing lines
};

// Distance of two parameters is 1 - correlation. Ties are broken by the lowest first leaves.
Dendrogram cluster(const CorrelationMatrix& matrix, Linkage linkage);

// The cluster of each leaf, numbered by first leaf: all merges up to `height`, it included, or what leaves so many clusters.
std::vector<std::size_t> cut_at(const Dendrogram& dendrogram, double height);
std::vector<std::size_t> cut_into(const Dendrogram& dendrogram, std::size_t clusters);
// Mean silhouette of a clustering; 0 for a single cluster or singletons.
double silhouette(const CorrelationMatrix& matrix, const std::vector<std::size_t>& clusters);

struct ClusteringOptions {
  Linkage linkage = Linkage::Average;
  std::optional<double> threshold;    // cut at this distance
  std::optional<std::size_t> agents;  // or into this many; with neither, the number from 2 on with the best silhouette
};
std::vector<std::size_t> choose_clusters(const CorrelationMatrix& matrix, const Dendrogram& dendrogram,
                                         const ClusteringOptions& options);

AgentAssignment to_assignment(const CorrelationMatrix& matrix, const std::vector<std::size_t>& clusters,
                              const std::string& origin);

// All of it: from samples to agents.
struct ClusteredAgents {
  CorrelationMatrix matrix;
  Dendrogram dendrogram;
  std::vector<std::size_t> clusters;  // of each parameter
  double silhouette = 0;
  AgentAssignment assignment;
};
ClusteredAgents cluster_agents(const ExplorationTable& table, const CorrelationOptions& correlation,
                               const ClusteringOptions& clustering, std::span<const double> weights = {});

// Adjusted Rand index of two clusterings of the same things: 1 = equal, 0 = as chance would have it.
double adjusted_rand_index(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b);

}  // namespace tilewright
