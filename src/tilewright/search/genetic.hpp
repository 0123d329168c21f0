// A genetic algorithm with a rolling population: each batch of children competes with its parents for their places.
//
// Parents are chosen by tournament; children are crossed by parameter or by group (role and level), stepped by Variation,
// and never a point that was proposed before. A child whose score a member has already takes its place, so that points that
// differ in nothing that matters do not fill the population and still drift. When the population's best has not improved
// for long, a new population is drawn and starts from scratch.
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct GeneticOptions {
  std::int64_t population = 0;  // members; 0 = by the budget: its square root, 20 to 60
  std::int64_t initial = 0;     // drawn before the first children; 0 = twice the population
  std::int64_t batch = 8;       // children per ask
  std::int64_t tournament = 3;  // members from which each parent is the best
  double crossover = 0.6;       // share of children with two parents
  double by_group = 0.5;        // share of those that are crossed by group instead of by parameter
  double changes = 3;           // entries stepped in a child, on average
  double patience = 12;         // populations of children without a better best after which to draw a new population
};
std::vector<Setting> settings_of(GeneticOptions& options);

Result<std::unique_ptr<PointSearcher>> make_genetic(const DesignSpace& space, const GeneticOptions& options,
                                                    std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
