#include "tilewright/optimum/packed.hpp"

#include <algorithm>

#include "tilewright/optimum/choices.hpp"

namespace tilewright::optimum {

using hierarchy::Mapping;

Packed::Packed(const hierarchy::Problem& problem, std::size_t outermost, Inner inner)
    : dims_(problem.dims.size()),
      outermost_(outermost),
      blocks_(inner == Inner::Known ? outermost - 1 : std::min<std::size_t>(1, outermost - 1)) {
  for (const std::int64_t bound : problem.bounds) divisors_.push_back(divisors_of(bound));
}

void Packed::add(double least, const Mapping& mapping) {
  ranks_.emplace_back(least, static_cast<std::uint32_t>(ranks_.size()));
  const auto number = [&](std::size_t dim, std::int64_t factor) {
    numbers_.push_back(
        static_cast<std::uint16_t>(std::ranges::lower_bound(divisors_[dim], factor) - divisors_[dim].begin()));
  };
  for (std::size_t level = 0; level < outermost_; ++level) {
    for (std::size_t dim = 0; dim < dims_; ++dim) {
      number(dim, mapping.levels[level].spatial.factors[dim]);
      if (level >= blocks_) continue;
      number(dim, mapping.levels[level].temporal.factors[dim]);
      numbers_.push_back(mapping.levels[level].temporal.order[dim]);
    }
  }
}

void Packed::sort() { std::ranges::sort(ranks_); }

void Packed::set(std::size_t at, Mapping& mapping) const {
  const std::size_t width = dims_ * (outermost_ + 2 * blocks_);
  const std::uint16_t* next = numbers_.data() + ranks_[at].second * width;
  for (std::size_t level = 0; level < outermost_; ++level) {
    for (std::size_t dim = 0; dim < dims_; ++dim) {
      mapping.levels[level].spatial.factors[dim] = divisors_[dim][*next++];
      if (level >= blocks_) continue;
      mapping.levels[level].temporal.factors[dim] = divisors_[dim][*next++];
      mapping.levels[level].temporal.order[dim] = static_cast<std::uint8_t>(*next++);
    }
  }
}

}  // namespace tilewright::optimum
