// Simulated annealing: a few chains side by side, each stepping from its point to a neighbour and accepting a worse one with
// probability exp(-d/T), where d is the difference of the logarithms of the scores. So T is a ratio: 0.1 accepts 10 % worse
// about every third time, whatever the objective. T falls geometrically over the whole budget.
//
// An infeasible neighbour is only accepted by a chain that has not yet seen a feasible point. At evenly spaced moments the
// chain with the worst point goes on from the best of all.
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct AnnealingOptions {
  std::int64_t chains = 0;  // 0 = by the budget: one per 250 samples, 2 to 8
  double initial = 0.05;    // share of the budget that is drawn at random; the chains start at the best of it
  double hottest = 0.3;     // T at the start, in units of the score's logarithm
  double coldest = 0.01;    // T at the end of the budget
  double changes = 2.5;     // entries stepped in a neighbour, on average
  double restarts = 5;      // how often, over the whole budget, the worst chain goes on from the best point
};
std::vector<Setting> settings_of(AnnealingOptions& options);

Result<std::unique_ptr<PointSearcher>> make_annealing(const DesignSpace& space, const AnnealingOptions& options,
                                                      std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
