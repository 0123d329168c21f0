// AutoTVM: boosted trees learn what was measured, simulated annealing on the trees finds what to measure next.
//
// A plan is the best points that annealing met and that were never measured, the last of them replaced by random ones. Until
// a whole plan of results is there, everything is random. Failed measurements count as a throughput of 0. No point is
// proposed twice.
#pragma once

#include "tilewright/search/boosted_trees.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct AutotvmOptions {
  std::int64_t plan = 64;       // points per plan; the trees are fitted again when so many new results are there
  double drawn = 0.05;          // share of a plan that is random
  std::int64_t chains = 128;    // annealing chains; they go on from plan to plan
  std::int64_t steps = 500;     // of each chain per plan, at most
  double hottest = 1;           // temperature of the first step, in units of the best throughput; falls linearly
  double coldest = 0;           // of the last
  std::int64_t patience = 50;   // annealing ends when the best points have not changed for so many steps
  BoostedTreesOptions trees{};  // recall_size is set by `plan`
};
std::vector<Setting> settings_of(AutotvmOptions& options);

Result<std::unique_ptr<PointSearcher>> make_autotvm(const DesignSpace& space, const AutotvmOptions& options,
                                                    std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
