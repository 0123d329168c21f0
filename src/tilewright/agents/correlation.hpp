// How strongly parameters depend on each other where it matters for the objective.
//
// Dependence is measured within problems and pooled over them: an agent knows which problem it decides about, so that layers
// that like different tiles must not look like tiles that depend on each other. With covariance-like sums c_p of problem p
// and W_p the weight of its samples,
//
//   pearson             | Σ W_p cov_p(a,b) | / sqrt( Σ W_p var_p(a) · Σ W_p var_p(b) )
//   spearman            the same of ranks within the problem
//   distance            sqrt of the same ratio of distance covariances; categories are 0 or 1 apart
//   mutual-information  Σ W_p (I_p(a,b) - E_p) / Σ W_p (min(H_p(a), H_p(b)) - E_p); ordinal values in bins of equal weight
//
// The last two are positive for independent columns of few samples, so what chance gives is taken off: for distance
// (Σ w²) μ(a) μ(b) with μ the mean distance, for mutual information E = (Σ w²)(K_a - 1)(K_b - 1)/2 with K values in use,
// both to first order in Σ w² = 1 / (effective number of samples).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/agents/exploration.hpp"
#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"

namespace tilewright {

enum class Dependence { Pearson, Spearman, Distance, MutualInformation };
const std::vector<Dependence>& all_dependences();
template <>
struct Names<Dependence> {
  static constexpr std::string_view kWhat = "correlation";
  static constexpr NameTable<Dependence, 4> kTable = {{{Dependence::Pearson, "pearson"},
                                                       {Dependence::Spearman, "spearman"},
                                                       {Dependence::Distance, "distance"},
                                                       {Dependence::MutualInformation, "mutual-information"}}};
};
constexpr std::string_view name_of(Dependence dependence) { return name(dependence); }

struct CorrelationOptions {
  Dependence dependence = Dependence::Pearson;
  double quantile = 0.1;  // the best share of each problem's samples; 1 = all samples, weighted by their goodness
  // Parameters depend on each other in all samples, good or bad, where the space ties them together: an inner tile is never
  // larger than the outer one, priorities of a loop order exclude each other. With `contrast` that is taken off, and the
  // correlation is how far the chosen samples' differs from that of all samples alike: what the objective adds.
  bool contrast = false;
};

// Symmetric, 0 … 1 (absolute values), 1 on the diagonal; parameters × parameters of the table. Categorical-safe measures
// treat categories as such; pearson and spearman take their indices as numbers, as the paper does. Parameters that never
// change, or that no problem has both of, are at 0.
struct CorrelationMatrix {
  std::vector<std::string> names;
  std::vector<double> values;
  double operator()(std::size_t a, std::size_t b) const { return values[a * names.size() + b]; }
};

// Infeasible samples count towards the share but are never taken. `weights` says how often each row counts (a bootstrap
// resample, one problem alone); empty = once each.
CorrelationMatrix correlate(const ExplorationTable& table, const CorrelationOptions& options,
                            std::span<const double> weights = {});

}  // namespace tilewright
