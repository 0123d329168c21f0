#include "tilewright/agents/clustering.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// Clusters that are still apart live at the place of their first leaf.
struct Clusters {
  std::vector<double> distances;  // leaves × leaves; squared for Ward
  std::vector<std::size_t> names, sizes;
  std::vector<bool> alive;
};

// Lance and Williams: the distance of a third cluster from the union of two, from its distances to either.
double joined_distance(Linkage linkage, double to_a, double to_b, double between, double a, double b, double third) {
  switch (linkage) {
    case Linkage::Average:
      return (a * to_a + b * to_b) / (a + b);
    case Linkage::Complete:
      return std::max(to_a, to_b);
    case Linkage::Ward:
      return ((a + third) * to_a + (b + third) * to_b - third * between) / (a + b + third);
  }
  return 0;
}

// Leaves from left to right: of the two sides of a merge, first the one whose first leaf comes first.
std::vector<std::size_t> drawing_order(const Dendrogram& dendrogram) {
  std::vector<std::vector<std::size_t>> parts;
  for (std::size_t leaf = 0; leaf < dendrogram.leaves; ++leaf) parts.push_back({leaf});
  for (const Merge& merge : dendrogram.merges) {
    std::vector<std::size_t> left = std::move(parts[merge.a]);
    std::vector<std::size_t> right = std::move(parts[merge.b]);
    if (right[0] < left[0]) std::swap(left, right);
    left.insert(left.end(), right.begin(), right.end());
    parts.push_back(std::move(left));
  }
  return parts.empty() ? std::vector<std::size_t>{} : parts.back();
}

std::vector<std::size_t> after_merges(const Dendrogram& dendrogram, std::size_t count) {
  std::vector<std::vector<std::size_t>> members;
  for (std::size_t leaf = 0; leaf < dendrogram.leaves; ++leaf) members.push_back({leaf});
  std::vector<std::size_t> cluster_of(dendrogram.leaves);
  for (std::size_t leaf = 0; leaf < dendrogram.leaves; ++leaf) cluster_of[leaf] = leaf;
  for (std::size_t step = 0; step < count; ++step) {
    std::vector<std::size_t> joined = members[dendrogram.merges[step].a];
    const std::vector<std::size_t>& others = members[dendrogram.merges[step].b];
    joined.insert(joined.end(), others.begin(), others.end());
    for (const std::size_t leaf : joined) cluster_of[leaf] = dendrogram.leaves + step;
    members.push_back(std::move(joined));
  }
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t& cluster : cluster_of) cluster = numbers.emplace(cluster, numbers.size()).first->second;
  return cluster_of;
}

std::size_t cluster_count(const std::vector<std::size_t>& clusters) {
  return clusters.empty() ? 0 : *std::ranges::max_element(clusters) + 1;
}

double pairs(double count) { return count * (count - 1) / 2; }

}  // namespace

const std::vector<Linkage>& all_linkages() {
  static const std::vector<Linkage> all = {Linkage::Average, Linkage::Complete, Linkage::Ward};
  return all;
}

Dendrogram cluster(const CorrelationMatrix& matrix, Linkage linkage) {
  const std::size_t n = matrix.names.size();
  Dendrogram dendrogram{n, {}, {}};
  Clusters clusters{std::vector<double>(n * n), std::vector<std::size_t>(n), std::vector<std::size_t>(n, 1),
                    std::vector<bool>(n, true)};
  const auto distance = [&](std::size_t i, std::size_t j) -> double& { return clusters.distances[i * n + j]; };
  for (std::size_t i = 0; i < n; ++i) {
    clusters.names[i] = i;
    for (std::size_t j = 0; j < n; ++j) {
      const double apart = 1 - matrix(i, j);
      distance(i, j) = linkage == Linkage::Ward ? apart * apart : apart;
    }
  }
  for (std::size_t step = 0; step + 1 < n; ++step) {
    std::size_t a = n, b = n;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        if (!clusters.alive[i] || !clusters.alive[j]) continue;
        if (a == n || distance(i, j) < distance(a, b)) a = i, b = j;
      }
    }
    const double between = distance(a, b);
    const auto size_a = static_cast<double>(clusters.sizes[a]);
    const auto size_b = static_cast<double>(clusters.sizes[b]);
    double height = linkage == Linkage::Ward ? std::sqrt(between) : between;
    // None of the three linkages ever joins below an earlier step but for rounding.
    if (step > 0) height = std::max(height, dendrogram.merges.back().height);
    for (std::size_t k = 0; k < n; ++k) {
      if (!clusters.alive[k] || k == a || k == b) continue;
      const double joined = joined_distance(linkage, distance(k, a), distance(k, b), between, size_a, size_b,
                                            static_cast<double>(clusters.sizes[k]));
      distance(k, a) = distance(a, k) = joined;
    }
    clusters.sizes[a] += clusters.sizes[b];
    clusters.alive[b] = false;
    dendrogram.merges.push_back({std::min(clusters.names[a], clusters.names[b]),
                                 std::max(clusters.names[a], clusters.names[b]), height, clusters.sizes[a]});
    clusters.names[a] = n + step;
  }
  dendrogram.order = drawing_order(dendrogram);
  return dendrogram;
}

std::vector<std::size_t> cut_at(const Dendrogram& dendrogram, double height) {
  std::size_t count = 0;
  while (count < dendrogram.merges.size() && dendrogram.merges[count].height <= height) ++count;
  return after_merges(dendrogram, count);
}

std::vector<std::size_t> cut_into(const Dendrogram& dendrogram, std::size_t clusters) {
  if (dendrogram.leaves == 0) return {};
  return after_merges(dendrogram, dendrogram.leaves - std::clamp<std::size_t>(clusters, 1, dendrogram.leaves));
}

double silhouette(const CorrelationMatrix& matrix, const std::vector<std::size_t>& clusters) {
  const std::size_t n = clusters.size();
  const std::size_t count = cluster_count(clusters);
  if (count < 2 || count >= n) return 0;
  std::vector<double> sizes(count, 0.0);
  for (const std::size_t cluster : clusters) ++sizes[cluster];
  double total = 0;
  std::vector<double> sums(count);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t own = clusters[i];
    if (sizes[own] < 2) continue;  // alone: 0 by definition
    std::ranges::fill(sums, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) sums[clusters[j]] += 1 - matrix(i, j);
    }
    const double within = sums[own] / (sizes[own] - 1);
    double nearest_other = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < count; ++c) {
      if (c != own) nearest_other = std::min(nearest_other, sums[c] / sizes[c]);
    }
    const double larger = std::max(within, nearest_other);
    if (larger > 0) total += (nearest_other - within) / larger;
  }
  return total / static_cast<double>(n);
}

std::vector<std::size_t> choose_clusters(const CorrelationMatrix& matrix, const Dendrogram& dendrogram,
                                         const ClusteringOptions& options) {
  if (options.agents) return cut_into(dendrogram, *options.agents);
  if (options.threshold) return cut_at(dendrogram, *options.threshold);
  std::vector<std::size_t> best = cut_into(dendrogram, 2);
  double best_silhouette = silhouette(matrix, best);
  for (std::size_t count = 3; count < dendrogram.leaves; ++count) {
    std::vector<std::size_t> clusters = cut_into(dendrogram, count);
    const double value = silhouette(matrix, clusters);
    if (value <= best_silhouette) continue;
    best_silhouette = value;
    best = std::move(clusters);
  }
  return best;
}

AgentAssignment to_assignment(const CorrelationMatrix& matrix, const std::vector<std::size_t>& clusters,
                              const std::string& origin) {
  AgentAssignment assignment{std::vector<std::vector<std::string>>(cluster_count(clusters)), origin};
  for (std::size_t i = 0; i < clusters.size(); ++i) assignment.agents[clusters[i]].push_back(matrix.names[i]);
  return assignment;
}

ClusteredAgents cluster_agents(const ExplorationTable& table, const CorrelationOptions& correlation,
                               const ClusteringOptions& clustering, std::span<const double> weights) {
  ClusteredAgents result;
  result.matrix = correlate(table, correlation, weights);
  result.dendrogram = cluster(result.matrix, clustering.linkage);
  result.clusters = choose_clusters(result.matrix, result.dendrogram, clustering);
  result.silhouette = silhouette(result.matrix, result.clusters);
  const std::string rule = clustering.agents      ? fmt::format("{} agents", *clustering.agents)
                           : clustering.threshold ? fmt::format("threshold {}", *clustering.threshold)
                                                  : "silhouette";
  const std::string origin =
      fmt::format("clusters ({}{}, quantile {:.3g}, {} linkage, {})", name_of(correlation.dependence),
                  correlation.contrast ? " contrast" : "", correlation.quantile, name_of(clustering.linkage), rule);
  result.assignment = to_assignment(result.matrix, result.clusters, origin);
  return result;
}

double adjusted_rand_index(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  TW_ASSERT(a.size() == b.size());
  std::map<std::pair<std::size_t, std::size_t>, double> cells;
  std::map<std::size_t, double> rows, columns;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++cells[{a[i], b[i]}];
    ++rows[a[i]];
    ++columns[b[i]];
  }
  double together = 0, in_a = 0, in_b = 0;
  for (const auto& [cell, count] : cells) together += pairs(count);
  for (const auto& [row, count] : rows) in_a += pairs(count);
  for (const auto& [column, count] : columns) in_b += pairs(count);
  const double all = pairs(static_cast<double>(a.size()));
  const double expected = all > 0 ? in_a * in_b / all : 0;
  const double most = (in_a + in_b) / 2;
  // Both put everything together, or everything apart: the index is 0/0, and they agree.
  if (most == expected) return 1;
  return (together - expected) / (most - expected);
}

}  // namespace tilewright
