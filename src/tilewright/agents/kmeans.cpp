#include "tilewright/agents/kmeans.hpp"

#include <algorithm>
#include <limits>

#include "tilewright/base/result.hpp"

namespace tilewright {
namespace {

double squared_distance(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return static_cast<double>(sum);
}

void append_centre(Cloud& centres, std::span<const float> point) {
  centres.values.insert(centres.values.end(), point.begin(), point.end());
}

// Each further centre is a point drawn by its squared distance to the nearest one so far.
Cloud first_centres(const Cloud& cloud, std::size_t count, Rng& rng) {
  Cloud centres{.width = cloud.width, .values = {}};
  append_centre(centres, cloud[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(cloud.size())))]);
  std::vector<double> nearest(cloud.size(), std::numeric_limits<double>::infinity());
  while (centres.size() < count) {
    double sum = 0;
    for (std::size_t i = 0; i < cloud.size(); ++i) {
      nearest[i] = std::min(nearest[i], squared_distance(cloud[i], centres[centres.size() - 1]));
      sum += nearest[i];
    }
    if (sum == 0) break;  // no other points are left
    double rest = rng.uniform() * sum;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < cloud.size(); ++i) {
      if (nearest[i] == 0) continue;
      chosen = i;
      rest -= nearest[i];
      if (rest < 0) break;
    }
    append_centre(centres, cloud[chosen]);
  }
  return centres;
}

// True when a point changed its cluster.
bool join_nearest(const Cloud& cloud, Partition& clusters) {
  bool changed = false;
  clusters.loss = 0;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < clusters.centres.size(); ++c) {
      const double distance = squared_distance(cloud[i], clusters.centres[c]);
      if (distance < least) best = c, least = distance;
    }
    changed |= clusters.cluster_of[i] != best;
    clusters.cluster_of[i] = best;
    clusters.loss += least;
  }
  return changed;
}

// A cluster that lost all its points keeps its centre.
void centre_again(const Cloud& cloud, Partition& clusters) {
  const std::size_t width = cloud.width;
  std::vector<double> sums(clusters.centres.values.size(), 0);
  std::vector<double> counts(clusters.centres.size(), 0);
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const std::size_t c = clusters.cluster_of[i];
    ++counts[c];
    for (std::size_t k = 0; k < width; ++k) sums[c * width + k] += static_cast<double>(cloud[i][k]);
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    for (std::size_t k = 0; k < width; ++k) {
      clusters.centres.values[c * width + k] = static_cast<float>(sums[c * width + k] / counts[c]);
    }
  }
}

}  // namespace

void append_place(const DesignSpace& space, PointView point, Cloud& cloud) {
  cloud.width = point.size();
  for (std::size_t p = 0; p < point.size(); ++p) {
    const std::int32_t last = std::max(space.parameters()[p].value_count - 1, 1);
    cloud.values.push_back(static_cast<float>(point[p]) / static_cast<float>(last));
  }
}

Partition k_means(const Cloud& cloud, std::size_t count, Rng& rng, std::size_t most_turns) {
  TW_ASSERT(cloud.size() > 0 && count > 0);
  Partition clusters{.centres = first_centres(cloud, std::min(count, cloud.size()), rng),
                     .cluster_of = std::vector<std::size_t>(cloud.size(), 0)};
  join_nearest(cloud, clusters);
  for (std::size_t turn = 0; turn < most_turns; ++turn) {
    centre_again(cloud, clusters);
    if (!join_nearest(cloud, clusters)) break;
  }
  return clusters;
}

std::vector<std::size_t> nearest_points(const Cloud& cloud, const Partition& clusters) {
  std::vector<std::size_t> result;
  std::vector<bool> taken(cloud.size(), false);
  for (std::size_t c = 0; c < clusters.centres.size(); ++c) {
    std::size_t best = cloud.size();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < cloud.size(); ++i) {
      if (taken[i]) continue;
      const double distance = squared_distance(cloud[i], clusters.centres[c]);
      if (distance < least) best = i, least = distance;
    }
    if (best == cloud.size()) break;
    taken[best] = true;
    result.push_back(best);
  }
  return result;
}

std::size_t knee(std::span<const double> counts, std::span<const double> losses) {
  TW_ASSERT(!counts.empty() && counts.size() == losses.size());
  const double width = counts.back() - counts.front(), height = losses.front() - losses.back();
  if (!(width > 0) || !(height > 0)) return 0;  // a flat curve: fewer are as good
  std::size_t best = 0;
  double most = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double below = 1 - (counts[i] - counts.front()) / width - (losses[i] - losses.back()) / height;
    if (below > most) best = i, most = below;
  }
  return best;
}

}  // namespace tilewright
