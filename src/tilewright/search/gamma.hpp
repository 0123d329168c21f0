// GAMMA, the genetic algorithm for mappings of Kao and Krishna (ICCAD 2020), as its program searches.
//
// A genome has one segment per cluster level: the dimension spread over the array, the units of a cluster, and the six loops
// in their order, each with its tile. The next generation is the elite, unchanged, and a child for each different
// individual: copies of two of the best exchange the tiles of one dimension on all levels, then loops swap places, genes are
// redrawn, and inner tiles are clipped to outer ones. Everybody is evaluated, the elite again too. A generation without a
// single valid individual is followed by a new start.
//
// In a space with Tiles::Gamma and gamma_rules this is the program with its default constraint (whole kernels). In other
// spaces genes are drawn from the tiles the space has, what it calls illegal becomes the nearest legal value, and as in the
// program without a constraint, spread dimensions are swapped and levels come and go. Differences there: with three levels
// the program redraws a middle tile below its own size, so that it can only shrink; here it is below the tile of the level
// above. A dimension of a single index is not spread where the space cannot say it (the program's depthwise layers spread C
// when they say K, and so they do here). Where tiles are divisors and the number of processing elements is searched, it is
// drawn as elsewhere and rounded.
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct GammaOptions {
  std::int64_t population = 0;  // 0 = the root of the samples, from 20 (the program's example) to 100 (its default)
  double parents = 0.40;        // best share of the population that has children
  double elite = 0.05;          // best share that is kept unchanged, and evaluated and charged again
  double crossover = 0.57;      // probability that two children exchange the tiles of a dimension
  double reorder = 0.47;        // swaps of two loops, per individual
  std::int64_t redraws = 3;     // times a gene of an individual may be redrawn
  double redraw = 0.53;         // probability of each
  double swap_parallel = 0.10;  // probability that the outer two levels swap their spread dimensions; unconstrained only
  double growth = 0.57;         // levels added, per individual; unconstrained only
  double aging = 0.27;          // levels removed, per individual; unconstrained only
  double redraw_pes = 0.50;     // probability of another number of processing elements, where it is searched
  std::int64_t units = 2;       // individuals of a new population whose tiles are all 1
  bool spread_kernel = false;   // kernel rows and columns may be spread
};
std::vector<Setting> settings_of(GammaOptions& options);

// An Error when `space` is no MappingSpace.
Result<std::unique_ptr<PointSearcher>> make_gamma(const DesignSpace& space, const GammaOptions& options,
                                                  std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
