// Bayesian optimisation: a Gaussian process of the score's logarithm, and the points of largest expected improvement.
//
// A point's features are its ordinal values on a logarithmic scale from 0 to 1 and its categories one-hot. Infeasible points
// count as bad as the worst that is told apart; values beyond the median are all the same, so that the process spends its
// resolution where it matters. Candidates are draws, and steps from and crossings of the best points; a batch is chosen one
// by one, believing the process' own mean of those already chosen. The process holds a bounded number of points: the best,
// the latest, and some of the others.
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct BayesianOptions {
  std::int64_t initial = 0;       // points drawn at first; 0 = by the budget: a twentieth of it, 20 to 100
  std::int64_t batch = 0;         // points per ask; 0 = by the budget: one per 500 samples, 4 to 16
  std::int64_t candidates = 300;  // points whose mean is looked at
  std::int64_t refined = 60;      // of those, the ones with the best mean, whose expected improvement is looked at
  std::int64_t points = 400;      // points in the process
  std::int64_t incumbents = 20;   // best points from which candidates are made
  double drawn = 0.1;             // share of candidates that are drawn anew
  double changes = 3.5;           // entries stepped in a candidate, on average
  std::int64_t fit_points = 150;  // points on which the kernel's parameters are fitted
  std::int64_t fit_steps = 15;    // steps of gradient ascent in a fit; each time the samples have grown by half
};
std::vector<Setting> settings_of(BayesianOptions& options);

Result<std::unique_ptr<PointSearcher>> make_bayesian(const DesignSpace& space, const BayesianOptions& options,
                                                     std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
