// How points are made from others: the draws, steps and crossings that the classical searchers share.
//
// A step changes one entry by what an index means: another category; a neighbour; a value some factor away; an equal share
// of the largest legal value (so that tiles come out even); an end of the range. What a change makes illegal further down is
// repaired to the nearest legal value, so every result is legal and canonical.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/search/seen_points.hpp"

namespace tilewright {

// Feasible before infeasible, then by score.
bool is_better(const Verdict& a, const Verdict& b);

// Natural logarithm of the score; later entries of a lexicographic one count a thousandth of the one before. Feasible only.
double log_score(const Verdict& verdict);

class Variation {
 public:
  explicit Variation(const DesignSpace& space);

  // Each parameter in order among its legal values: uniformly, or evenly on the logarithmic scale where there are many.
  Point draw(Rng& rng);
  Point draw_evenly(Rng& rng);  // always uniformly

  // `point` with about `changes` entries stepped, at least one.
  Point stepped(const Point& point, double changes, Rng& rng);

  // Each entry from either parent with the same chance.
  Point crossed_by_parameter(const Point& a, const Point& b, Rng& rng);
  // Each group of parameters (of one role at one level) from either parent.
  Point crossed_by_group(const Point& a, const Point& b, Rng& rng);

  // Parameters with more than one value.
  const std::vector<std::size_t>& free_parameters() const { return free_; }
  // The parameter of the same name one level further out: "tile.K@0" of "tile.K@1".
  std::optional<std::size_t> outer(std::size_t parameter) const { return outer_[parameter]; }

 private:
  void mark(double changes, Rng& rng);
  std::size_t companion(std::size_t parameter, Rng& rng) const;  // any of its group, itself included
  // One of choices_, those of `parameter`.
  std::int32_t step(PointView point, std::size_t parameter, Rng& rng) const;
  std::int32_t scaled(std::int32_t index, double factor) const;
  std::int32_t share(PointView point, std::size_t parameter, Rng& rng) const;

  const DesignSpace& space_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> group_of_;              // of each parameter
  std::vector<std::vector<std::size_t>> members_;  // of each group, free ones only
  std::vector<std::optional<std::size_t>> outer_;  // of each parameter
  Choices choices_;
  std::vector<double> marks_;  // what stepped() does to each parameter: nothing, a step, or else multiply by this
};

}  // namespace tilewright
