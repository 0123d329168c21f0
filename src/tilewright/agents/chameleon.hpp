// CHAMELEON (Ahn et al., ICLR 2020): one PPO agent explores on a surrogate what annealing explores in AutoTVM; what it
// visited is clustered, and one configuration per cluster is measured.
//
//   adaptive exploration  worlds walk with {decrement, stay, increment} per knob, rewarded with predicted performance
//   adaptive sampling     k-means over the best configurations visited, for growing k; the knee of the loss chooses k; the
//                         configurations nearest to the centres are measured
//   sample synthesis      those that were measured before are replaced by one with the most frequent value of each knob
//
// As in AutoTVM, infeasible configurations are measured, fail, and teach the surrogate a performance of 0.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tilewright/agents/dcoc_walk.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/search/boosted_trees.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct ChameleonOptions {
  std::int64_t batch = 64;         // most measurements per round; all of the first, which is random
  std::int64_t worlds = 128;       // episodes side by side
  std::int64_t steps = 500;        // most steps of them per round
  std::int64_t update_steps = 25;  // between two updates
  std::int64_t patience = 50;      // steps without a new one among the best configurations that end the exploration
  std::int64_t candidates = 512;   // best configurations visited that are clustered
  std::int64_t least_clusters = 8;
  std::int64_t cluster_step = 8;
  WalkLearning learning;
};
std::vector<Setting> settings_of(ChameleonOptions& options);

// Its story is that of the surrogate.
std::unique_ptr<PointSearcher> make_chameleon(const DesignSpace& space, const ChameleonOptions& options, std::uint64_t seed,
                                              ThreadPool& threads);

}  // namespace tilewright
