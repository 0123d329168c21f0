// Confidence Sampling (DCOC): which of the configurations the agents visited are worth a measurement. Each step is a
// function of its own; `confidence_sample` is all of them in order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

// 2. Softmax of the critic's values; a temperature of 0 is their standard deviation.
std::vector<double> confidence(std::span<const double> values, double temperature);

// 3. `count` different indices, drawn one after the other with these probabilities (renormalised); fewer when there are
// fewer.
std::vector<std::size_t> draw_without_replacement(std::span<const double> probabilities, std::size_t count, Rng& rng);

// 4. The median of the drawn ones' values.
double dynamic_threshold(std::span<const double> values, std::span<const std::size_t> drawn);

// 5. Those of them whose value is not below the threshold, in order.
std::vector<std::size_t> confident(std::span<const double> values, std::span<const std::size_t> drawn, double threshold);

// 6. A configuration whose every entry is the most frequent one among the kept; where that one is taken or illegal, random
// entries become the second most frequent, and so on. Empty when nothing new comes of it.
Point synthesise(const DesignSpace& space, std::span<const Point> kept, const std::function<bool(const Point&)>& is_new,
                 Rng& rng);

// Steps 2 to 7: at most `count` new points.
std::vector<Point> confidence_sample(const DesignSpace& space, std::span<const Point> candidates,
                                     std::span<const double> values, std::size_t count, double temperature,
                                     const std::function<bool(const Point&)>& is_new, Rng& rng);

}  // namespace tilewright
