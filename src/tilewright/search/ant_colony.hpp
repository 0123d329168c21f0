// Ant colony optimisation: ants walk the parameters in order and take, at each, a legal bucket of values with a chance in
// proportion to its pheromone, or, with the chance `greediness`, the bucket with most of it.
//
// Large ordinal parameters have buckets that grow with the value (`per_octave` to a factor of two), all others one bucket
// per value. After each round pheromone t becomes (1 - evaporation) t + evaporation d, where d is what the best ants so far
// deposit, each in inverse proportion to its rank and 1 in total, so that t stays between 0 and 1 (the hyper-cube
// framework); it is kept above `least` of an even share. The starting point is ArchGym's use of DeepSwarm (greediness and
// evaporation 0.25).
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct AntColonyOptions {
  std::int64_t ants = 16;      // points per ask
  double greediness = 0.1;     // chance of an ant to take the strongest bucket without a draw
  double evaporation = 0.2;    // share of the pheromone that is replaced in a round
  std::int64_t elite = 15;     // best ants so far that deposit
  double least = 0.1;          // pheromone of a bucket never falls below this part of an even share
  double per_octave = 2;       // buckets to a factor of two
  double recall = 0.9;         // chance to take, within a bucket, the value of the best ant that was there
  std::int64_t patience = 30;  // rounds without a better best after which a new colony starts with even trails
  double local = 0.4;          // share of ants that step from an elite ant instead of walking (the daemon's local search)
};
std::vector<Setting> settings_of(AntColonyOptions& options);

Result<std::unique_ptr<PointSearcher>> make_ant_colony(const DesignSpace& space, const AntColonyOptions& options,
                                                       std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
