// Insides by the thousand: factors, as numbers of divisors, and orders of their blocks in a row. Where the blocks in time
// are not told apart, only the first of them is kept.
#pragma once

#include <vector>

#include "tilewright/optimum/inside.hpp"

namespace tilewright::optimum {

class Packed {
 public:
  Packed(const hierarchy::Problem& problem, std::size_t outermost, Inner inner);

  void add(double least, const hierarchy::Mapping& mapping);
  void sort();  // by rising `least`, equal ones as they came
  std::size_t size() const { return ranks_.size(); }
  double least(std::size_t at) const { return ranks_[at].first; }
  // Puts the blocks of one inside into a mapping; those of the two outermost levels stay.
  void set(std::size_t at, hierarchy::Mapping& mapping) const;

 private:
  std::size_t dims_, outermost_, blocks_;
  std::vector<std::vector<std::int64_t>> divisors_;
  std::vector<std::pair<double, std::uint32_t>> ranks_;
  std::vector<std::uint16_t> numbers_;
};

}  // namespace tilewright::optimum
