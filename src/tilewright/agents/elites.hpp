// The best points of one problem, with room for different kinds: points that agree in all categorical parameters are of one
// kind, and only a few of each are kept, so that one good region does not push out all others.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

struct Elite {
  Point point;
  double score = 0;  // logarithm of the objective
  std::uint64_t kind = 0;
};

class Elites {
 public:
  Elites(const DesignSpace& space, std::size_t most, std::size_t most_of_kind)
      : space_(&space), most_(most), most_of_kind_(most_of_kind) {}

  void add(const Point& point, double score);

  void clear() { elites_.clear(); }
  bool empty() const { return elites_.empty(); }
  const std::vector<Elite>& all() const { return elites_; }  // best first; of equal ones the first added

  // The best, or with the chance `decay` each time one further down. There must be one.
  const Elite& draw(double decay, Rng& rng) const;

 private:
  const DesignSpace* space_;
  std::size_t most_, most_of_kind_;
  std::vector<Elite> elites_;
};

}  // namespace tilewright
