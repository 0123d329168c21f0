// k-means, and how many clusters are enough: CHAMELEON measures one configuration per cluster of those it visited.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

// Points of equal width, one after the other.
struct Cloud {
  std::size_t width = 0;
  std::vector<float> values;
  std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> operator[](std::size_t i) const { return {values.data() + i * width, width}; }
};

// A point of a design space: each entry over its largest.
void append_place(const DesignSpace& space, PointView point, Cloud& cloud);

struct Partition {
  Cloud centres;
  std::vector<std::size_t> cluster_of;  // of each point
  double loss = 0;                      // sum of squared distances to the own centre
};

// Lloyd's iteration from centres chosen as k-means++ does, at most `most_turns` times; no more clusters than points.
Partition k_means(const Cloud& cloud, std::size_t count, Rng& rng, std::size_t most_turns = 25);

// For each centre the point nearest to it, each point once, in order of the clusters.
std::vector<std::size_t> nearest_points(const Cloud& cloud, const Partition& clusters);

// Where a falling curve bends most: the index farthest below the straight line from its first to its last point.
std::size_t knee(std::span<const double> counts, std::span<const double> losses);

}  // namespace tilewright
